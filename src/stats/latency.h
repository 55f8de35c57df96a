/*
 * Read latency of a clock in ns, from samples: a histogram of all durations, and exact counts of short ones. All
 * figures include the cost of measuring, which the null clock shows.
 */
#ifndef BARETICK_LATENCY_H
#define BARETICK_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/scale.h"
#include "clock/sample.h"

#define LATENCY_EXACT_NS 10000 /* durations below this have one bucket for each nanosecond, as in pg_test_timing */

struct latency {
	uint64_t count;       /* number of recorded samples */
	uint64_t min_ns, max_ns;
	uint64_t max_count;   /* number of samples whose duration is max_ns */
	uint64_t total_ticks; /* TSC ticks of all recorded samples */
	uint64_t total_ns;    /* sum of the recorded durations, each rounded to ns */
	struct histogram histogram;
	uint64_t exact[LATENCY_EXACT_NS];
};

void latency_clear(struct latency *latency);

/* Adds COUNT samples of one chain (sample.h). Ignores samples that end before they begin; monotonic.h counts them. */
void latency_add(struct latency *latency, const struct scale *scale, const struct sample *samples,
		 size_t count);

/*
 * Returns a percentile of the samples, given in 1/100,000: 50000 is the median. The result is exact to 1.6 %, and lies
 * between min_ns and max_ns. Returns 0 if there are no samples.
 */
uint64_t latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand);

/*
 * Confidence interval of a percentile. With a probability of at least 95 % it contains the percentile of all possible
 * reads. It is unknown if there are too few reads. For example, p99.9 needs about 8,000 reads, because the upper end
 * would otherwise be beyond the longest read.
 */
struct latency_within {
	bool known;
	uint64_t low_ns, high_ns;
};

struct latency_within latency_percentile_within(const struct latency *latency, uint32_t per_hundred_thousand);

/* Figures without the samples that were hit by a gap, which are those longer than the median plus a threshold. */
struct latency_clean {
	/*
	 * number of samples that are left out, and number of samples that are kept; the boundary between them is exact to
	 * 1.6 %
	 */
	uint64_t hit, count;
	uint64_t p99_ns, p999_ns, max_ns;  /* percentiles and maximum of the samples kept */
	uint64_t mean_ps;                  /* mean of the samples kept */
	/*
	 * Bounds of the mean. The error consists of the width of buckets, the rounding to nanoseconds, and two standard
	 * errors.
	 */
	uint64_t mean_low_ps, mean_high_ps;
};

struct latency_clean latency_clean(const struct latency *latency, uint64_t threshold_ns);

/*
 * Returns true if a gap hit the sample at the percentile. The percentile then shows stolen time and not the clock's
 * latency. Returns false if there are too few samples.
 */
bool latency_percentile_is_hit(const struct latency *latency, uint32_t per_hundred_thousand, uint64_t threshold_ns);

/* Return the mean duration of a sample, and the mean time per sample of the loop, in ps. Return 0 without samples. */
uint64_t latency_mean_ps(const struct latency *latency);
uint64_t latency_loop_ps(const struct latency *latency, const struct scale *scale);

#endif
