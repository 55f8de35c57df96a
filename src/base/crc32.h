/* CRC-32 as in zlib and Ethernet: polynomial 04C11DB7h, bits reflected, initial and final value inverted. */
#ifndef BARETICK_CRC32_H
#define BARETICK_CRC32_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the CRC of earlier bytes followed by LENGTH BYTES. CRC is the result for the earlier bytes, or 0 if there
 * are none.
 */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t length);

#endif
