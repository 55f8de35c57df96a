/* See crc32.h. */
#include "base/crc32.h"

#define POLYNOMIAL UINT32_C(0xedb88320)

/* Without a table: a record has a few hundred KB, and 1 KB of table would be in every image. */
uint32_t
crc32_add(uint32_t crc, const void *bytes, size_t length)
{
	const uint8_t *next = bytes;

	crc = ~crc;
	for (size_t i = 0; i < length; i++) {
		crc ^= next[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return ~crc;
}
