/*
 * Converts TSC ticks to nanoseconds, and computes exact fractions. Uses no floating point, and no division in
 * the common path.
 */
#ifndef BARETICK_SCALE_H
#define BARETICK_SCALE_H

#include <stdint.h>

/* Ticks per second as an exact fraction. den == 0 if no rate is claimed or known. */
struct rate {
	uint64_t num;
	uint64_t den;
};

struct scale {
	struct rate hz;      /* rate of the TSC; den is never 0 */
	uint64_t multiplier; /* nanoseconds per tick, times 2^32, rounded to nearest */
	uint64_t least, most; /* MULTIPLIER for the highest and the lowest possible rate, rounded outwards */
};

/*
 * If HZ has den 0 or num 0, the rate is unknown, and one tick counts as one nanosecond. Otherwise it must be
 * from 1 kHz to 1 THz.
 */
void scale_init(struct scale *scale, struct rate hz);

/* Sets the bounds of the rate in millionths of a hertz. scale_ns_down() and scale_ns_up() use them. */
void scale_bound(struct scale *scale, uint64_t low_microhz, uint64_t high_microhz);

/* Rounded to nearest. The error is at most ticks / 2^33 + 1/2 ns, for up to 2^60 ticks. */
static inline uint64_t
scale_ns(const struct scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->multiplier;

	return (uint64_t)((product + (UINT64_C(1) << 31)) >> 32);
}

/*
 * The least and the most nanoseconds that a difference of TICKS may last, by the bounds of the rate. Limited to
 * the range of the type.
 */
int64_t scale_ns_down(const struct scale *scale, int64_t ticks);
int64_t scale_ns_up(const struct scale *scale, int64_t ticks);

/* Converts ns to ticks, exactly and rounded down. UINT64_MAX if the result does not fit. */
uint64_t scale_ticks(const struct scale *scale, uint64_t ns);

/*
 * A * B / C with a 128-bit product, rounded down, up, or to nearest. UINT64_MAX if the result does not fit or C
 * is 0. Loops up to 128 times, so it is not for the measured path.
 */
uint64_t scale_mul_div(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_up(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_nearest(uint64_t a, uint64_t b, uint64_t c);

enum scale_rounding { SCALE_DOWN, SCALE_UP, SCALE_NEAREST }; /* nearest: a half is rounded up */

/* A * B / C with A and C as 128-bit products. Exact in 192 bits; loops up to 192 times. */
uint64_t scale_ratio(unsigned __int128 a, uint64_t b, unsigned __int128 c, enum scale_rounding rounding);

#endif
