/* Encodes bytes in base64. See base64.h. */
#include "base/base64.h"

#include <stdint.h>

#define GROUP 3u /* number of bytes that 4 characters encode */
#define LINE  (19 * GROUP) /* number of bytes that a line of 76 characters encodes */

size_t
base64_encoded_size(size_t length)
{
	return (length + GROUP - 1) / GROUP * 4 + (length + LINE - 1) / LINE + 1;
}

/* Writes COUNT bytes (1 to 3) as 4 characters. */
static void
put_encoded_group(struct text *text, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;

	for (size_t i = 0; i < GROUP; i++)
		bits = bits << 8 | (i < count ? bytes[i] : 0u);
	for (size_t i = 0; i < 4; i++)
		text_put_char(text, i <= count ? digits[bits >> (18 - 6 * i) & 63] : '=');
}

void
base64_put(struct text *text, const void *bytes, size_t length)
{
	const uint8_t *next = bytes;

	for (size_t at = 0; at < length; at += GROUP) {
		size_t left = length - at;

		put_encoded_group(text, next + at, left < GROUP ? left : GROUP);
		if ((at + GROUP) % LINE == 0 || left <= GROUP)
			text_put_char(text, '\n');
	}
}
