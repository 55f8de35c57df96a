/* CRC-32 as zlib and Ethernet compute it: polynomial 04C11DB7h, reflected, start and end inverted. */
#ifndef BARETICK_CRC32_H
#define BARETICK_CRC32_H

#include <stddef.h>
#include <stdint.h>

/*
 * Continues a CRC. CRC is the result for the previous bytes, or 0 at the start. Returns the CRC of these bytes followed
 * by LENGTH BYTES.
 */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t length);

#endif
