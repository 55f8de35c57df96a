/* Unpacks with inflate_put() the output of deflate_bytes() and of zlib, whole and damaged. */
#include <zlib.h>

#include "test.h"
#include "base/deflate.h"
#include "base/inflate.h"
#include "random.h"

#define SIZE 70000u

static uint8_t packed[2 * SIZE];
static size_t packed_length;
static char bytes[SIZE], unpacked[SIZE + 1];

static void
put(void *sink, uint8_t byte)
{
	assert_true(packed_length < sizeof(packed));
	packed[packed_length++] = byte;
}

static void
pack_with_zlib(size_t length)
{
	z_stream zip = {
		.next_in = (uint8_t *)bytes, .avail_in = (unsigned)length,
		.next_out = packed, .avail_out = sizeof(packed),
	};

	assert_int_equal(deflateInit2(&zip, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_FIXED), Z_OK);
	assert_int_equal(deflate(&zip, Z_FINISH), Z_STREAM_END);
	packed_length = zip.total_out;
	deflateEnd(&zip);
}

/* Unpacks the first LENGTH packed bytes into a text of SIZE_OF_TEXT bytes, in memory of exactly these sizes. */
static bool
unpack(struct text *text, size_t length, size_t size_of_text)
{
	uint8_t *exact = malloc(length ? length : 1);

	memcpy(exact, packed, length);
	text_init(text, unpacked, size_of_text);
	bool whole = inflate_put(text, exact, length);

	free(exact);
	return whole;
}

static void
check_unpacked(size_t length)
{
	struct text text;

	assert_true(unpack(&text, packed_length, sizeof(unpacked)));
	assert_int_equal(text.length, length);
	assert_memory_equal(unpacked, bytes, length);
}

/* Fills LENGTH bytes: runs and repetitions of earlier bytes at any distance, between bytes of all values. */
static void
fill(size_t length, uint64_t seed)
{
	for (size_t at = 0; at < length;) {
		size_t run = 1 + random_next(&seed) % 300, from = at ? random_next(&seed) % at : 0;

		for (size_t i = 0; i < run && at < length; i++, at++)
			bytes[at] = at && seed % 3 ? bytes[from + i] : (char)random_next(&seed);
	}
}

TEST(what_either_packer_makes_is_unpacked_unchanged)
{
	static struct deflate_work work;
	static const size_t lengths[] = { 0, 1, 2, 3, 257, 258, 259, 1000, SIZE };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fill(lengths[i], i + 1);
		pack_with_zlib(lengths[i]);
		check_unpacked(lengths[i]);
		packed_length = 0;
		deflate_bytes(&work, bytes, lengths[i], put, NULL);
		check_unpacked(lengths[i]);
	}
}

TEST(text_that_is_there_already_stays_and_is_not_repeated)
{
	struct text text = text_start(unpacked, sizeof(unpacked));
	text_put(&text, "before ");
	memcpy(bytes, "abcabcabc", 9);
	pack_with_zlib(9);
	assert_true(inflate_put(&text, packed, packed_length));
	assert_string_equal(unpacked, "before abcabcabc");
	/* the code of length 3, and then of distance 1, at the start of a block, where nothing can be repeated yet */
	text_init(&text, unpacked, sizeof(unpacked));
	text_put(&text, "before ");
	assert_false(inflate_put(&text, (uint8_t[]){ 0x03, 0x02, 0x00, 0x00 }, 4));
	assert_string_equal(unpacked, "before ");
}

TEST(a_packed_text_that_is_cut_is_unpacked_up_to_there)
{
	struct text text;

	fill(1000, 1);
	pack_with_zlib(1000);
	for (size_t length = 0; length < packed_length; length++) {
		assert_false(unpack(&text, length, sizeof(unpacked)));
		/* after the end come zeros, so the last symbol may be a wrong one */
		assert_true(text.length <= 1000 + 258);
	}
}

TEST(a_text_without_room_is_truncated)
{
	struct text text;

	fill(1000, 2);
	pack_with_zlib(1000);
	for (size_t size = 1; size <= 1000; size++) {
		assert_false(unpack(&text, packed_length, size));
		assert_true(text.truncated);
		assert_int_equal(text.length, size - 1);
		assert_memory_equal(unpacked, bytes, size - 1);
	}
	assert_true(unpack(&text, packed_length, 1001));
}

/* Changed bits may give other text, but no access outside of the two buffers, which the sanitizers watch. */
TEST(damaged_bytes_end)
{
	struct text text;
	uint64_t seed = 1;

	fill(2000, 3);
	for (unsigned i = 0; i < 2000; i++) {
		pack_with_zlib(2000);
		for (unsigned changes = 1 + i % 3; changes; changes--)
			packed[random_next(&seed) % packed_length] ^= (uint8_t)(1 << random_next(&seed) % 8);
		unpack(&text, packed_length, sizeof(unpacked));
		assert_true(text.length < sizeof(unpacked));
	}
}

/* Bit 0 of the header says that the block is the last one, and bits 1 and 2 are its kind. */
TEST(other_kinds_of_blocks_are_refused)
{
	struct text text;

	fill(1000, 4);
	pack_with_zlib(1000);
	assert_int_equal(packed[0] & 7, 3);
	for (unsigned header = 0; header < 8; header++) {
		packed[0] = (uint8_t)((packed[0] & ~7u) | header);
		assert_int_equal(unpack(&text, packed_length, sizeof(unpacked)), header == 3);
		assert_int_equal(text.length, header == 3 ? 1000 : 0);
	}
}
