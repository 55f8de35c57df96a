/* Random numbers, which are the same for the same seed: xorshift64 (Marsaglia, 2003). */
#ifndef BARETICK_TEST_RANDOM_H
#define BARETICK_TEST_RANDOM_H

#include <stdint.h>

/* Returns the next number, and stores it in SEED, which must not be 0. */
static inline uint64_t
random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#endif
