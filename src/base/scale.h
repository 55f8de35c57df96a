/*
 * Converts TSC ticks to nanoseconds, and computes exact fractions. It uses no floating point. The conversion in
 * measuring loops needs no division.
 */
#ifndef BARETICK_SCALE_H
#define BARETICK_SCALE_H

#include <stdint.h>

/* Ticks per second as an exact fraction. If den is 0, no rate is known. */
struct rate {
	uint64_t num;
	uint64_t den;
};

struct scale {
	struct rate hz;      /* rate of the TSC; den is never 0 */
	uint64_t multiplier; /* nanoseconds per tick times 2^32, rounded to nearest */
	/* MULTIPLIER at the highest possible rate, rounded down, and at the lowest possible rate, rounded up */
	uint64_t least, most;
};

/*
 * Sets the rate. If HZ has den 0 or num 0, the rate is unknown, and one tick counts as one nanosecond. Otherwise it
 * must be from 1 kHz to 1 THz.
 */
void scale_init(struct scale *scale, struct rate hz);

/* Sets the lower and upper bound of the rate in millionths of a hertz, for scale_ns_down() and scale_ns_up(). */
void scale_bound(struct scale *scale, uint64_t low_microhz, uint64_t high_microhz);

/* Converts ticks (up to 2^60) to ns, rounded to nearest. The error is at most ticks / 2^33 + 1/2 ns. */
static inline uint64_t
scale_ns(const struct scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->multiplier;

	return (uint64_t)((product + (UINT64_C(1) << 31)) >> 32);
}

/*
 * Return the shortest and the longest time in ns that TICKS may take within the bounds of the rate. Results are limited
 * to the type's range.
 */
int64_t scale_ns_down(const struct scale *scale, int64_t ticks);
int64_t scale_ns_up(const struct scale *scale, int64_t ticks);

/* Converts ns to ticks, rounded down. Returns UINT64_MAX if the result does not fit. */
uint64_t scale_ticks(const struct scale *scale, uint64_t ns);

/*
 * Return A * B / C with a 128-bit product, rounded down, up, or to nearest. Return UINT64_MAX if the result does not
 * fit or C is 0. They loop up to 128 times, so measuring loops must not use them.
 */
uint64_t scale_mul_div(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_up(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_nearest(uint64_t a, uint64_t b, uint64_t c);

/* SCALE_NEAREST rounds up if both neighbours are equally near */
enum scale_rounding { SCALE_DOWN, SCALE_UP, SCALE_NEAREST };

/* Returns A * B / C with 128 bits for A and C. The product is exact in 192 bits. Loops up to 192 times. */
uint64_t scale_ratio(unsigned __int128 a, uint64_t b, unsigned __int128 c, enum scale_rounding rounding);

#endif
