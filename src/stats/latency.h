/*
 * The fold of samples into read latency, in nanoseconds: a log-linear histogram for every duration, and
 * exact counts for short ones. The bracket's own cost is in every figure; the null clock shows it.
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
	uint64_t total_ticks; /* TSC ticks from begin to end of each run, all runs added up */
	uint64_t total_ns;    /* of the recorded durations */
	struct histogram histogram;
	uint64_t exact[LATENCY_EXACT_NS];
};

void latency_clear(struct latency *latency);

/* Adds one run of COUNT chained samples. A sample whose end is before its begin is left to monotonic.h. */
void latency_fold(struct latency *latency, const struct scale *scale, const struct sample *samples,
		  size_t count);

/* The duration at or below which PER_HUNDRED_THOUSAND of the samples lie (50000: the median), within 1.6 %,
 * at least min_ns and at most max_ns; 0 where nothing was recorded. */
uint64_t latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand);

/*
 * Between which two reads the percentile of all that might have been read lies, with 95 % confidence and more; not
 * known where there were too few: 1 in 1,000 takes some 8,000 reads, else it would be the longest of them.
 */
struct latency_within {
	bool known;
	uint64_t low_ns, high_ns;
};

struct latency_within latency_percentile_within(const struct latency *latency, uint32_t per_hundred_thousand);

/* What is left without the samples into which a gap fell: those longer than the median and a threshold. */
struct latency_clean {
	uint64_t hit, count;               /* left out, within 1.6 % of that bound; left */
	uint64_t p99_ns, p999_ns, max_ns;  /* of those left, as latency_percentile_ns() has them */
	uint64_t mean_ps;                  /* likewise, */
	uint64_t mean_low_ps, mean_high_ps; /* and between which it is: buckets, whole nanoseconds and two standard errors */
};

struct latency_clean latency_clean(const struct latency *latency, uint64_t threshold_ns);

/*
 * Whether the sample that is the percentile was hit: then it is stolen time's and not the clock's. False, too,
 * where there were too few for it.
 */
bool latency_percentile_is_hit(const struct latency *latency, uint32_t per_hundred_thousand, uint64_t threshold_ns);

/* Mean duration, and mean loop time of the sampling, in picoseconds; 0 where nothing was recorded. */
uint64_t latency_mean_ps(const struct latency *latency);
uint64_t latency_loop_ps(const struct latency *latency, const struct scale *scale);

#endif
