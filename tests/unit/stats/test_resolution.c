/* Tests of a clock's resolution, from hand-written readings. */
#include "test.h"
#include "stats/resolution.h"

#define RUN 64

static const struct clock bits_24 = { .id = "acpi_pm", .main = "acpi_pm", .wrap_ticks = 0xffffff };
static const struct clock bits_64 = { .id = "hpet", .main = "hpet", .wrap_ticks = UINT64_MAX };
static const struct clock seconds = { .id = "rtc", .main = "rtc", .wrap_ticks = 59 };
static const struct clock tsc = { .id = "tsc", .main = "tsc", .wrap_ticks = UINT64_MAX };
static struct resolution resolution;

static void
begin_empty(void)
{
	resolution = (struct resolution){ .steps = 0 };
}

TEST_FIXTURE(begin_empty, NULL);

static void
add_reads(const struct clock *clock, const uint64_t *readings, size_t count)
{
	struct sample samples[RUN];

	for (size_t i = 0; i < count; i++)
		samples[i] = (struct sample){ 100 * i, readings[i], 100 * i + 100 };
	resolution_add_samples(&resolution, clock, 0, samples, count);
}

TEST(a_clock_that_does_not_move_has_no_steps)
{
	add_reads(&bits_24, NULL, 0);
	add_reads(&bits_24, (const uint64_t[]){ 7 }, 1);
	add_reads(&bits_24, (const uint64_t[]){ 5, 5, 5 }, 3);
	assert_int_equal(resolution.steps, 0);
	assert_int_equal(resolution.gcd_ticks, 0);
}

TEST(steps_of_52_78_and_130_have_the_divisor_26)
{
	add_reads(&bits_64, (const uint64_t[]){ 0, 78, 130, 130, 182, 312 }, 6); /* 78, 52, 0, 52, 130 */
	assert_int_equal(resolution.steps, 4);
	assert_int_equal(resolution.smallest_ticks, 52);
	assert_int_equal(resolution.gcd_ticks, 26);
}

TEST(an_even_counter_lags_by_one_step)
{
	add_reads(&bits_64, (const uint64_t[]){ 0, 21, 21, 42, 84 }, 5);
	assert_int_equal(resolution_largest_lag_ticks(&resolution), 21);
}

/* The counter is calculated from a slower one: 21.7 ticks for each of that counter's ticks. */
TEST(a_calculated_counter_lags_by_two_ticks_more_than_its_smallest_step)
{
	add_reads(&bits_64, (const uint64_t[]){ 0, 21, 21, 43, 65, 86 }, 6);
	assert_int_equal(resolution.gcd_ticks, 1);
	assert_int_equal(resolution_largest_lag_ticks(&resolution), 23);
}

TEST(a_counter_that_steps_faster_than_it_is_read_is_taken_for_even)
{
	assert_int_equal(resolution_largest_lag_ticks(&resolution), 1);
	add_reads(&bits_64, (const uint64_t[]){ 0, 21, 43, 65, 86 }, 5);
	assert_int_equal(resolution_largest_lag_ticks(&resolution), 1);
}

/*
 * In an emulator that counts instructions, each turn of the loop takes 608 ticks, and the clock is read after 288 of
 * these ticks.
 */
TEST(readings_of_the_tsc_after_288_of_608_ticks_have_the_divisor_32)
{
	static const struct sample samples[] = { { 0, 288, 608 }, { 608, 896, 1216 }, { 1216, 1504, 1824 } };

	resolution_add_samples(&resolution, &bits_64, 0, samples, 3);
	assert_int_equal(resolution.gcd_ticks, 608);
	resolution_add_samples(&resolution, &tsc, 0, samples, 3);
	assert_int_equal(resolution.gcd_ticks, 32);
	assert_int_equal(resolution.smallest_ticks, 608);
}

TEST(there_is_no_step_between_two_series)
{
	add_reads(&bits_64, (const uint64_t[]){ 0, 10 }, 2);
	add_reads(&bits_64, (const uint64_t[]){ 13, 23 }, 2);
	assert_int_equal(resolution.steps, 2);
	assert_int_equal(resolution.gcd_ticks, 10);
}

TEST(a_wrap_is_a_step_like_any_other)
{
	add_reads(&bits_24, (const uint64_t[]){ 0xfffffe, 3 }, 2);
	assert_int_equal(resolution.gcd_ticks, 5);
	resolution = (struct resolution){ .steps = 0 };
	add_reads(&seconds, (const uint64_t[]){ 58, 59, 0, 1 }, 4);
	assert_int_equal(resolution.steps, 3);
	assert_int_equal(resolution.gcd_ticks, 1);
}

TEST(a_step_of_more_than_half_the_range_is_not_a_step_forward)
{
	add_reads(&seconds, (const uint64_t[]){ 31, 30 }, 2); /* 59 of 60 */
	add_reads(&seconds, (const uint64_t[]){ 0, 31 }, 2);
	add_reads(&bits_24, (const uint64_t[]){ 0, 0x800001 }, 2);
	add_reads(&bits_64, (const uint64_t[]){ 1, 0 }, 2);
	assert_int_equal(resolution.steps, 0);
	add_reads(&seconds, (const uint64_t[]){ 0, 30 }, 2);
	assert_int_equal(resolution.steps, 1);
	assert_int_equal(resolution.smallest_ticks, 30);
}

TEST(steps_of_4096_and_more_are_counted_too)
{
	add_reads(&bits_64, (const uint64_t[]){ 0, 6000, 12000, 15000, 21000 }, 5);
	assert_int_equal(resolution.steps, 4);
	assert_int_equal(resolution.smallest_ticks, 3000);
	assert_int_equal(resolution.gcd_ticks, 3000);
}

TEST(steps_of_18_sizes_count_for_the_divisor_and_the_minimum)
{
	uint64_t readings[19] = { 0 };

	for (uint64_t i = 1; i <= 16; i++)
		readings[i] = readings[i - 1] + 100000 * i + 100000;
	readings[17] = readings[16] + 50050;
	readings[18] = readings[17] + 50050;
	add_reads(&bits_64, readings, 19);
	assert_int_equal(resolution.steps, 18);
	assert_int_equal(resolution.smallest_ticks, 50050);
	assert_int_equal(resolution.gcd_ticks, 50);
}

TEST(two_read_methods_share_the_divisor_of_all_their_steps)
{
	struct resolution other = { .steps = 3, .smallest_ticks = 45, .gcd_ticks = 15 };

	resolution_merge_other(&resolution, &resolution);
	assert_int_equal(resolution.steps, 0);
	add_reads(&bits_64, (const uint64_t[]){ 0, 60, 80 }, 3);
	resolution_merge_other(&other, &resolution);
	assert_int_equal(other.steps, 5);
	assert_int_equal(other.smallest_ticks, 20);
	assert_int_equal(other.gcd_ticks, 5);
}
