/* How many pairs play side by side: grows, steps back, settles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "concurrency.h"

#define FINE 400 /* ticks of a round trip between cores that both run */
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
		concurrency_learn(width, median_ticks);
}

static void
it_doubles_from_1_to_the_greatest_while_none_suffers(void **state)
{
	static const size_t expected[] = { 1, 2, 4, 8, 16, 16, 16 };
	struct concurrency width = width_of(16);

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(width.now, expected[i]);
		assert_int_equal(width.settled, expected[i] == 16);
		concurrency_learn(&width, FINE);
	}
}

static void
it_never_exceeds_a_greatest_that_is_no_power_of_two(void **state)
{
	static const size_t expected[] = { 1, 2, 4, 8, 13, 13 };
	struct concurrency width = width_of(13);

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(width.now, expected[i]);
		concurrency_learn(&width, FINE);
	}
}

static void
it_steps_back_and_settles_when_the_median_is_over_32_of_the_best(void **state)
{
	struct concurrency width = width_of(64);

	(void)state;
	learn_times(&width, 3, FINE);
	assert_int_equal(width.now, 8);
	concurrency_learn(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 4);
	assert_true(width.settled);
	learn_times(&width, 10, FINE);
	assert_int_equal(width.now, 4);
}

static void
a_median_of_exactly_32_times_the_best_is_no_suffering(void **state)
{
	struct concurrency width = width_of(64);

	(void)state;
	concurrency_learn(&width, FINE);
	concurrency_learn(&width, LEAST_SUFFERING - 1);
	assert_int_equal(width.now, 4);
	assert_false(width.settled);
}

static void
it_steps_back_again_whenever_it_suffers_again_but_not_below_1(void **state)
{
	static const size_t expected[] = { 4, 2, 1, 1, 1 };
	struct concurrency width = width_of(64);

	(void)state;
	learn_times(&width, 3, FINE);
	for (size_t i = 0; i < 5; i++) {
		concurrency_learn(&width, 1000 * FINE);
		assert_int_equal(width.now, expected[i]);
	}
}

static void
it_steps_back_from_the_greatest_too(void **state)
{
	struct concurrency width = width_of(5);

	(void)state;
	learn_times(&width, 6, FINE);
	assert_int_equal(width.now, 5);
	concurrency_learn(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 2);
	learn_times(&width, 3, FINE);
	assert_int_equal(width.now, 2);
}

static void
what_is_suffered_is_measured_against_the_best_of_any_width(void **state)
{
	struct concurrency width = width_of(64);

	(void)state;
	concurrency_learn(&width, 10 * FINE);
	concurrency_learn(&width, FINE); /* a closer pair, played later */
	assert_int_equal(width.best_ticks, FINE);
	concurrency_learn(&width, 20 * FINE);
	assert_int_equal(width.best_ticks, FINE);
	assert_int_equal(width.now, 8);
	concurrency_learn(&width, LEAST_SUFFERING);
	assert_int_equal(width.now, 4);
}

static void
a_batch_without_a_pingpong_teaches_nothing(void **state)
{
	struct concurrency width = width_of(64);

	(void)state;
	learn_times(&width, 5, 0);
	assert_int_equal(width.now, 1);
	assert_int_equal(width.best_ticks, 0);
	assert_false(width.settled);
	learn_times(&width, 2, FINE);
	concurrency_learn(&width, 0);
	assert_int_equal(width.now, 4);
	assert_int_equal(width.best_ticks, FINE);
}

static void
one_pair_has_nothing_to_learn(void **state)
{
	(void)state;
	for (size_t max = 0; max <= 1; max++) {
		struct concurrency width = width_of(max);

		assert_int_equal(width.max, 1);
		assert_true(width.settled);
		concurrency_learn(&width, FINE);
		concurrency_learn(&width, UINT64_MAX);
		assert_int_equal(width.now, 1);
	}
}

static void
figures_at_the_end_of_their_range_do_not_overflow(void **state)
{
	struct concurrency width = width_of(SIZE_MAX);

	(void)state;
	learn_times(&width, 70, UINT64_MAX);
	assert_true(width.now == SIZE_MAX);
	concurrency_learn(&width, UINT64_MAX / 32);
	assert_true(width.now == SIZE_MAX);
	concurrency_learn(&width, UINT64_MAX); /* by 31 more than 32 times as much */
	assert_true(width.now == SIZE_MAX / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_doubles_from_1_to_the_greatest_while_none_suffers),
		cmocka_unit_test(it_never_exceeds_a_greatest_that_is_no_power_of_two),
		cmocka_unit_test(it_steps_back_and_settles_when_the_median_is_over_32_of_the_best),
		cmocka_unit_test(a_median_of_exactly_32_times_the_best_is_no_suffering),
		cmocka_unit_test(it_steps_back_again_whenever_it_suffers_again_but_not_below_1),
		cmocka_unit_test(it_steps_back_from_the_greatest_too),
		cmocka_unit_test(what_is_suffered_is_measured_against_the_best_of_any_width),
		cmocka_unit_test(a_batch_without_a_pingpong_teaches_nothing),
		cmocka_unit_test(one_pair_has_nothing_to_learn),
		cmocka_unit_test(figures_at_the_end_of_their_range_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
