/*
 * Measures rates as intervals. A clock is read at both ends of a window. Each reading lies between two TSC readings,
 * and each count is exact to less than the clock's resolution. Therefore the clock's ticks, the time between the
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

/* Longest window in TSC ticks, 49 years at 3 GHz. A larger difference counts as a step back. */
#define RATE_TICKS_MAX (UINT64_C(1) << 62)

/*
 * A window over which a rate is measured. Its two ends are samples with unwrapped ticks. The TSC may move in steps. If
 * it reads a sample's end, the true time is before that end plus the TSC's resolution.
 */
struct rate_window {
	struct sample first, last;
	/*
	 * The clock's resolution in ticks. The error of each reading is smaller than this. 0 if the ends of the window are
	 * edges of the clock.
	 */
	uint64_t slack_ticks;
	/* The TSC's resolution, which is the largest step of its value. Usually 1, but for example 26 in some emulators. */
	uint64_t tsc_resolution_ticks;
};

/* Lower and upper bound of the clock's ticks per TSC tick, as fractions. */
struct rate_slope {
	bool known;
	uint64_t low_ticks, low_time;
	uint64_t high_ticks, high_time;
};

/* Kind of the readings that a rate is calculated from. The largest set that a line can fit is used. */
enum rate_fit {
	RATE_FIT_NONE,   /* no rate, or an RTC, whose rate comes from the times of its ticks */
	RATE_FIT_ALL,    /* all readings, also those between the window's ends, because the rate was constant */
	RATE_FIT_ENDS,   /* all readings at both ends of the window, because the rate was not constant in between */
	RATE_FIT_UNEVEN, /* all readings at both ends, with a larger error because the counter moves in uneven steps */
	RATE_FIT_TWO,    /* one reading at each end, because no line fits all readings */
};

/* Returns the interval without its value. */
static inline struct offset
rate_bounds(const struct interval_ppb *ppb)
{
	return (struct offset){ ppb->low, ppb->high };
}

/* Returns true if the whole interval is above LIMIT_PPB or below -LIMIT_PPB. Returns false if it is unknown. */
static inline bool
rate_beyond(const struct interval_ppb *ppb, uint64_t limit_ppb)
{
	return ppb->known && offset_min_size(rate_bounds(ppb)) > limit_ppb;
}

/* Returns the sample that took the shortest time (end - begin). COUNT is at least 1. */
struct sample rate_tightest(const struct sample *samples, size_t count);

/*
 * Returns the slope from two readings. It is unknown if the clock stepped back, or if the order of the two readings is
 * not certain.
 */
struct rate_slope rate_slope(const struct rate_window *window);

/*
 * Returns the TSC's rate, if the clock has its nominal frequency CLAIMED: claimed * TSC ticks / clock ticks. The result
 * is unknown if the clock may not have moved, or has no nominal frequency. The interval is rounded outwards, so that it
 * contains the true rate.
 */
struct rate_interval rate_implied_tsc(const struct rate_slope *slope, struct rate claimed);

/* Widens RATE by PPB, the error of the nominal frequency. */
struct rate_interval rate_within(struct rate_interval rate, uint64_t ppb);

/* Returns the clock's rate, given an interval of the TSC's rate. It is unknown if TSC is unknown. */
struct rate_interval rate_of_clock(const struct rate_slope *slope, const struct rate_interval *tsc);

/*
 * Chooses the implied rate that is used as the TSC's rate. It is the narrowest rate that contains the value which most
 * rates share. If only two rates are known and contradict each other, it is the narrower one. Returns its index, or
 * COUNT if no rate is known.
 */
size_t rate_consensus(const struct rate_interval *implied, size_t count);

/*
 * Returns how many ppb faster A runs than B. The faster clock implies the lower TSC rate. It is unknown if either rate
 * is unknown.
 */
struct interval_ppb rate_compare(const struct rate_interval *implied_a, const struct rate_interval *implied_b);

/* Returns how much faster than CLAIMED a clock with the rate MEASURED runs, in ppb. */
struct interval_ppb rate_error(const struct rate_interval *measured, struct rate claimed);

/*
 * Returns the ticks between the readings THEN and NOW of a counter that wraps. The number of wraps in between is chosen
 * so that the result is nearest to EXPECTED_TICKS, which are calculated from the TSC and the present estimate of the
 * rate. If the counter stepped back, the result is a negative number in two's complement, so that adding it to a count
 * moves the count back.
 */
uint64_t rate_unwrap(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks,
		     uint64_t expected_ticks);

#endif
