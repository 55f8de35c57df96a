/*
 * Converts TSC ticks to nanoseconds, and calculates exact fractions, without floating point. scale_ns() needs no
 * division, so that measuring loops can use it.
 */
#ifndef BARETICK_SCALE_H
#define BARETICK_SCALE_H

#include <stdint.h>

/* A rate in ticks per second, as a fraction. If den is 0, the rate is unknown. */
struct rate {
	uint64_t num;
	uint64_t den;
};

struct scale {
	struct rate hz;      /* rate of the TSC; den is never 0 */
	uint64_t multiplier; /* nanoseconds per tick, multiplied by 2^32 and rounded to nearest */
	/*
	 * MULTIPLIER for the bounds of the rate: LEAST for the highest rate, rounded down, and MOST for the lowest
	 * rate, rounded up.
	 */
	uint64_t least, most;
};

/*
 * Sets the TSC's rate to HZ, which must be between 1 kHz and 1 THz. If den or num is 0, the rate is unknown, and one
 * tick counts as one nanosecond.
 */
void scale_init(struct scale *scale, struct rate hz);

/* Sets the bounds of the rate in microhertz. scale_ticks_to_ns_down() and scale_ticks_to_ns_up() use them. */
void scale_set_rate_bounds(struct scale *scale, uint64_t low_microhz, uint64_t high_microhz);

/* Converts ticks (up to 2^60) to ns, rounded to nearest. The error is at most ticks / 2^33 + 1/2 ns. */
static inline uint64_t
scale_ns(const struct scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->multiplier;

	return (uint64_t)((product + (UINT64_C(1) << 31)) >> 32);
}

/*
 * These functions calculate the time in ns that TICKS take, from the bounds of the rate. The first returns the lower
 * bound, the second the upper bound. The results are limited to the range of int64_t.
 */
int64_t scale_ticks_to_ns_down(const struct scale *scale, int64_t ticks);
int64_t scale_ticks_to_ns_up(const struct scale *scale, int64_t ticks);

/* Converts ns to ticks, rounded down. Returns UINT64_MAX if the result does not fit. */
uint64_t scale_ns_to_ticks(const struct scale *scale, uint64_t ns);

/*
 * Returns A * B / C with a 128-bit product, rounded down, up, or to nearest. Returns UINT64_MAX if the result does
 * not fit or C is 0. Measuring loops must not use these functions, because they loop up to 128 times.
 */
uint64_t scale_mul_div(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_up(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_nearest(uint64_t a, uint64_t b, uint64_t c);

/* SCALE_NEAREST rounds up if the result is exactly in the middle of two integers */
enum scale_rounding { SCALE_DOWN, SCALE_UP, SCALE_NEAREST };

/*
 * Returns A * B / C. The product is exact, in 192 bits. Returns UINT64_MAX if the result does not fit or C is 0.
 * Loops up to 192 times.
 */
uint64_t scale_mul_div_wide(unsigned __int128 a, uint64_t b, unsigned __int128 c, enum scale_rounding rounding);

#endif
