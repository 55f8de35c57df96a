/*
 * Rates as intervals. A clock is read at both ends of a window. Each reading is known to lie between two TSC
 * readings, and each count is exact to less than the clock's resolution. So the ticks, the time between the
 * readings and the rate are all intervals.
 */
#ifndef BARETICK_RATE_H
#define BARETICK_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "base/offset.h"
#include "clock/clock.h"
#include "clock/sample.h"

/* Longest window: 49 years at 3 GHz. A larger difference is a step back. */
#define RATE_TICKS_MAX (UINT64_C(1) << 62)

/*
 * The ends of a window are samples with unwrapped ticks. If the TSC reads a sample's end, it has not reached
 * its next value. So the clock was read before that end plus the TSC's resolution.
 */
struct rate_window {
	struct sample first, last;
	/* The count is exact to less than this: the clock's resolution, or 0 if the ends are edges. */
	uint64_t slack_ticks;
	/* The TSC moves by at most this much at once: 1, or for example 26 on some emulators. */
	uint64_t tsc_resolution_ticks;
};

/* The clock's ticks per TSC ticks: lower and upper bound. */
struct rate_slope {
	bool known;
	uint64_t low_ticks, low_time;
	uint64_t high_ticks, high_time;
};

/* The readings that a rate is fitted to: as many as one line can explain. */
enum rate_fit {
	RATE_FIT_NONE,   /* no rate, or the rate of an edge clock from its edges */
	RATE_FIT_ALL,    /* all readings, also those between the window's ends: the rate was constant */
	RATE_FIT_ENDS,   /* all readings at its two ends: the rate was not constant in between */
	RATE_FIT_UNEVEN, /* all readings at its two ends, for a counter that moves in uneven steps */
	RATE_FIT_TWO,    /* the best reading at either end: no line explains more */
};

/* Returns true if the whole interval is outside LIMIT_PPB on one side of 0; false if it is unknown. */
static inline bool
rate_beyond(const struct interval_ppb *ppb, uint64_t limit_ppb)
{
	return ppb->known && offset_nearest((struct offset){ ppb->low, ppb->high }) > limit_ppb;
}

/* The sample with the tightest bracket (least end - begin) among COUNT, at least 1. */
struct sample rate_tightest(const struct sample *samples, size_t count);

/*
 * The slope from two readings. Unknown if the clock stepped back, or if the order of the readings is uncertain.
 */
struct rate_slope rate_slope(const struct rate_window *window);

/*
 * The TSC's rate if the clock has its nominal frequency CLAIMED: claimed * TSC ticks / clock ticks. Unknown if
 * the clock may not have moved, or has no nominal frequency. Rounded outwards, so that the interval contains
 * the true rate.
 */
struct rate_interval rate_implied_tsc(const struct rate_slope *slope, struct rate claimed);

/* Widens RATE because its nominal frequency is only known to within PPB. */
struct rate_interval rate_within(struct rate_interval rate, uint64_t ppb);

/* The clock's own rate, given the TSC's rate as an interval. Unknown if TSC is. */
struct rate_interval rate_of_clock(const struct rate_slope *slope, const struct rate_interval *tsc);

/*
 * Index of the implied rate to use as the TSC's. Of the rates that contain the most shared value, this is the
 * narrowest. If two contradict each other, the narrower one. COUNT if no rate is known.
 */
size_t rate_consensus(const struct rate_interval *implied, size_t count);

/* How much faster A runs than B, in ppb. The faster clock implies the lower TSC rate. Unknown if either is. */
struct interval_ppb rate_compare(const struct rate_interval *implied_a, const struct rate_interval *implied_b);

/* How much faster than CLAIMED a clock of rate MEASURED runs, in ppb. */
struct interval_ppb rate_error(const struct rate_interval *measured, struct rate claimed);

/*
 * Unwraps a counter. Returns the ticks between readings THEN and NOW of CLOCK: the count congruent to the
 * readings and nearest to EXPECTED_TICKS, which follow from the TSC and the rate so far. A step back is
 * returned as a two's complement, so that adding it to a count moves the count back.
 */
uint64_t rate_unwrap(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks,
		     uint64_t expected_ticks);

#endif
