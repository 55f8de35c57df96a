/* SHA-256 over one buffer. See sha256.h; names as in FIPS 180-4. */
#include "sha256.h"

#include <stdint.h>

#define BLOCK_SIZE 64u
#define ROUNDS     64u
#define LENGTH_SIZE 8u

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes */
static const uint32_t K[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* FIPS 180-4, 6.2.2 */
static void
add_block(uint32_t hash[8], const uint8_t block[BLOCK_SIZE])
{
	uint32_t w[ROUNDS], v[8];

	for (unsigned t = 0; t < 16; t++)
		w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
		       (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
	for (unsigned t = 16; t < ROUNDS; t++) {
		uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;

		w[t] = w[t - 16] + s0 + w[t - 7] + s1;
	}
	for (unsigned i = 0; i < 8; i++)
		v[i] = hash[i];
	for (unsigned t = 0; t < ROUNDS; t++) {
		uint32_t s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
		uint32_t s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
		uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[t] + w[t];
		uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		for (unsigned i = 7; i > 0; i--)
			v[i] = v[i - 1];
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		hash[i] += v[i];
}

void
sha256_hex(const void *bytes, size_t length, char hex[SHA256_HEX_SIZE])
{
	/* FIPS 180-4, 5.3.3 */
	uint32_t hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *at = bytes;
	uint8_t last[2 * BLOCK_SIZE] = { 0 };
	size_t rest = length % BLOCK_SIZE;
	size_t padded = rest + 1 + LENGTH_SIZE > BLOCK_SIZE ? 2 * BLOCK_SIZE : BLOCK_SIZE;

	for (size_t done = 0; done + BLOCK_SIZE <= length; done += BLOCK_SIZE)
		add_block(hash, at + done);
	for (size_t i = 0; i < rest; i++)
		last[i] = at[length - rest + i];
	last[rest] = 0x80; /* 5.1.1: a 1 bit, then the length in bits at the end */
	for (unsigned i = 0; i < LENGTH_SIZE; i++)
		last[padded - 1 - i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
	for (size_t done = 0; done < padded; done += BLOCK_SIZE)
		add_block(hash, last + done);
	for (unsigned i = 0; i < SHA256_HEX_SIZE - 1; i++)
		hex[i] = "0123456789abcdef"[hash[i / 8] >> (28 - i % 8 * 4) & 15];
	hex[SHA256_HEX_SIZE - 1] = '\0';
}
