/* Compresses as in RFC 1951. See deflate.h. Section numbers in comments are from this RFC. */
#include "base/deflate.h"

#include "base/deflate_codes.h"

/* maximum number of earlier positions that find_match() tries; more make the result less than 1 % smaller */
#define TRIES_MAX  64u
#define HASH_PRIME 2654435761u
#define HASH_SHIFT 19   /* shifts a 32-bit hash so that 13 bits are left, an index below DEFLATE_HASHES */

struct stream {
	void (*put)(void *sink, uint8_t byte);
	void *sink;
	uint32_t bits; /* bits that are not written yet; bit 0 is written first */
	unsigned count;
};

struct match {
	size_t length, distance;
};

static void
put_bits(struct stream *stream, uint32_t bits, unsigned count)
{
	stream->bits |= bits << stream->count;
	stream->count += count;
	while (stream->count >= 8) {
		stream->put(stream->sink, (uint8_t)stream->bits);
		stream->bits >>= 8;
		stream->count -= 8;
	}
}

/* Writes a Huffman code, whose highest bit is written first (RFC 1951, 3.1.1). */
static void
put_code(struct stream *stream, uint32_t code, unsigned count)
{
	uint32_t reversed = 0;

	for (unsigned i = 0; i < count; i++)
		reversed |= (code >> i & 1) << (count - 1 - i);
	put_bits(stream, reversed, count);
}

/* Writes a symbol (a byte, the end of the block, or a length) with its fixed Huffman code (RFC 1951, 3.2.6). */
static void
put_symbol(struct stream *stream, unsigned symbol)
{
	if (symbol < 144)
		put_code(stream, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(stream, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(stream, symbol - 256, 7);
	else
		put_code(stream, 0xc0 + symbol - 280, 8);
}

static unsigned
log2_floor(uint32_t value)
{
	return 31 - (unsigned)__builtin_clz(value);
}

/*
 * Writes the length of a repetition (RFC 1951, 3.2.5). From length 8 on, a code stands for a group of lengths, and
 * extra bits after the code select one of them. There are four codes for each number of extra bits.
 */
static void
put_length(struct stream *stream, uint32_t length)
{
	uint32_t above = length - MATCH_MIN;
	unsigned extra = above < 8 ? 0 : log2_floor(above) - 2;

	if (length == MATCH_MAX) {
		put_symbol(stream, LENGTH_MAX_CODE);
		return;
	}
	put_symbol(stream, extra ? LENGTH_CODES + 4 + 4 * extra + (above >> extra & 3) : LENGTH_CODES + above);
	put_bits(stream, above & ((1u << extra) - 1), extra);
}

/*
 * Writes the distance from a repetition to its earlier occurrence. Codes are formed as for lengths, but there are two
 * codes for each number of extra bits.
 */
static void
put_distance(struct stream *stream, uint32_t distance)
{
	uint32_t above = distance - 1;
	unsigned extra = above < 4 ? 0 : log2_floor(above) - 1;

	put_code(stream, extra ? 2 + 2 * extra + (above >> extra & 1) : above, DISTANCE_BITS);
	put_bits(stream, above & ((1u << extra) - 1), extra);
}

static uint32_t
hash_three_bytes(const char *bytes)
{
	uint32_t three = (uint8_t)bytes[0] | (uint32_t)(uint8_t)bytes[1] << 8 | (uint32_t)(uint8_t)bytes[2] << 16;

	return three * HASH_PRIME >> HASH_SHIFT;
}

static size_t
count_equal_bytes(const char *a, const char *b, size_t max)
{
	size_t count = 0;

	while (count < max && a[count] == b[count])
		count++;
	return count;
}

/* Finds the longest run of bytes at AT that also occurs earlier. Returns length 0 if there is no such run. */
static struct match
find_match(const struct deflate_work *work, const char *bytes, size_t length, size_t at)
{
	size_t max = length - at < MATCH_MAX ? length - at : MATCH_MAX;
	struct match best = { 0, 0 };

	if (max < MATCH_MIN)
		return best;
	uint32_t next = work->latest[hash_three_bytes(bytes + at)];

	for (unsigned tries = 0; tries < TRIES_MAX && next && at - (next - 1) <= DEFLATE_WINDOW - 1; tries++) {
		size_t place = next - 1, found = count_equal_bytes(bytes + place, bytes + at, max);

		if (found >= MATCH_MIN && found > best.length)
			best = (struct match){ found, at - place };
		next = work->earlier[place % DEFLATE_WINDOW];
	}
	return best;
}

/* Adds the positions from BEGIN to END - 1 to the hash chains, which find_match() searches. */
static void
add_to_hash_chains(struct deflate_work *work, const char *bytes, size_t length, size_t begin, size_t end)
{
	for (size_t at = begin; at < end && length - at >= MATCH_MIN; at++) {
		uint32_t *latest = &work->latest[hash_three_bytes(bytes + at)];

		work->earlier[at % DEFLATE_WINDOW] = *latest;
		*latest = (uint32_t)at + 1;
	}
}

/*
 * Writes the repetition that starts at AT. Writes only the byte at AT if no repetition starts there, or if a longer
 * repetition starts at AT + 1. Returns the number of bytes of the input that were written.
 */
static size_t
put_match_or_literal(struct stream *stream, struct deflate_work *work, const char *bytes, size_t length, size_t at)
{
	struct match match = find_match(work, bytes, length, at);

	add_to_hash_chains(work, bytes, length, at, at + 1);
	if (!match.length || (at + 1 < length && find_match(work, bytes, length, at + 1).length > match.length)) {
		put_symbol(stream, (uint8_t)bytes[at]);
		return 1;
	}
	put_length(stream, (uint32_t)match.length);
	put_distance(stream, (uint32_t)match.distance);
	add_to_hash_chains(work, bytes, length, at + 1, at + match.length);
	return match.length;
}

void
deflate_bytes(struct deflate_work *work, const char *bytes, size_t length, void (*put)(void *sink, uint8_t byte),
	      void *sink)
{
	struct stream stream = { .put = put, .sink = sink };

	__builtin_memset(work->latest, 0, sizeof(work->latest));
	put_bits(&stream, FINAL_FIXED, FINAL_FIXED_BITS);
	for (size_t at = 0; at < length;)
		at += put_match_or_literal(&stream, work, bytes, length, at);
	put_symbol(&stream, END_OF_BLOCK);
	if (stream.count)
		put_bits(&stream, 0, 8 - stream.count);
}
