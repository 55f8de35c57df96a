/*
 * Rates as intervals. A clock is read at both ends of a window; each reading is known to have happened
 * between two TSC readings, and each count to be off by less than the clock's resolution. So neither the ticks nor the
 * time between are numbers: both are intervals, and so is what is said of the rate.
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

#define RATE_TICKS_MAX (UINT64_C(1) << 62) /* of a window: 49 years at 3 GHz; more is a step back */

/*
 * The ends of a window are samples, with the clock's wraps undone in their ticks. A TSC that reads a sample's end has
 * not come to its next value, so the clock was read before that end + the TSC's resolution.
 */
struct rate_window {
	struct sample first, last;
	uint64_t slack_ticks; /* the count is exact within less than this: the resolution; 0 where ends are edges */
	uint64_t tsc_resolution_ticks; /* the TSC moves by at most so much at once: 1, or 26 where it counts in such steps */
};

/* The clock's ticks in so many of the TSC, at least and at most. */
struct rate_slope {
	bool known;
	uint64_t low_ticks, low_time;
	uint64_t high_ticks, high_time;
};

/* What a rate is fitted to: as many readings as one line explains. */
enum rate_fit {
	RATE_FIT_NONE,   /* no rate, or an edge clock's, by its edges */
	RATE_FIT_ALL,    /* all readings, those between the window's ends too: one rate all the time */
	RATE_FIT_ENDS,   /* all at its two ends: not one rate in between */
	RATE_FIT_UNEVEN, /* likewise, of a counter that moves in uneven steps */
	RATE_FIT_TWO,    /* the best one at either end: no line explains more */
};

/* Whether the whole interval lies beyond LIMIT_PPB, on one side of 0: what is unknown does not. */
static inline bool
rate_beyond(const struct interval_ppb *ppb, uint64_t limit_ppb)
{
	return ppb->known && offset_nearest((struct offset){ ppb->low, ppb->high }) > limit_ppb;
}

/* The tightest bracket among COUNT samples (at least 1): the one whose end - begin is least. */
struct sample rate_tightest(const struct sample *samples, size_t count);

/* The slope from two readings. Unknown where the clock went back, or no time is certain between them. */
struct rate_slope rate_slope(const struct rate_window *window);

/*
 * What the TSC's rate would be if the clock's CLAIMED rate were true: claimed * TSC ticks / clock ticks.
 * Unknown where the clock did not move for certain or its claim is missing. Rounded outwards, so that the truth stays
 * inside.
 */
struct rate_interval rate_implied_tsc(const struct rate_slope *slope, struct rate claimed);

/* RATE, where what it follows from is known within PPB only. */
struct rate_interval rate_within(struct rate_interval rate, uint64_t ppb);

/* The clock's own rate, given the TSC's as an interval. Unknown where TSC is. */
struct rate_interval rate_of_clock(const struct rate_slope *slope, const struct rate_interval *tsc);

/*
 * Which of COUNT implied rates to take for the TSC's: of those that share the value which most of them hold,
 * the narrowest. Two that contradict each other are one vote each: then the narrower. COUNT where none is
 * known; the unknown ones are passed over.
 */
size_t rate_consensus(const struct rate_interval *implied, size_t count);

/* How much faster A runs than B: A's implied TSC rate is then the lower one. Unknown where either is. */
struct interval_ppb rate_compare(const struct rate_interval *implied_a, const struct rate_interval *implied_b);

/* How much faster than CLAIMED a clock of rate MEASURED runs. */
struct interval_ppb rate_error(const struct rate_interval *measured, struct rate claimed);

/*
 * Undoes wraps: how many ticks lie between readings THEN and NOW of CLOCK when about EXPECTED_TICKS should
 * (from the TSC and the rate so far): the count that is congruent to the reading and nearest to it. Where
 * that is a step back, its two's complement: added to a count of ticks, it takes them back.
 */
uint64_t rate_unwrap(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks,
		     uint64_t expected_ticks);

#endif
