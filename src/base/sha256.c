/* SHA-256 as in FIPS 180-4. Short names are from its section 6.2.2. */
#include "base/sha256.h"

#define ROUNDS      64
#define LENGTH_SIZE 8 /* FIPS 180-4, 5.1.1: size in bytes of the message's length, which ends the last block */

/* FIPS 180-4, 5.3.3: fractional parts of the square roots of the first 8 primes. */
static const uint32_t initial_state[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[ROUNDS] = {
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
rotate_right(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

/* FIPS 180-4, 4.1.2, equations 4.4 to 4.7 */
static uint32_t
big_sigma_0(uint32_t x)
{
	return rotate_right(x, 2) ^ rotate_right(x, 13) ^ rotate_right(x, 22);
}

static uint32_t
big_sigma_1(uint32_t x)
{
	return rotate_right(x, 6) ^ rotate_right(x, 11) ^ rotate_right(x, 25);
}

static uint32_t
small_sigma_0(uint32_t x)
{
	return rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3;
}

static uint32_t
small_sigma_1(uint32_t x)
{
	return rotate_right(x, 17) ^ rotate_right(x, 19) ^ x >> 10;
}

static uint32_t
big_endian_32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void
expand_schedule(const uint8_t *block, uint32_t schedule[ROUNDS])
{
	for (size_t t = 0; t < 16; t++)
		schedule[t] = big_endian_32(block + 4 * t);
	for (size_t t = 16; t < ROUNDS; t++)
		schedule[t] = small_sigma_1(schedule[t - 2]) + schedule[t - 7] +
			      small_sigma_0(schedule[t - 15]) + schedule[t - 16];
}

static void
compress_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t schedule[ROUNDS];
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

	expand_schedule(block, schedule);
	for (size_t t = 0; t < ROUNDS; t++) {
		uint32_t choice = (e & f) ^ (~e & g);
		uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
		uint32_t t1 = h + big_sigma_1(e) + choice + round_constants[t] + schedule[t];
		uint32_t t2 = big_sigma_0(a) + majority;

		h = g, g = f, f = e, e = d + t1;
		d = c, c = b, b = a, a = t1 + t2;
	}
	state[0] += a, state[1] += b, state[2] += c, state[3] += d;
	state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void
sha256_init(struct sha256 *sha256)
{
	sha256->length = 0;
	for (size_t i = 0; i < 8; i++)
		sha256->state[i] = initial_state[i];
}

static void
add_byte(struct sha256 *sha256, uint8_t byte)
{
	sha256->block[sha256->length++ % SHA256_BLOCK_SIZE] = byte;
	if (sha256->length % SHA256_BLOCK_SIZE == 0)
		compress_block(sha256->state, sha256->block);
}

void
sha256_update(struct sha256 *sha256, const void *bytes, size_t length)
{
	const uint8_t *next = bytes;

	for (size_t i = 0; i < length; i++)
		add_byte(sha256, next[i]);
}

void
sha256_final(struct sha256 *sha256, uint8_t digest[SHA256_DIGEST_SIZE])
{
	uint64_t bits = sha256->length * 8;

	add_byte(sha256, 0x80);
	while (sha256->length % SHA256_BLOCK_SIZE != SHA256_BLOCK_SIZE - LENGTH_SIZE)
		add_byte(sha256, 0);
	for (unsigned i = LENGTH_SIZE; i-- > 0;)
		add_byte(sha256, (uint8_t)(bits >> 8 * i));
	for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++)
		digest[i] = (uint8_t)(sha256->state[i / 4] >> (24 - 8 * (i % 4)));
}

void
sha256_hex(const void *bytes, size_t length, char hex[SHA256_HEX_SIZE])
{
	struct sha256 sha256;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&sha256);
	sha256_update(&sha256, bytes, length);
	sha256_final(&sha256, digest);
	for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
		hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 0xf];
	}
	hex[SHA256_HEX_SIZE - 1] = '\0';
}
