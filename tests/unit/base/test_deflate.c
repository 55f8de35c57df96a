/* Unpacks the output of deflate_bytes() with zlib. */
#include <zlib.h>

#include "test.h"
#include "base/deflate.h"
#include "random.h"

#define SIZE_MAX_BYTES ((size_t)1 << 18)

static struct deflate_work work;
static uint8_t packed[2 * SIZE_MAX_BYTES], unpacked[SIZE_MAX_BYTES + 1];
static size_t packed_length;
static char bytes[SIZE_MAX_BYTES];

static void
put(void *sink, uint8_t byte)
{
	assert_true(packed_length < sizeof(packed));
	packed[packed_length++] = byte;
}

/* Packs and unpacks the first LENGTH bytes. Returns their packed length. */
static size_t
there_and_back(size_t length)
{
	z_stream zip = {
		.next_in = packed, .next_out = unpacked, .avail_out = sizeof(unpacked),
	};

	packed_length = 0;
	memset(&work, 0xa5, sizeof(work)); /* old contents of the work memory must not change the result */
	deflate_bytes(&work, bytes, length, put, NULL);
	zip.avail_in = (unsigned)packed_length;
	assert_int_equal(inflateInit2(&zip, -MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	assert_int_equal(zip.avail_in, 0);
	assert_int_equal(zip.total_out, length);
	assert_memory_equal(unpacked, bytes, length);
	inflateEnd(&zip);
	return packed_length;
}

static void
fill(size_t begin, size_t end, unsigned kinds, uint64_t seed)
{
	for (size_t i = begin; i < end; i++)
		bytes[i] = (char)(random_next(&seed) % kinds);
}

TEST(texts_of_0_to_600_bytes_are_unpacked_unchanged)
{
	for (size_t length = 0; length <= 600; length++) {
		fill(0, length, 3, length + 1);
		there_and_back(length);
	}
}

TEST(a_repeated_byte_takes_three_bits_for_each_258)
{
	memset(bytes, 'x', sizeof(bytes));
	assert_true(there_and_back(258 * 100) < 258);
	fill(0, sizeof(bytes), 256, 1);
	assert_true(there_and_back(sizeof(bytes)) < sizeof(bytes) * 17 / 16);
}

/* A repetition is used only if its distance is below 32,768. */
TEST(a_repetition_is_found_within_the_window_only)
{
	for (size_t distance = DEFLATE_WINDOW - 2; distance <= DEFLATE_WINDOW + 2; distance++) {
		fill(0, distance, 256, 1);
		memcpy(bytes + distance, bytes, 1000);
		assert_true((there_and_back(distance + 1000) < distance * 17 / 16) == (distance < DEFLATE_WINDOW));
	}
}

TEST(words_repeated_at_many_distances_are_unpacked_unchanged)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		fill(0, 50, 256, seed);
		for (size_t at = 50; at + 40 < SIZE_MAX_BYTES / 2; at += 40)
			memcpy(bytes + at, bytes + random_next(&seed) % (at - 40), 40);
		there_and_back(SIZE_MAX_BYTES / 2);
	}
}
