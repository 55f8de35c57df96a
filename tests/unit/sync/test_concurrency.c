/* Tests of the number of pairs that are measured at the same time. It grows, falls, and then stays. */
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

TEST(it_doubles_from_1_to_the_greatest_while_none_suffers)
{
	static const size_t expected[] = { 1, 2, 4, 8, 16, 16, 16 };
	struct concurrency width = width_of(16);

	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(width.now, expected[i]);
		assert_int_equal(width.settled, expected[i] == 16);
		concurrency_update(&width, FINE);
	}
}

TEST(it_never_exceeds_a_greatest_that_is_no_power_of_two)
{
	static const size_t expected[] = { 1, 2, 4, 8, 13, 13 };
	struct concurrency width = width_of(13);

	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(width.now, expected[i]);
		concurrency_update(&width, FINE);
	}
}

TEST(it_steps_back_and_settles_when_the_median_is_over_32_of_the_best)
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

TEST(a_median_of_exactly_32_times_the_best_is_no_suffering)
{
	struct concurrency width = width_of(64);

	concurrency_update(&width, FINE);
	concurrency_update(&width, LEAST_SUFFERING - 1);
	assert_int_equal(width.now, 4);
	assert_false(width.settled);
}

TEST(it_steps_back_again_whenever_it_suffers_again_but_not_below_1)
{
	static const size_t expected[] = { 4, 2, 1, 1, 1 };
	struct concurrency width = width_of(64);

	learn_times(&width, 3, FINE);
	for (size_t i = 0; i < 5; i++) {
		concurrency_update(&width, 1000 * FINE);
		assert_int_equal(width.now, expected[i]);
	}
}

TEST(it_steps_back_from_the_greatest_too)
{
	struct concurrency width = width_of(5);

	learn_times(&width, 6, FINE);
	assert_int_equal(width.now, 5);
	concurrency_update(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 2);
	learn_times(&width, 3, FINE);
	assert_int_equal(width.now, 2);
}

TEST(what_is_suffered_is_measured_against_the_best_of_any_width)
{
	struct concurrency width = width_of(64);

	concurrency_update(&width, 10 * FINE);
	concurrency_update(&width, FINE); /* a pair with shorter round trips that is measured later */
	assert_int_equal(width.best_ticks, FINE);
	concurrency_update(&width, 20 * FINE);
	assert_int_equal(width.best_ticks, FINE);
	assert_int_equal(width.now, 8);
	concurrency_update(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 4);
}

TEST(a_batch_without_a_pingpong_teaches_nothing)
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

TEST(one_pair_has_nothing_to_learn)
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
	concurrency_update(&width, UINT64_MAX); /* more than 32 times the shortest round trip */
	assert_true(width.now == SIZE_MAX / 2);
}
