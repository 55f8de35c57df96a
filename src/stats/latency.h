/*
 * Read latency in nanoseconds, from samples: a log-linear histogram of all durations, and exact counts of short
 * ones. Every figure includes the bracket's own cost, which the null clock shows.
 */
#ifndef BARETICK_LATENCY_H
#define BARETICK_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/scale.h"
#include "clock/sample.h"

#define LATENCY_EXACT_NS 10000 /* below this every nanosecond has its own count, as in pg_test_timing */

struct latency {
	uint64_t count;       /* samples recorded */
	uint64_t min_ns, max_ns;
	uint64_t max_count;   /* samples as long as max_ns */
	uint64_t total_ticks; /* TSC ticks from begin to end of each run, summed over all runs */
	uint64_t total_ns;    /* sum of the recorded durations */
	struct histogram histogram;
	uint64_t exact[LATENCY_EXACT_NS];
};

void latency_clear(struct latency *latency);

/* Adds one run of COUNT chained samples. A sample whose end is before its begin is left to monotonic.h. */
void latency_fold(struct latency *latency, const struct scale *scale, const struct sample *samples,
		  size_t count);

/*
 * The duration that PER_HUNDRED_THOUSAND of the samples do not exceed (50000: the median), exact to 1.6 % and
 * between min_ns and max_ns. 0 if nothing was recorded.
 */
uint64_t latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand);

/*
 * Interval of two reads that contains the percentile of all possible reads with at least 95 % confidence.
 * Unknown with too few reads: p99.9 needs about 8,000, because otherwise it would be the longest read.
 */
struct latency_within {
	bool known;
	uint64_t low_ns, high_ns;
};

struct latency_within latency_percentile_within(const struct latency *latency, uint32_t per_hundred_thousand);

/* Figures without the samples that a gap hit: those longer than the median plus a threshold. */
struct latency_clean {
	uint64_t hit, count;               /* samples left out, exact to 1.6 % of that bound; samples kept */
	uint64_t p99_ns, p999_ns, max_ns;  /* percentiles and maximum of the samples kept */
	uint64_t mean_ps;                  /* mean of the samples kept */
	/* Error of the mean: the width of buckets, whole nanoseconds, and two standard errors. */
	uint64_t mean_low_ps, mean_high_ps;
};

struct latency_clean latency_clean(const struct latency *latency, uint64_t threshold_ns);

/*
 * Returns true if the sample at the percentile was hit by a gap. Then it is stolen time, not the clock's own.
 * Returns false if there were too few samples.
 */
bool latency_percentile_is_hit(const struct latency *latency, uint32_t per_hundred_thousand, uint64_t threshold_ns);

/* Mean duration, and mean loop time of the sampling, in ps; 0 if nothing was recorded. */
uint64_t latency_mean_ps(const struct latency *latency);
uint64_t latency_loop_ps(const struct latency *latency, const struct scale *scale);

#endif
