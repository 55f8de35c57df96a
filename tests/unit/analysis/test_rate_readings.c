/* The readings of a clock between two times. The clock's rate is calculated from them. */
#include "test.h"
#include "analysis/rate_readings.h"

static struct report report;
static struct rate_readings readings;

/*
 * Makes a reading at each TSC value in BEGINS. The first and the last are the ends, and the others are looks (readings
 * in between).
 */
static void
set_looks(const uint64_t *begins, size_t count)
{
	report = (struct report){ .facts.clock_count = 1,
				  .facts.clocks = { { .clock = { .id = "hpet", .main = "hpet" } } } };
	readings = (struct rate_readings){ .report = &report, .entry = &report.facts.clocks[0], .batch_count = count };
	for (size_t i = 0; i < count; i++)
		readings.batches[i].sample = (struct sample){ begins[i], i, begins[i] + 1 };
}

static struct rate_ends
from_to(size_t from, size_t to)
{
	return rate_readings_get_batches_between(&readings, &readings.batches[from].sample, &readings.batches[to].sample);
}

TEST(a_rate_uses_all_looks_between_its_ends_and_no_others)
{
	static const uint64_t begins[] = { 100, 200, 300, 400, 500 };

	set_looks(begins, 5);
	for (size_t from = 0; from < 5; from++)
		for (size_t to = from; to < 5; to++) {
			struct rate_ends ends = from_to(from, to);

			assert_int_equal(ends.count, to - from + 1);
			for (size_t i = 0; i < ends.count; i++)
				assert_int_equal(ends.ends[i].sample.ticks, from + i);
		}
}

/* After the look at 300, the TSC stepped back by 150. */
TEST(after_a_step_back_looks_before_the_latest_time_are_left_out)
{
	static const uint64_t begins[] = { 100, 200, 300, 250, 400 };

	set_looks(begins, 5);
	struct rate_ends ends = from_to(0, 4);
	assert_int_equal(ends.count, 4);
	assert_int_equal(ends.ends[2].sample.begin, 300);
	assert_int_equal(ends.ends[3].sample.begin, 400);
}

TEST(wraps_are_ambiguous_if_the_rate_leaves_a_quarter_of_the_range_open)
{
	const struct clock pm = { .wrap_ticks = 0xffffff }, hpet = { .wrap_ticks = UINT64_MAX };
	const struct rate_interval exact = { true, 1000000, 1000000, 1000000 };
	const struct rate_interval within_1_percent = { true, 1000000, 1000000, 1010000 };
	uint64_t quarter_ticks = UINT64_C(0x400000);

	assert_false(rate_may_wraps_be_miscounted(&pm, &exact, UINT64_C(1) << 40, 0));
	assert_false(rate_may_wraps_be_miscounted(&pm, &within_1_percent, quarter_ticks * 100, 0));
	assert_true(rate_may_wraps_be_miscounted(&pm, &within_1_percent, quarter_ticks * 100 + 100, 0));
	assert_false(rate_may_wraps_be_miscounted(&pm, &exact, quarter_ticks * 1000, 1000000));
	assert_true(rate_may_wraps_be_miscounted(&pm, &exact, quarter_ticks * 1000 + 1000, 1000000));
	assert_false(rate_may_wraps_be_miscounted(&hpet, &within_1_percent, UINT64_C(1) << 60, 1000000));
}

/*
 * Returns the TSC's rate by two readings of a clock of 10 MHz. It advanced by COUNTED ticks in 10^9 ticks of the TSC.
 */
static struct rate_interval
rate_by_two_readings(uint64_t counted)
{
	const struct sample first = { 1000, 0, 1010 }, last = { 1000001000, counted, 1000001010 };

	report = (struct report){ .facts.clock_count = 1,
				  .facts.clocks = { { .clock = { .id = "hpet", .main = "hpet",
								 .claimed = { 10000000, 1 } } } } };
	readings = (struct rate_readings){ .report = &report, .entry = &report.facts.clocks[0], .smallest_ticks = 1 };
	scale_init(&readings.scale, (struct rate){ 1000000000, 1 });
	return rate_readings_implied_rate_of_two_samples(&readings, &first, &last);
}

/* The TSC counts 10^9 ticks in a second. If another clock counts 2,000 seconds then, the TSC stopped or jumped. */
TEST(a_rate_by_two_readings_is_unknown_if_it_is_implausible)
{
	struct rate_interval rate = rate_by_two_readings(10000000);

	assert_true(rate.known);
	assert_in_range(UINT64_C(1000000000000000), rate.low, rate.high);
	assert_true(rate_by_two_readings(UINT64_C(500) * 10000000).known);
	assert_false(rate_by_two_readings(UINT64_C(2000) * 10000000).known);
	assert_false(rate_by_two_readings(5000).known);
}
