/*
 * The readings of one clock from which its rates are calculated, and the rate between any two of them. Used in the
 * analysis, and during a run to decide whether a rate window can end.
 */
#ifndef BARETICK_RATE_READINGS_H
#define BARETICK_RATE_READINGS_H

#include "consensus/rate.h"
#include "consensus/rate_fit.h"
#include "report/report.h"

/* a batch of samples: the shortest sample, and the points that limit the clock's rate (see rate_fit.h) */
struct rate_batch {
	/* number in the rate window, from 0; also 0 for a batch at an end of the window, so that it is always kept */
	uint64_t number;
	struct sample sample;
	struct rate_corners corners;
};

struct rate_readings {
	const struct report *report;
	const struct report_clock *entry;
	struct scale scale;            /* the TSC's rate as it was known when the clock was read */
	uint64_t tsc_resolution_ticks; /* upper bound of the TSC's resolution */
	/* Differences between readings: their greatest common divisor and the smallest, or 0 if the clock never moved. */
	uint64_t gcd_ticks, smallest_ticks;
	struct sample first, last;     /* the ends of the rate window */
	struct rate_batch batches[RATE_ENDS_MAX]; /* in order of time; empty for an edge clock (see clock.h) */
	size_t batch_count;
};

/* Returns the expected ticks of the clock in PASSED_TSC ticks of the TSC, by its rate in the rate window. */
uint64_t rate_readings_expected_ticks(const struct rate_readings *readings, uint64_t passed_tsc);

/* Returns the batches from FROM to TO, from which rate_fit_line() calculates a rate. Not for edge clocks. */
struct rate_ends rate_readings_get_batches_between(const struct rate_readings *readings, const struct sample *from,
						   const struct sample *to);

/*
 * Returns the clock's ticks per TSC tick from FROM to TO, with the uncertainty of both readings. Sets FIT to the kind
 * of readings from which this slope was calculated.
 */
struct rate_slope rate_readings_fit_slope(const struct rate_readings *readings, const struct sample *from,
					  const struct sample *to, enum rate_fit *fit);

/*
 * Returns the TSC's rate from FROM to TO, assuming that the clock runs at its nominal frequency. The result is unknown
 * if the rate is implausible.
 */
struct rate_interval rate_readings_implied_rate(const struct rate_readings *readings, const struct sample *from,
						const struct sample *to);

/* Returns the rate of rate_readings_implied_rate(), but without the tolerance of the clock's nominal frequency. */
struct rate_interval rate_readings_implied_rate_if_claim_exact(const struct rate_readings *readings,
							       const struct sample *from, const struct sample *to);

/*
 * Returns the TSC's rate by these two readings only, as if the clock's nominal frequency was exact. Not for edge
 * clocks.
 */
struct rate_interval rate_readings_implied_rate_of_two_samples(const struct rate_readings *readings,
							       const struct sample *from, const struct sample *to);

/* Returns how the clock's rate against the TSC changed from FROM..MIDDLE to MIDDLE..TO. */
struct interval_ppb rate_readings_rate_change(const struct rate_readings *readings, const struct sample *from,
					      const struct sample *middle, const struct sample *to);

/* Returns the TSC's nominal frequency, as an interval that includes its rounding. */
struct rate_interval rate_get_claimed_tsc_rate(const struct clock *tsc);

/* wraps cannot be counted if the uncertainty of the expected ticks is more than 1/4 of the counter's range */
#define RATE_AMBIGUOUS_SHARE 4

/*
 * Returns true if the number of wraps of CLOCK's counter in about EXPECTED ticks is uncertain. One cause is the error
 * of IMPLIED, the TSC's rate by CLOCK. The other cause is CHANGE_PPB, by which the TSC's rate may have changed: clocks
 * that take longer to wrap show this change.
 */
bool rate_may_wraps_be_miscounted(const struct clock *clock, const struct rate_interval *implied, uint64_t expected,
				  uint64_t change_ppb);

/* Returns true if TSC is a plausible rate. If it is implausible, the TSC jumped, or was set back repeatedly. */
bool rate_is_tsc_rate_plausible(const struct scale *scale, const struct rate_interval *tsc);

#endif
