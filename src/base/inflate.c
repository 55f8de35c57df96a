/* Unpacks one block of RFC 1951 with fixed Huffman codes. See inflate.h. Section numbers are from this RFC. */
#include "base/inflate.h"

#include "base/deflate_codes.h"

#define DISTANCE_CODES 30u

struct input {
	const uint8_t *bytes;
	size_t length;
	size_t at; /* number of bits that were read; bit 0 of each byte is the first */
};

/* Returns the next bit, or 0 after the end. */
static uint32_t
get_bit(struct input *input)
{
	size_t at = input->at++;

	return at / 8 < input->length ? input->bytes[at / 8] >> at % 8 & 1 : 0;
}

/* Returns a number of COUNT bits, whose lowest bit comes first (3.1.1). */
static uint32_t
get_bits(struct input *input, unsigned count)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < count; i++)
		bits |= get_bit(input) << i;
	return bits;
}

/* Returns a Huffman code that begins with CODE and has COUNT more bits. Its highest bit comes first (3.1.1). */
static uint32_t
get_code(struct input *input, uint32_t code, unsigned count)
{
	while (count--)
		code = code << 1 | get_bit(input);
	return code;
}

/* Returns the next symbol: a byte, the end of the block, or a code for a length (3.2.6). */
static uint32_t
get_symbol(struct input *input)
{
	uint32_t code = get_code(input, 0, 7);

	if (code < 0x18)
		return END_OF_BLOCK + code;
	code = get_code(input, code, 1);
	if (code < 0xc0)
		return code - 0x30;
	if (code < 0xc8)
		return code - 0xc0 + 280;
	return get_code(input, code, 1) - 0x190 + 144;
}

/*
 * Returns how far a length or distance is above its minimum (3.2.5). The first 2 * GROUP values have a code each. After
 * them, GROUP codes have one extra bit, the next GROUP codes have two, and so on.
 */
static size_t
get_excess(struct input *input, uint32_t code, uint32_t group)
{
	if (code < 2 * group)
		return code;
	unsigned extra = code / group - 1;

	return ((group + code % group) << extra) + get_bits(input, extra);
}

/* Adds the repetition whose length has the code SYMBOL. Returns false if OUT is shorter than the distance. */
static bool
put_repetition(struct text *out, size_t begin, struct input *input, uint32_t symbol)
{
	size_t length = symbol == LENGTH_MAX_CODE ? MATCH_MAX : MATCH_MIN + get_excess(input, symbol - LENGTH_CODES, 4);
	uint32_t code = get_code(input, 0, DISTANCE_BITS);
	size_t distance = 1 + get_excess(input, code, 2);

	if (symbol > LENGTH_MAX_CODE || code >= DISTANCE_CODES || distance > out->length - begin)
		return false;
	while (length-- && !out->truncated)
		text_put_char(out, out->bytes[out->length - distance]);
	return true;
}

bool
inflate_put(struct text *out, const uint8_t *packed, size_t length)
{
	struct input input = { packed, length, 0 };
	size_t begin = out->length;

	if (get_bits(&input, FINAL_FIXED_BITS) != FINAL_FIXED)
		return false;
	while (!out->truncated && input.at < 8 * length) {
		uint32_t symbol = get_symbol(&input);

		if (symbol == END_OF_BLOCK)
			return input.at <= 8 * length;
		if (symbol < END_OF_BLOCK)
			text_put_char(out, (char)symbol);
		else if (!put_repetition(out, begin, &input, symbol))
			return false;
	}
	return false;
}
