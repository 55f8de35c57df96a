/* Computes CRC-32. See crc32.h. */
#include "base/crc32.h"

#define POLYNOMIAL UINT32_C(0xedb88320)

/* No table is used: a record has only a few hundred KB, and a table would add 1 KB to every image. */
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
