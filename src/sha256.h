/* SHA-256 (FIPS 180-4), so that whoever reads a report from a serial line can tell that all of it came. */
#ifndef BARETICK_SHA256_H
#define BARETICK_SHA256_H

#include <stddef.h>

#define SHA256_HEX_SIZE 65 /* 64 digits and the final 0 */

/* The digest of LENGTH bytes, in lower-case hexadecimal. */
void sha256_hex(const void *bytes, size_t length, char hex[SHA256_HEX_SIZE]);

#endif
