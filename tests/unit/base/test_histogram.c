/*
 * The histogram: each value belongs to one bucket, each bucket is as narrow as specified, and values that are refused
 * are counted.
 */
#include "test.h"
#include "base/histogram.h"

static struct histogram histogram;

static void
begin(void)
{
	histogram_clear(&histogram);
}

TEST_FIXTURE(begin, NULL);

TEST(buckets_cover_all_values_without_gaps)
{
	uint64_t next = 0;

	for (size_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		uint64_t low = histogram_bucket_low(bucket), high = histogram_bucket_high(bucket);

		assert_int_equal(low, next);
		assert_true(high >= low);
		assert_int_equal(histogram_find_bucket(low), bucket);
		assert_int_equal(histogram_find_bucket(high), bucket);
		/* A bucket is at most 1/64 of its smallest value wide. */
		assert_true((high - low + 1) * 64 <= low || high == low);
		next = high + 1;
	}
	assert_int_equal(next, 0); /* the buckets end after UINT64_MAX */
}

TEST(the_limits_of_some_buckets_are_right)
{
	assert_int_equal(histogram_find_bucket(0), 0);
	assert_int_equal(histogram_find_bucket(127), 127);
	assert_int_equal(histogram_find_bucket(128), 128);
	assert_int_equal(histogram_find_bucket(129), 128);
	assert_int_equal(histogram_find_bucket(130), 129);
	assert_int_equal(histogram_find_bucket(255), 191);
	assert_int_equal(histogram_find_bucket(256), 192);
	assert_int_equal(histogram_find_bucket((UINT64_C(1) << 40) - 1), 2239);
	assert_int_equal(histogram_find_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

TEST(the_largest_values_are_counted_like_any_other)
{
	histogram_record(&histogram, UINT64_C(1) << 40);
	histogram_record(&histogram, UINT64_MAX);
	assert_int_equal(histogram.total, 2);
	assert_int_equal(histogram.counts[2240], 1);
	assert_int_equal(histogram.counts[HISTOGRAM_BUCKETS - 1], 1);
	assert_int_equal(histogram_quantile(&histogram, 100000), UINT64_MAX);
}

TEST(quantiles_of_the_numbers_1_to_100_are_right)
{
	assert_int_equal(histogram_quantile(&histogram, 50000), 0);
	for (uint64_t value = 1; value <= 100; value++)
		histogram_record(&histogram, value);
	assert_int_equal(histogram_quantile(&histogram, 0), 1);
	assert_int_equal(histogram_quantile(&histogram, 1), 1);
	assert_int_equal(histogram_quantile(&histogram, 50000), 50);
	assert_int_equal(histogram_quantile(&histogram, 50001), 51);
	assert_int_equal(histogram_quantile(&histogram, 99000), 99);
	assert_int_equal(histogram_quantile(&histogram, 99001), 100);
	assert_int_equal(histogram_quantile(&histogram, 100000), 100);
	assert_int_equal(histogram_quantile(&histogram, UINT32_MAX), 100);
}

TEST(a_quantile_of_few_values_is_the_upper_end_of_a_used_bucket)
{
	for (unsigned i = 0; i < 3; i++)
		histogram_record(&histogram, 1000);
	histogram_record(&histogram, 1000000);
	/* the values from 1000 to 1007 share one bucket */
	assert_int_equal(histogram_quantile(&histogram, 75000), 1007);
	assert_int_equal(histogram_quantile(&histogram, 75001), 1007615); /* 999424 to 1007615 */
}

TEST(a_quantile_of_many_values_does_not_overflow)
{
	histogram.counts[5] = UINT64_C(1) << 62;
	histogram.counts[9] = UINT64_C(1) << 62;
	histogram.total = UINT64_C(1) << 63;
	assert_int_equal(histogram_quantile(&histogram, 50000), 5);
	assert_int_equal(histogram_quantile(&histogram, 50001), 9);
}

TEST(each_value_is_counted_in_the_smallest_octave_that_includes_it)
{
	static const uint64_t values[] = { 0, 1, 2, 3, 4, 7, 8, 1023, 1024, 1024 + 512, UINT64_MAX };
	uint64_t total = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		histogram_record(&histogram, values[i]);
	assert_int_equal(histogram_count_in_octave(&histogram, 0), 1);  /* <= 0 */
	assert_int_equal(histogram_count_in_octave(&histogram, 1), 1);  /* <= 1 */
	assert_int_equal(histogram_count_in_octave(&histogram, 2), 2);  /* <= 3 */
	assert_int_equal(histogram_count_in_octave(&histogram, 3), 2);  /* <= 7 */
	assert_int_equal(histogram_count_in_octave(&histogram, 4), 1);  /* <= 15 */
	assert_int_equal(histogram_count_in_octave(&histogram, 10), 1); /* <= 1023 */
	assert_int_equal(histogram_count_in_octave(&histogram, 11), 2); /* <= 2047 */
	assert_int_equal(histogram_count_in_octave(&histogram, 64), 1); /* <= UINT64_MAX */
	for (size_t octave = 0; octave < OCTAVES; octave++)
		total += histogram_count_in_octave(&histogram, octave);
	assert_int_equal(total, sizeof(values) / sizeof(values[0]));
}

TEST(each_octave_ends_where_the_next_starts)
{
	assert_int_equal(octave_of(0), 0);
	assert_int_equal(octave_high(0), 0);
	for (size_t octave = 1; octave < OCTAVES; octave++) {
		assert_int_equal(octave_of(octave_high(octave - 1) + 1), octave);
		assert_int_equal(octave_of(octave_high(octave)), octave);
	}
	assert_int_equal(octave_high(12), 4095);
	assert_int_equal(octave_high(OCTAVES - 1), UINT64_MAX);
}
