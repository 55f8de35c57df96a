/* Random numbers by xorshift64 (Marsaglia, Xorshift RNGs, 2003). The same seed gives the same numbers. */
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
