/* Tests of read latency, from samples that are written by hand. */

#include <math.h>

#include "test.h"
#include "stats/latency.h"

#define RUN 1000

static struct latency latency; /* static, because its 100 KB are too large for a stack */
static struct scale gigahertz;

static void
begin_empty(void)
{
	scale_init(&gigahertz, (struct rate){ 1000000000, 1 });
	latency_clear(&latency);
}

TEST_FIXTURE(begin_empty, NULL);

/* Adds a series of reads without pauses, which took DURATIONS ticks. */
static void
add_reads(const struct scale *scale, const uint64_t *durations, size_t count)
{
	struct sample samples[RUN];
	uint64_t tsc = 1000000;

	for (size_t i = 0; i < count; i++) {
		samples[i] = (struct sample){ tsc, i, tsc + durations[i] };
		tsc += durations[i];
	}
	latency_add_samples(&latency, scale, samples, count);
}

/* Adds RUN reads: numbers 0 to FIRST - 1 take FIRST_NS, FIRST to SECOND - 1 take SECOND_NS, the rest REST_NS. */
static void
add_run(size_t first, uint64_t first_ns, size_t second, uint64_t second_ns, uint64_t rest_ns)
{
	uint64_t durations[RUN];

	for (size_t i = 0; i < RUN; i++)
		durations[i] = i < first ? first_ns : i < second ? second_ns : rest_ns;
	add_reads(&gigahertz, durations, RUN);
}

TEST(without_reads_all_figures_are_0)
{
	struct latency_clean clean = latency_without_interrupted_reads(&latency, 10000);

	add_reads(&gigahertz, NULL, 0);
	assert_int_equal(latency.count, 0);
	assert_int_equal(latency_percentile_ns(&latency, 50000), 0);
	assert_int_equal(latency_mean_ps(&latency), 0);
	assert_int_equal(latency_loop_time_ps(&latency, &gigahertz), 0);
	assert_int_equal(clean.hit + clean.count + clean.max_ns, 0);
}

TEST(four_reads_have_the_right_minimum_maximum_mean_and_counts)
{
	add_reads(&gigahertz, (const uint64_t[]){ 20, 22, 9999, 10000 }, 4);
	add_reads(&gigahertz, (const uint64_t[]){ 10000, 0 }, 2);
	assert_int_equal(latency.count, 6);
	assert_int_equal(latency.min_ns, 0);
	assert_int_equal(latency.max_ns, 10000);
	assert_int_equal(latency.max_count, 2);
	assert_int_equal(latency.total_ticks, 30041);
	assert_int_equal(latency.total_ns, 30041);
	assert_int_equal(latency.exact[20], 1);
	assert_int_equal(latency.exact[9999], 1);
	assert_int_equal(latency.histogram.total, 6);
	assert_int_equal(latency_mean_ps(&latency), 5006833); /* 30,041 ns / 6 = 5,006.8333 */
	assert_int_equal(latency_loop_time_ps(&latency, &gigahertz), 5006833);
}

/* A stolen millisecond would add a quarter of a microsecond to the mean of 4,000 reads. */
TEST(a_gap_is_not_part_of_the_clean_mean)
{
	for (unsigned i = 0; i < 1000; i++)
		add_reads(&gigahertz, (const uint64_t[]){ 20, 22, i ? 20 : 1000000, 22 }, 4);
	assert_int_equal(latency_mean_ps(&latency), 270995);
	assert_int_equal(latency_without_interrupted_reads(&latency, 10000).hit, 1);
}

TEST(percentiles_are_never_above_the_longest_read)
{
	add_run(500, 50, 990, 90, 1000);
	assert_int_equal(latency.min_ns, 50);
	assert_int_equal(latency_percentile_ns(&latency, 50000), 50);
	assert_int_equal(latency_percentile_ns(&latency, 50001), 90);
	assert_int_equal(latency_percentile_ns(&latency, 99000), 90);
	/* The bucket reaches from 1000 to 1007, but no read took longer than 1000 ns. */
	assert_int_equal(latency_percentile_ns(&latency, 99900), 1000);
}

TEST(percentiles_are_within_a_64th_of_the_exact_value)
{
	uint64_t durations[RUN];

	/* The durations are the squares of 0 to 999 in a mixed order. In sorted order, the k-th is (k - 1) squared. */
	for (uint64_t i = 0; i < RUN; i++)
		durations[i] = (i * 387 % RUN) * (i * 387 % RUN);
	add_reads(&gigahertz, durations, RUN);
	for (uint32_t k = 1; k <= RUN; k++) {
		uint64_t exact = (uint64_t)(k - 1) * (k - 1), told = latency_percentile_ns(&latency, k * 100);

		assert_true(told >= exact && told - exact <= exact / 64);
	}
}

TEST(a_sample_that_ends_before_its_start_is_left_out)
{
	const struct sample samples[] = { { 100, 1, 150 }, { 150, 2, 140 }, { 140, 3, 200 } };

	latency_add_samples(&latency, &gigahertz, samples, 3);
	assert_int_equal(latency.count, 2);
	assert_int_equal(latency.max_ns, 60);
	assert_int_equal(latency.total_ticks, 110);
}

TEST(a_read_of_half_an_hour_is_counted)
{
	add_reads(&gigahertz, (const uint64_t[]){ 30, UINT64_C(1800000000000), 40 }, 3);
	assert_int_equal(latency.count, 3);
	assert_int_equal(latency.max_ns, UINT64_C(1800000000000));
	assert_int_equal(latency.max_count, 1);
	assert_int_equal(latency.total_ticks, UINT64_C(1800000000070));
	assert_int_equal(latency_percentile_ns(&latency, 100000), UINT64_C(1800000000000));
}

/*
 * Returns the probability that the percentile SHARE of COUNT reads is between the ranks LOW and HIGH, as a sum of
 * binomial terms.
 */
static double
coverage(uint64_t count, double share, uint64_t low, uint64_t high)
{
	double covered = 0;

	/* The quantile is between the ranks LOW and HIGH if at least LOW and fewer than HIGH reads are below it. */
	for (uint64_t k = low; k < high; k++)
		covered += exp(lgamma((double)count + 1) - lgamma((double)k + 1) - lgamma((double)(count - k) + 1) +
			       (double)k * log(share) + (double)(count - k) * log1p(-share));
	return covered;
}

/* Durations below 128 ns are counted exactly: each has a bucket of its own. So the reads of 1 ns and of 2 ns differ. */
TEST(the_intervals_of_percentiles_have_at_least_95_percent_confidence)
{
	static const uint32_t percentiles[] = { 50000, 90000, 99000, 99900 };

	for (size_t p = 0; p < 4; p++) {
		uint64_t first = 0;

		for (uint64_t count = 1; count <= 200000; count += count / 50 + 1) {
			struct latency_interval within;
			uint64_t low = 0, high = 0;

			/*
			 * R reads take 1 ns, and the other reads take 2 ns. A binary search finds the largest R with
			 * which an end of the percentile's confidence interval is still 2 ns. This end's rank is one
			 * more than R.
			 */
			latency_clear(&latency);
			latency.count = latency.histogram.total = count;
			latency.min_ns = 1;
			latency.max_ns = 2;
			for (uint64_t step = UINT64_C(1) << 17; step; step >>= 1) {
				for (int end = 0; end < 2; end++) {
					uint64_t *rank = end ? &high : &low;

					if (*rank + step > count)
						continue;
					latency.histogram.counts[1] = *rank + step;
					latency.histogram.counts[2] = count - *rank - step;
					within = latency_percentile_interval(&latency, percentiles[p]);
					if ((end ? within.high_ns : within.low_ns) == 2)
						*rank += step;
				}
			}
			within = latency_percentile_interval(&latency, percentiles[p]);
			if (!within.known)
				continue;
			first = first ? first : count;
			if (coverage(count, percentiles[p] / 1e5, low + 1, high + 1) < 0.95)
				fail_msg("%u of %lu: ranks %lu to %lu", percentiles[p], count, low + 1, high + 1);
		}
		assert_in_range(first, percentiles[p] == 50000 ? 5 : 600000 / (100000 - percentiles[p]),
				percentiles[p] == 50000 ? 16 : 800000 / (100000 - percentiles[p]));
	}
}

/* With fewer than 1,000 reads, p99.9 would be the longest read, which shows nothing about rarer reads. */
TEST(a_percentile_of_too_few_reads_is_unknown)
{
	add_run(999, 100, 999, 100, 5000);
	assert_false(latency_percentile_interval(&latency, 99900).known);
	assert_true(latency_percentile_interval(&latency, 99000).known);
	assert_int_equal(latency_percentile_interval(&latency, 50000).low_ns, 100);
	assert_int_equal(latency_percentile_interval(&latency, 50000).high_ns, 100);
	for (size_t i = 0; i < 9; i++)
		add_run(999, 100, 999, 100, 5000);
	assert_true(latency_percentile_interval(&latency, 99900).known);
	assert_int_equal(latency_percentile_interval(&latency, 99900).low_ns, 100);
	assert_int_equal(latency_percentile_interval(&latency, 99900).high_ns, 5000);
	latency_clear(&latency);
	assert_false(latency_percentile_interval(&latency, 50000).known);
}

TEST(the_cost_in_the_loop_is_not_rounded_to_nanoseconds)
{
	struct scale scale;

	/*
	 * At 3 GHz, 4 ticks are 1.333 ns, which the histogram counts as 1 ns. The cost in the loop is calculated from
	 * ticks.
	 */
	scale_init(&scale, (struct rate){ 3000000000, 1 });
	add_reads(&scale, (const uint64_t[]){ 4, 4, 4 }, 3);
	assert_int_equal(latency_mean_ps(&latency), 1000);
	assert_int_equal(latency_loop_time_ps(&latency, &scale), 1333);
}

/* There are 990 reads of 100 ns, 9 of 9 us, and one of 50 us. A read above 10.1 us counts as hit by stolen time. */
TEST(a_read_10_us_above_the_median_is_a_hit_and_left_out)
{
	struct latency_clean clean;

	add_run(990, 100, 999, 9000, 50000);
	clean = latency_without_interrupted_reads(&latency, 10000);
	assert_int_equal(clean.hit, 1);
	assert_int_equal(clean.count, 999);
	assert_int_equal(clean.p99_ns, 100); /* p99 is the 990th of the 999 remaining reads */
	assert_in_range(clean.p999_ns, 9000, 9000 + 9000 / 64);
	assert_in_range(clean.max_ns, 9000, 9000 + 9000 / 64);
	/* the figures that include the hits (reads that stolen time made longer) do not change */
	assert_int_equal(latency.max_ns, 50000);
	assert_int_equal(latency.count, RUN);
	/* a lower threshold leaves more reads out */
	clean = latency_without_interrupted_reads(&latency, 2000);
	assert_int_equal(clean.hit, 10);
	assert_int_equal(clean.max_ns, 100);
	assert_int_equal(latency_without_interrupted_reads(&latency, 60000).hit, 0);
	assert_int_equal(latency_without_interrupted_reads(&latency, 60000).max_ns, 50000);
}

/* The TSC counts by 20: a read of 20 ns takes 10 or 30 ns, and only the means of blocks show it. */
TEST(the_typical_read_averages_out_the_steps_of_a_coarse_tsc)
{
	uint64_t durations[RUN];

	for (size_t i = 0; i < RUN; i++)
		durations[i] = i % 2 ? 10 : 30;
	add_reads(&gigahertz, durations, RUN);
	struct latency_typical typical = latency_get_typical(&latency);
	assert_in_range(typical.ps, 20000, 20000 + 20000 / 64);
	assert_in_range(typical.low_ps, 20000 - 20000 / 64, typical.ps);
	assert_in_range(typical.high_ps, typical.ps, 20000 + 20000 / 64);
}

/* The reads of 18 of 62 blocks of 16 take ten times as long, so the mean is 3.7 times as large. */
TEST(disturbed_batches_do_not_move_the_typical_read)
{
	add_run(300, 500, 300, 500, 50);
	struct latency_typical typical = latency_get_typical(&latency);
	assert_int_equal(latency_mean_ps(&latency), 185000);
	assert_in_range(typical.ps, 50000, 50000 + 50000 / 64);
	assert_in_range(typical.low_ps, 50000 - 50000 / 64, typical.ps);
	assert_in_range(typical.high_ps, typical.ps, 50000 + 50000 / 64);
}

/* The true median of 1,000 blocks is between the 468th and the 533rd block with a probability of 95 %. */
TEST(the_interval_of_the_typical_read_contains_the_middle_blocks)
{
	uint64_t durations[LATENCY_BLOCK];

	for (size_t block = 1; block <= 1000; block++) {
		for (size_t i = 0; i < LATENCY_BLOCK; i++)
			durations[i] = 1000 * block;
		add_reads(&gigahertz, durations, LATENCY_BLOCK);
	}
	struct latency_typical typical = latency_get_typical(&latency);
	assert_in_range(typical.ps, 500000000 - 500000000 / 64, 500000000 + 500000000 / 64);
	assert_in_range(typical.low_ps, 467000000 - 467000000 / 64, 467000000);
	assert_in_range(typical.high_ps, 533000000, 533000000 + 533000000 / 64);
}

TEST(fewer_reads_than_a_block_give_their_mean_within_their_extremes)
{
	static const uint64_t durations[] = { 100, 200, 600 };

	assert_int_equal(latency_get_typical(&latency).ps, 0);
	add_reads(&gigahertz, durations, 3);
	struct latency_typical typical = latency_get_typical(&latency);
	assert_int_equal(typical.ps, 300000);
	assert_int_equal(typical.low_ps, 100000);
	assert_int_equal(typical.high_ps, 600000);
}

/*
 * The p99.9 of 10,000 reads is the 9,990th read in order of duration. The percentile is a hit if this read is a hit (a
 * read that stolen time made longer).
 */
TEST(a_percentile_is_a_hit_if_its_read_is_a_hit)
{
	for (size_t run = 0; run < 9; run++)
		add_run(0, 0, RUN, 100, 0);
	add_run(10, 20000, RUN, 100, 0);
	assert_int_equal(latency.count, 10000);
	assert_false(latency_is_percentile_interrupted(&latency, 99900, 10000));
	add_reads(&gigahertz, (const uint64_t[]){ 20000, 20000 }, 2);
	assert_true(latency_is_percentile_interrupted(&latency, 99900, 10000));
	assert_false(latency_is_percentile_interrupted(&latency, 99900, 20000));
	assert_false(latency_is_percentile_interrupted(&latency, 99000, 10000));
}

/*
 * If most reads take 1 ms, a read of 1,009 us is less than 10 us longer, so it is no hit. With a threshold above all
 * durations, no read is a hit.
 */
TEST(long_reads_of_a_slow_clock_are_no_hits)
{
	add_reads(&gigahertz, (const uint64_t[]){ 1000000, 1000000, 1009000, 1100000 }, 4);
	assert_int_equal(latency_without_interrupted_reads(&latency, 10000).hit, 1);
	assert_int_equal(latency_without_interrupted_reads(&latency, 10000).count, 3);
	assert_int_equal(latency_without_interrupted_reads(&latency, UINT64_C(1) << 40).hit, 0);
}

TEST(the_99th_percentile_is_known_from_about_780_reads_on)
{
	for (size_t count = 1; count < 2 * RUN; count++) {
		add_reads(&gigahertz, (const uint64_t[]){ 100 + count }, 1);
		assert_true(latency_is_percentile_known(count, 99000) == latency_percentile_interval(&latency, 99000).known);
	}
	assert_false(latency_is_percentile_known(750, 99000));
	assert_true(latency_is_percentile_known(800, 99000));
}
