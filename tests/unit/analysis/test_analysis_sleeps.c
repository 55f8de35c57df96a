/* Figures of cores that slept, calculated from records that the tests write. The TSC's rate is 2 GHz. */
#include "test.h"
#include "report_literal.h"
#include "analysis/sleep/analysis_sleeps.h"
#include "clock/sleep.h"
#include "record/record.h"

#define MS INT64_C(2000000) /* in ticks */

/*
 * Returns the sleep of core 1 in HLT, whose TSC lost 20 ms and counted 1 ms in the long sleep. The measurements of its
 * offset are 300 s apart, so its drift between them is not known. In the next sleep in the record, SLEPT, the boot core
 * read a clock at an interval of 20 ms.
 */
static struct report_sleep
calculate_sleep(struct record_slept slept)
{
	static uint8_t bytes[4096];
	struct report *report = literal_make_clean_report();
	struct record_sleep sleep = {
		.core = 1, .state = SLEEP_BY_HLT, .after = { -20 * MS - 10, -20 * MS + 10, 300000 * MS },
		.asleep = { 1000 * MS, 0, 1000 * MS }, .awake = { 1001 * MS, 0, 1001 * MS },
	};
	struct record_slept_clock clock = { .asleep = { 1000 * MS, 0, 1000 * MS }, .awake = { 1020 * MS, 0, 1020 * MS } };
	struct record record;

	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SLEEP, &sleep, NULL, 0);
	record_put(&record, RECORD_SLEPT, &slept, &clock, 1);
	analysis_calculate_sleeps(bytes, record.length, report, &report->figures);
	return report->figures.sleeps.rows[0];
}

TEST(a_tsc_that_counted_1_of_20_ms_of_a_sleep_lost_19_ms_at_least)
{
	struct report_sleep sleep = calculate_sleep((struct record_slept){ SLEEP_BY_HLT, 0 });

	assert_in_range(-sleep.tsc_gained_ns.high, 18990000, 19010000);
	assert_in_range(-sleep.tsc_gained_ns.low, 19990000, 20010000);
	assert_false(sleep.counted);
}

TEST(readings_of_another_sleep_do_not_show_how_long_a_core_slept)
{
	assert_false(offset_is_known(calculate_sleep((struct record_slept){ SLEEP_BY_HLT, 1 }).tsc_gained_ns));
	assert_false(offset_is_known(calculate_sleep((struct record_slept){ 0x20, 0 }).tsc_gained_ns));
}
