/*
 * Errors of kernels' calibration loops, calculated from records that the tests write. The TSC's rate is 2 GHz, exact
 * to 0.5 ppm.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "base/number.h"
#include "advice/recommend.h"
#include "record/record.h"

#define NONE CALIBRATION_NONE

static uint8_t bytes[65536];
static struct record record;
static struct report report;
static const struct calibration_loop quick = {
	.id = "linux_pit", .clock = "tsc", .refusals = { "it is slow", "it is late" },
};
static const struct calibration_loop slow = { .id = "linux_reference", .clock = "tsc", .refusals = { "it is mute" } };

static void
begin(void)
{
	memset(&report, 0, sizeof(report));
	report.figures.tsc = (struct rate){ 2000000000, 1 };
	report.figures.tsc_within = (struct rate_interval){ true, 2000000000000000, 1999999000000000,
							    2000001000000000 };
	report.facts.calibration_count = 2;
	report.facts.calibrations[0].loop = &quick;
	report.facts.calibrations[1].loop = &slow;
	record_begin(&record, bytes, sizeof(bytes));
}

TEST_FIXTURE(begin, NULL);

static void
put(const struct record_calibration *fixed, const struct record_calibrated *runs, size_t count)
{
	assert_true(record_put(&record, RECORD_CALIBRATION, fixed, runs, count));
}

static const struct calibration_figures *
analyse(size_t row)
{
	analysis_calculate_calibrations(bytes, record.length, &report, &report.figures);
	recommend_describe_calibrations(&report, &report.advice);
	return &report.figures.calibrations[row];
}

static const char *
remark_on(size_t row)
{
	(void)analyse(row);
	return report.advice.remarks[row];
}

static void
assert_ppb(const struct interval_ppb *ppb, int64_t value, int64_t low, int64_t high)
{
	assert_true(ppb->known);
	assert_int_equal(ppb->value, value);
	assert_int_equal(ppb->low, low);
	assert_int_equal(ppb->high, high);
}

static const struct record_calibration of_quick = { .loop = "linux_pit" }, of_slow = { .loop = "linux_reference" };

/* The record has two entries of one loop, with an entry of another loop between them. */
TEST(median_and_worst_error_include_all_runs_with_a_rate)
{
	put(&of_quick, (struct record_calibrated[]){ { 2000100000, NONE }, { 0, 1 }, { 1999800000, NONE } }, 3);
	put(&of_slow, (struct record_calibrated[]){ { 2000000000, NONE } }, 1);
	put(&of_quick, (struct record_calibrated[]){ { 2000002000, NONE }, { 0, 1 }, { 0, 0 } }, 3);
	assert_ppb(&analyse(0)->median, 1000, 499, 1501);
	assert_ppb(&report.figures.calibrations[0].worst, -100000, -100500, -99500);
	assert_int_equal(report.figures.calibrations[0].runs, 6);
	assert_int_equal(report.figures.calibrations[0].refused, 3);
	assert_int_equal(report.figures.calibrations[0].refusal_count, 2);
	assert_string_equal(report.figures.calibrations[0].refusals[0].reason, "it is slow");
	assert_int_equal(report.figures.calibrations[0].refusals[0].count, 1);
	assert_int_equal(report.figures.calibrations[0].refusals[1].count, 2);
	assert_int_equal(report.figures.calibrations[1].runs, 1);
	assert_string_equal(report.advice.calibrated,
			    "Linux's calibration loop for the TSC, run here, is wrong by up to 100.0 ppm in 3 runs. "
			    "The quick loop gives no rate in 3 of 6 runs. Linux then "
			    "uses the slower loop, which is wrong by up to 0.0 ppm.");
}

TEST(if_a_kernels_quick_loop_always_fails_its_slower_loop_counts)
{
	put(&of_quick, (struct record_calibrated[]){ { 0, 0 }, { 0, 0 } }, 2);
	put(&of_slow, (struct record_calibrated[]){ { 2000005000, NONE } }, 1);
	assert_false(analyse(0)->median.known);
	assert_string_equal(report.advice.calibrated,
			    "Linux's calibration loop for the TSC, run here, is wrong by up to 2.5 ppm in 1 run, by "
			    "the slower loop. The quick loop gives no rate in each of 2 runs.");
}

TEST(a_loop_without_a_run_has_no_error)
{
	assert_int_equal(analyse(0)->runs, 0);
	assert_string_equal(report.advice.calibrated, "");
}

/* The timer counts at 100 MHz, so its number of ticks is exact to 1 in 100,000. The TSC's rate is exact to 0.5 ppm. */
TEST(the_rate_of_another_clock_follows_from_its_ticks_and_the_tscs)
{
	const struct record_calibration fixed = { .loop = "linux_pit", .ticks = 10000000, .slack_ticks = 100,
						  .tsc_ticks = 200000000 };

	put(&fixed, (struct record_calibrated[]){ { 100001000, NONE } }, 1);
	assert_ppb(&analyse(0)->worst, 10000, -500, 20501);
}

/* EDK II's loop takes 101.4 us, which are 202,800 TSC ticks. */
static const struct calibration_loop edk2 = { .id = "edk2", .clock = "tsc" };
static const struct record_calibration of_edk2 = { .loop = "edk2" };

static void
put_readings_of_edk2(uint32_t run, uint64_t ticks)
{
	const struct record_loop fixed = { .loop = "edk2", .run = run };
	const struct record_taken readings[] = { { 1000 }, { 1000 + ticks } };

	assert_true(record_put(&record, RECORD_LOOP, &fixed, readings, 2));
}

TEST(a_result_that_is_far_off_is_explained_if_the_record_proves_an_interruption)
{
	report.facts.calibrations[0].loop = &edk2;
	put_readings_of_edk2(0, 202800);
	put_readings_of_edk2(1, 20000000);
	put(&of_edk2, (struct record_calibrated[]){ { 1999810800, NONE }, { 197220000000, NONE } }, 2);
	assert_true(analyse(0)->worst.value > 90000000000);
	assert_int_equal(report.figures.calibrations[0].worst_run_ns, 10000000);
	assert_int_equal(report.figures.calibrations[0].shortest_run_ns, 101400);
	assert_string_equal(report.advice.remarks[0],
			    "The run of edk2 with the worst error took 10.0 ms, and the "
			    "shortest run 101 us: it was interrupted, or a clock that it reads stopped or jumped.");
	/* Without an interruption, or without the readings of the worst run, the cause is unknown. */
	put_readings_of_edk2(2, 405600);
	put(&of_edk2, (struct record_calibrated[]){ { 394440000000, NONE } }, 1);
	analyse(0);
	assert_int_equal(report.figures.calibrations[0].worst_run_ns, 202800);
	put_readings_of_edk2(3, 202800);
	put(&of_edk2, (struct record_calibrated[]){ { 1999810800, NONE } }, 1);
	analyse(0);
	assert_int_equal(report.figures.calibrations[0].worst_run_ns, 202800);
	record_begin(&record, bytes, sizeof(bytes));
	put(&of_edk2, (struct record_calibrated[]){ { 1999810800, NONE }, { 197220000000, NONE } }, 2);
	assert_int_equal(analyse(0)->worst_run_ns, 0);
	assert_string_equal(report.advice.remarks[0],
			    "The worst error of edk2 is above 1 %, for an unknown reason.");
}

TEST(an_error_of_all_runs_is_not_explained_by_an_interruption_of_one)
{
	put(&of_quick, (struct record_calibrated[]){ { 2040000000, NONE }, { 2040000000, NONE } }, 2);
	assert_string_equal(remark_on(0), "The worst error of linux_pit is above 1 %, for an unknown reason.");
	put(&of_quick, (struct record_calibrated[]){ { 2041000000, NONE } }, 1);
	assert_string_equal(remark_on(0), "Even the median error of linux_pit is above 1 %: reads of the clocks that it "
			    "compares may be slow here.");
}

TEST(an_error_of_1_percent_has_no_remark_and_a_larger_one_has)
{
	put(&of_quick, (struct record_calibrated[]){ { 2020000000, NONE } }, 1);
	assert_string_equal(remark_on(0), "");
	put(&of_quick, (struct record_calibrated[]){ { 1979999999, NONE } }, 1);
	assert_string_equal(remark_on(0), "The worst error of linux_pit is above 1 %, for an unknown reason.");
}

TEST(errors_are_unknown_without_the_tscs_rate)
{
	report.figures.tsc_within.known = false;
	put(&of_quick, (struct record_calibrated[]){ { 2000000000, NONE }, { 0, 0 } }, 2);
	assert_false(analyse(0)->worst.known);
	assert_int_equal(report.figures.calibrations[0].runs, 2);
	assert_int_equal(report.figures.calibrations[0].refused, 1);
}

TEST(an_impossible_rate_does_not_overflow)
{
	put(&of_quick, (struct record_calibrated[]){ { UINT64_MAX, NONE } }, 1);
	assert_true(analyse(0)->worst.value > 9000000000000);
	assert_string_equal(number_ppm_from_ppb(report.figures.calibrations[0].worst.value).text, ">1e6");
}
