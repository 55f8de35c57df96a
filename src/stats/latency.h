/*
 * Read latency: statistics of the time that a read of a clock takes. A sample is one read with its duration. There is a
 * histogram of all durations, and an exact count for each short duration. All values include the cost of measuring,
 * which is the latency of the null clock (a clock whose read does nothing).
 */
#ifndef BARETICK_LATENCY_H
#define BARETICK_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/scale.h"
#include "clock/sample.h"

#define LATENCY_BLOCK 16
/* durations below this have an exact count for each nanosecond, as in pg_test_timing */
#define LATENCY_EXACT_NS 10000

struct latency {
	uint64_t count;       /* number of samples */
	uint64_t min_ns, max_ns;
	uint64_t max_count;   /* number of samples with the duration max_ns */
	uint64_t total_ticks; /* sum of all durations in TSC ticks */
	uint64_t total_ns;    /* sum of all durations, each rounded to ns */
	struct histogram histogram;
	uint64_t exact[LATENCY_EXACT_NS];
	/* mean durations of blocks of LATENCY_BLOCK successive samples, in 1/64 ns; and the samples after the last block */
	struct histogram blocks;
	uint64_t block_samples, block_ticks;
};

void latency_clear(struct latency *latency);

/*
 * Adds COUNT samples of one chain (see clock/sample.h). Samples with end < begin are ignored, because the TSC stepped
 * back in them. struct tsc_steps counts such steps.
 */
void latency_add_samples(struct latency *latency, const struct scale *scale, const struct sample *samples,
			 size_t count);

/*
 * Returns a percentile of the durations in ns. The percentile is given in 1/100,000; 50000 is the median. The result
 * is exact to 1.6 %, the width of a bucket. Returns 0 if there are no samples.
 */
uint64_t latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand);

/*
 * The 95 % confidence interval of a percentile. It is unknown if there are too few samples. For example, p99.9 needs
 * about 8,000 samples, because otherwise the upper end would be beyond the longest sample.
 */
struct latency_interval {
	bool known;
	uint64_t low_ns, high_ns;
};

/* Returns true if the 95 % confidence interval of a percentile of COUNT samples is known. */
bool latency_is_percentile_known(uint64_t count, uint32_t per_hundred_thousand);
struct latency_interval latency_percentile_interval(const struct latency *latency, uint32_t per_hundred_thousand);

/*
 * Statistics without hits. A hit is a sample that is longer than the median plus a threshold, because a gap
 * interrupted it.
 */
struct latency_clean {
	/*
	 * number of hits, and number of other samples; the limit between them is exact to 1.6 %, the width of a bucket
	 */
	uint64_t hit, count;
	uint64_t p99_ns, p999_ns, max_ns;  /* percentiles and maximum without hits */
};

struct latency_clean latency_without_interrupted_reads(const struct latency *latency, uint64_t threshold_ns);

/*
 * The typical duration of a sample in ps, with its 95 % confidence interval: the median of the means of blocks of
 * successive samples. Disturbed samples do not move it as long as they are in less than half of the blocks. The mean of
 * a block averages out the steps of a TSC that counts by more than 1, which the median of single samples does not.
 * All values are 0 if there are no samples.
 */
struct latency_typical {
	uint64_t ps, low_ps, high_ps;
};

struct latency_typical latency_get_typical(const struct latency *latency);

/*
 * Returns true if the sample at this percentile is a hit. The percentile then shows stolen time and not the clock's
 * latency. Returns false if there are too few samples.
 */
bool latency_is_percentile_interrupted(const struct latency *latency, uint32_t per_hundred_thousand,
				       uint64_t threshold_ns);

/*
 * latency_mean_ps() returns the mean duration of a sample in ps. latency_loop_time_ps() returns the total time
 * divided by the number of samples, without rounding each sample to ns. Both return 0 if there are no samples.
 */
uint64_t latency_mean_ps(const struct latency *latency);
uint64_t latency_loop_time_ps(const struct latency *latency, const struct scale *scale);

#endif
