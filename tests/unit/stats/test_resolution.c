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

static const struct {
	const char *name;
	const struct clock *clock;
	uint64_t readings[6];
	size_t count;
	uint64_t steps, smallest_ticks, gcd_ticks, lag_ticks;
} cases[] = {
	{ "no reading", &bits_24, { 0 }, 0, 0, 0, 0, 1 },
	{ "one reading", &bits_24, { 7 }, 1, 0, 0, 0, 1 },
	{ "a clock that does not move", &bits_24, { 5, 5, 5 }, 3, 0, 0, 0, 1 },
	{ "steps of 78, 52 and 130", &bits_64, { 0, 78, 130, 130, 182, 312 }, 6, 4, 52, 26, 54 },
	{ "an even counter lags by one step", &bits_64, { 0, 21, 21, 42, 84 }, 5, 3, 21, 21, 21 },
	/* the counter is calculated from a slower one: 21.7 ticks for each of that counter's ticks */
	{ "a calculated counter lags by two ticks more", &bits_64, { 0, 21, 21, 43, 65, 86 }, 6, 4, 21, 1, 23 },
	{ "a step at each reading is taken for even", &bits_64, { 0, 21, 43, 65, 86 }, 5, 4, 21, 1, 1 },
	{ "a wrap of 24 bits", &bits_24, { 0xfffffe, 3 }, 2, 1, 5, 5, 5 },
	{ "a wrap of a minute", &seconds, { 58, 59, 0, 1 }, 4, 3, 1, 1, 1 },
	{ "59 of 60 s are a step back", &seconds, { 31, 30 }, 2, 0, 0, 0, 1 },
	{ "31 of 60 s are a step back", &seconds, { 0, 31 }, 2, 0, 0, 0, 1 },
	{ "half of the range is a step forward", &seconds, { 0, 30 }, 2, 1, 30, 30, 30 },
	{ "more than half of 24 bits", &bits_24, { 0, 0x800001 }, 2, 0, 0, 0, 1 },
	{ "a step back of 64 bits", &bits_64, { 1, 0 }, 2, 0, 0, 0, 1 },
	{ "steps of 4,096 and more", &bits_64, { 0, 6000, 12000, 15000, 21000 }, 5, 4, 3000, 3000, 3000 },
};

TEST(steps_have_a_number_a_minimum_and_a_divisor_which_give_the_largest_lag)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_empty();
		print_message("%s\n", cases[i].name);
		add_reads(cases[i].clock, cases[i].readings, cases[i].count);
		assert_int_equal(resolution.steps, cases[i].steps);
		assert_int_equal(resolution.smallest_ticks, cases[i].smallest_ticks);
		assert_int_equal(resolution.gcd_ticks, cases[i].gcd_ticks);
		assert_int_equal(resolution_largest_lag_ticks(&resolution), cases[i].lag_ticks);
	}
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
