/*
 * Tests of the number of pairs that are measured at the same time. This number grows until the ping-pongs become slow.
 * Then the number falls and stays.
 */
#include "test.h"
#include "sync/pair_schedule.h"

#define FINE 400 /* duration in ticks of a round trip between two running cores */
#define LEAST_SUFFERING (32 * FINE + 1)

static struct concurrency
width_of(size_t max)
{
	struct concurrency width;

	concurrency_init(&width, max);
	return width;
}

static void
learn_times(struct concurrency *width, size_t times, uint64_t median_ticks)
{
	for (size_t i = 0; i < times; i++)
		concurrency_update(width, median_ticks);
}

TEST(the_number_of_pairs_doubles_up_to_its_limit_while_no_pingpong_is_slow)
{
	static const size_t expected[] = { 1, 2, 4, 8, 16, 16, 16 };
	struct concurrency width = width_of(16);

	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(width.now, expected[i]);
		assert_int_equal(width.settled, expected[i] == 16);
		concurrency_update(&width, FINE);
	}
}

TEST(the_number_of_pairs_never_exceeds_a_limit_that_is_no_power_of_two)
{
	static const size_t expected[] = { 1, 2, 4, 8, 13, 13 };
	struct concurrency width = width_of(13);

	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(width.now, expected[i]);
		concurrency_update(&width, FINE);
	}
}

TEST(the_number_of_pairs_falls_and_stays_if_the_median_exceeds_32_times_the_best)
{
	struct concurrency width = width_of(64);

	learn_times(&width, 3, FINE);
	assert_int_equal(width.now, 8);
	concurrency_update(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 4);
	assert_true(width.settled);
	learn_times(&width, 10, FINE);
	assert_int_equal(width.now, 4);
}

TEST(a_median_of_exactly_32_times_the_best_is_not_slow)
{
	struct concurrency width = width_of(64);

	concurrency_update(&width, FINE);
	concurrency_update(&width, LEAST_SUFFERING - 1);
	assert_int_equal(width.now, 4);
	assert_false(width.settled);
}

TEST(the_number_of_pairs_falls_each_time_pingpongs_are_slow_but_not_below_1)
{
	static const size_t expected[] = { 4, 2, 1, 1, 1 };
	struct concurrency width = width_of(64);

	learn_times(&width, 3, FINE);
	for (size_t i = 0; i < 5; i++) {
		concurrency_update(&width, 1000 * FINE);
		assert_int_equal(width.now, expected[i]);
	}
}

TEST(the_number_of_pairs_falls_from_its_limit_too)
{
	struct concurrency width = width_of(5);

	learn_times(&width, 6, FINE);
	assert_int_equal(width.now, 5);
	concurrency_update(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 2);
	learn_times(&width, 3, FINE);
	assert_int_equal(width.now, 2);
}

TEST(pingpongs_are_compared_with_the_best_at_any_number_of_pairs)
{
	struct concurrency width = width_of(64);

	concurrency_update(&width, 10 * FINE);
	concurrency_update(&width, FINE); /* a later pair has shorter round trips */
	assert_int_equal(width.best_ticks, FINE);
	concurrency_update(&width, 20 * FINE);
	assert_int_equal(width.best_ticks, FINE);
	assert_int_equal(width.now, 8);
	concurrency_update(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 4);
}

TEST(a_batch_without_a_pingpong_changes_nothing)
{
	struct concurrency width = width_of(64);

	learn_times(&width, 5, 0);
	assert_int_equal(width.now, 1);
	assert_int_equal(width.best_ticks, 0);
	assert_false(width.settled);
	learn_times(&width, 2, FINE);
	concurrency_update(&width, 0);
	assert_int_equal(width.now, 4);
	assert_int_equal(width.best_ticks, FINE);
}

TEST(with_one_pair_the_number_of_pairs_is_always_1)
{
	for (size_t max = 0; max <= 1; max++) {
		struct concurrency width = width_of(max);

		assert_int_equal(width.max, 1);
		assert_true(width.settled);
		concurrency_update(&width, FINE);
		concurrency_update(&width, UINT64_MAX);
		assert_int_equal(width.now, 1);
	}
}

TEST(figures_at_the_end_of_their_range_do_not_overflow)
{
	struct concurrency width = width_of(SIZE_MAX);

	learn_times(&width, 70, UINT64_MAX);
	assert_true(width.now == SIZE_MAX);
	concurrency_update(&width, UINT64_MAX / 32);
	assert_true(width.now == SIZE_MAX);
	concurrency_update(&width, UINT64_MAX); /* this round trip is more than 32 times the shortest one */
	assert_true(width.now == SIZE_MAX / 2);
}
