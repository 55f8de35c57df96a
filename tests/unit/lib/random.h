/* Figures of a seed, the same each time: xorshift64 (Marsaglia, 2003). */
#ifndef BARETICK_TEST_RANDOM_H
#define BARETICK_TEST_RANDOM_H

#include <stdint.h>

/* SEED is not 0; the next one takes its place. */
static inline uint64_t
random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#endif
