/*
 * From TSC ticks to nanoseconds, and exact arithmetic on fractions, without floating point and without a
 * division in the common path.
 */
#ifndef BARETICK_SCALE_H
#define BARETICK_SCALE_H

#include <stdint.h>

/* Ticks per second as an exact fraction. den == 0: nothing is claimed or known. */
struct rate {
	uint64_t num;
	uint64_t den;
};

struct scale {
	struct rate hz;      /* of the TSC; den is never 0 */
	uint64_t multiplier; /* nanoseconds per tick, times 2^32, rounded to nearest */
	uint64_t least, most; /* likewise, by the highest and the lowest rate that may be true, rounded outwards */
};

/* HZ with den 0 or num 0: unknown, then one tick counts as one nanosecond. 1 kHz to 1 THz else. */
void scale_init(struct scale *scale, struct rate hz);

/* The rate is known within LOW and HIGH millionths of a hertz only: what is rounded down or up below is so by these. */
void scale_bound(struct scale *scale, uint64_t low_microhz, uint64_t high_microhz);

/* Rounded to nearest; off by at most ticks / 2^33 + 1/2 ns; ticks of at most 2^60. */
static inline uint64_t
scale_ns(const struct scale *scale, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * scale->multiplier;

	return (uint64_t)((product + (UINT64_C(1) << 31)) >> 32);
}

/*
 * The least and the most that a difference of ticks lasts in nanoseconds, by any rate that may be true; at the
 * ends of the type where it is beyond them.
 */
int64_t scale_ns_down(const struct scale *scale, int64_t ticks);
int64_t scale_ns_up(const struct scale *scale, int64_t ticks);

/* The other way, exact, rounded down; UINT64_MAX where it does not fit. */
uint64_t scale_ticks(const struct scale *scale, uint64_t ns);

/* A * B / C with the product in 128 bits: rounded down, up, or to nearest; UINT64_MAX where it does not fit
 * or C is 0. Loops of at most 128 turns: not for the measured path. */
uint64_t scale_mul_div(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_up(uint64_t a, uint64_t b, uint64_t c);
uint64_t scale_mul_div_nearest(uint64_t a, uint64_t b, uint64_t c);

enum scale_rounding { SCALE_DOWN, SCALE_UP, SCALE_NEAREST }; /* nearest: a half goes up */

/* Likewise A * B / C where A and C are products themselves; exact in 192 bits, at most 192 turns. */
uint64_t scale_ratio(unsigned __int128 a, uint64_t b, unsigned __int128 c, enum scale_rounding rounding);

#endif
