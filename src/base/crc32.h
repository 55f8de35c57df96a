/* CRC-32 as zlib and Ethernet compute it: polynomial 04C11DB7h, reflected, start and end inverted. */
#ifndef BARETICK_CRC32_H
#define BARETICK_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of the bytes that gave CRC (0: no bytes yet) followed by LENGTH BYTES. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t length);

#endif
