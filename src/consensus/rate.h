/*
 * Measures rates as intervals. A rate is measured between two readings of a clock, the first and the last of the rate
 * window. Each reading has an error below the clock's resolution, and happened at an unknown time between two reads
 * of the TSC. Therefore the counted ticks, the time between the readings, and the rate are all intervals.
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

/* Longest rate window in TSC ticks; 49 years at 3 GHz. A larger difference means that the counter stepped back. */
#define RATE_TICKS_MAX (UINT64_C(1) << 62)

/*
 * The first and the last reading between which a rate is measured. Wraps are already added to the readings' ticks. If
 * the TSC advances in steps larger than 1 tick, the true end of a sample is up to one step after the TSC value that was
 * read.
 */
struct rate_window {
	struct sample first, last;
	/*
	 * Upper bound of the error of each reading in ticks: the clock's resolution. 0 if both readings were taken
	 * exactly when the clock's value changed.
	 */
	uint64_t slack_ticks;
	/*
	 * The TSC's resolution, which is the size of the steps in which its value advances. Usually 1, but for
	 * example 26 in some emulators.
	 */
	uint64_t tsc_resolution_ticks;
};

/*
 * Lower and upper bound of the clock's ticks per TSC tick, as fractions: low_ticks / low_time, high_ticks /
 * high_time.
 */
struct rate_slope {
	bool known;
	uint64_t low_ticks, low_time;
	uint64_t high_ticks, high_time;
};

/*
 * The set of readings that a rate is calculated from: the largest of the following sets that a straight line can fit.
 */
enum rate_fit {
	/*
	 * no readings: the rate is unknown, or it is the rate of an RTC, which is calculated from the times of its
	 * ticks
	 */
	RATE_FIT_NONE,
	RATE_FIT_ALL,    /* all readings from the first to the last; they fit only if the rate was constant */
	/*
	 * all readings at both ends of the rate window, because the readings in between prove that the rate was not
	 * constant
	 */
	RATE_FIT_ENDS,
	/* all readings at both ends, with a larger error, because the counter advances in steps of different size */
	RATE_FIT_UNEVEN,
	RATE_FIT_TWO,    /* one reading at each end, because no line fits all readings */
};

/* Returns the lower and the upper bound without the best estimate. */
static inline struct offset
rate_bounds(const struct interval_ppb *ppb)
{
	return (struct offset){ ppb->low, ppb->high };
}

static inline uint64_t
rate_width(const struct rate_interval *interval)
{
	return interval->high - interval->low;
}

/* Returns the smallest possible absolute value; 0 if the value is unknown or may be 0. */
static inline uint64_t
rate_min_abs(const struct interval_ppb *ppb)
{
	return ppb->known ? offset_min_abs(rate_bounds(ppb)) : 0;
}

/* Returns true if the value is proven to be above LIMIT_PPB or below -LIMIT_PPB. Returns false if it is unknown. */
static inline bool
rate_is_beyond(const struct interval_ppb *ppb, uint64_t limit_ppb)
{
	return rate_min_abs(ppb) > limit_ppb;
}

/* Returns the sample with the shortest time between its two TSC reads (end - begin). COUNT is at least 1. */
struct sample rate_shortest_sample(const struct sample *samples, size_t count);

/*
 * Returns the bounds of the clock's ticks per TSC tick. They are unknown if the clock stepped back, or if the last
 * sample does not certainly start after the end of the first.
 */
struct rate_slope rate_calculate_slope(const struct rate_window *window);

/* Widens WINDOW for a clock that is read at its edges. Each edge may have been up to LATE_TICKS before its reading. */
void rate_allow_late_edges(struct rate_window *window, uint64_t late_ticks);

/*
 * Returns the rate that the TSC must have if the clock has exactly its nominal frequency CLAIMED. It is CLAIMED * TSC
 * ticks / clock ticks. The rate is unknown if the clock may not have advanced, or has no nominal frequency. The
 * interval is rounded outwards, so that it contains the true rate.
 */
struct rate_interval rate_of_tsc_implied_by_clock(const struct rate_slope *slope, struct rate claimed);

/* Widens the interval RATE on both sides by PPB, the tolerance of the clock's nominal frequency. */
struct rate_interval rate_widen(struct rate_interval rate, uint64_t ppb);

/*
 * Returns the interval of the clock's rate that follows from TSC, the interval of the TSC's rate. It is unknown if TSC
 * is unknown.
 */
struct rate_interval rate_of_clock(const struct rate_slope *slope, const struct rate_interval *tsc);

/*
 * Chooses the TSC's rate among the rates in the set AMONG of COUNT rates, each implied by one clock. First it finds the
 * value that most intervals contain. The result is the index of the narrowest interval with this value. If there are
 * only two rates and they are disjoint, the narrower rate is chosen. Returns COUNT if no rate is known.
 */
size_t rate_find_consensus_index(const struct rate_interval *implied, size_t count, uint32_t among);

/*
 * Returns by how many ppb clock A runs faster than clock B. Both are given by the TSC rates that they imply; the
 * faster clock implies the lower TSC rate. The result is unknown if either rate is unknown.
 */
struct interval_ppb rate_relative_difference(const struct rate_interval *implied_a,
					     const struct rate_interval *implied_b);

/* Returns by how many ppb the rate MEASURED is above the nominal frequency CLAIMED. */
struct interval_ppb rate_error_against_claim(const struct rate_interval *measured, struct rate claimed);

/*
 * Returns the ticks between the readings THEN and NOW of a counter that wraps. The number of wraps is chosen so that
 * the result is nearest to EXPECTED_TICKS, an estimate from the elapsed TSC ticks. If the counter stepped back, the
 * result is negative in two's complement, so that adding it to a count reduces the count.
 */
uint64_t rate_unwrap_ticks(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks,
			   uint64_t expected_ticks);

#endif
