/* Calculates SHA-256 (FIPS 180-4) of a stream of bytes. */
#ifndef BARETICK_SHA256_H
#define BARETICK_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_DIGEST_SIZE 32
#define SHA256_HEX_SIZE    (2 * SHA256_DIGEST_SIZE + 1) /* 64 digits and the final 0 */
#define SHA256_BLOCK_SIZE  64

struct sha256 {
	uint32_t state[8];
	uint64_t length; /* number of bytes so far, below 2^61 */
	uint8_t block[SHA256_BLOCK_SIZE]; /* the last (length % 64) bytes, which are not yet hashed */
};

void sha256_init(struct sha256 *sha256);
void sha256_update(struct sha256 *sha256, const void *bytes, size_t length);
/* Stores the hash in DIGEST. Call it once at the end; afterwards only sha256_init() may be called. */
void sha256_final(struct sha256 *sha256, uint8_t digest[SHA256_DIGEST_SIZE]);

/* Writes the digest of LENGTH BYTES as 64 lower-case hexadecimal digits and a final 0. */
void sha256_hex(const void *bytes, size_t length, char hex[SHA256_HEX_SIZE]);

#endif
