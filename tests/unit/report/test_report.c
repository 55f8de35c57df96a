/* Values that are derived from the report and used by all renderers. */
#include "test.h"
#include "report/report.h"

#define MHZ UINT64_C(1000000000) /* one MHz in mHz */

static struct report report;

/* Adds a clock ID that reads device MAIN, with a nominal rate of 10 MHz. */
static struct report_clock *
add(const char *id, const char *main)
{
	struct report_clock *entry = &report.facts.clocks[report.facts.clock_count++];

	*entry = (struct report_clock){ .clock = { .id = id, .main = main, .claimed = { 10000000, 1 } } };
	return entry;
}

static void
begin(void)
{
	report.facts.clock_count = 0;
}

TEST_FIXTURE(begin, NULL);

static struct clock_figures *
figures_of(const struct report_clock *entry)
{
	return &report.figures.clocks[entry - report.facts.clocks];
}

TEST(a_measured_rate_is_used_instead_of_the_nominal_rate)
{
	struct report_clock *hpet = add("hpet", "hpet");

	assert_int_equal(report_clock_rate_millihz(&report, hpet), 10 * MHZ);
	figures_of(hpet)->measured = (struct interval_millihz){ true, 10 * MHZ + 1000, 10 * MHZ - 1000, 10 * MHZ + 3000 };
	assert_int_equal(report_clock_rate_millihz(&report, hpet), 10 * MHZ + 1000);
}

TEST(a_wide_measurement_that_includes_the_nominal_rate_is_not_used)
{
	struct report_clock *rtc = add("rtc", "rtc");

	figures_of(rtc)->measured = (struct interval_millihz){ true, 11 * MHZ, 9 * MHZ, 13 * MHZ };
	assert_int_equal(report_clock_rate_millihz(&report, rtc), 10 * MHZ);
	assert_int_equal(report_clock_ticks_to_ps(&report, rtc, 3), 300000);
	/* The measured interval is wide, but it excludes the nominal rate. */
	figures_of(rtc)->measured.low = 10 * MHZ + 1;
	assert_int_equal(report_clock_rate_millihz(&report, rtc), 11 * MHZ);
}

/* 10^10 ticks of a TSC whose rate is known within 0.1 ppm take 5 s, plus or minus 500 ns. */
TEST(an_offset_in_nanoseconds_includes_the_error_of_the_tscs_rate)
{
	const struct offset offset = { 10000000000, 10000000000 };

	report.figures.skew.pass_count = 1;
	report.figures.tsc = (struct rate){ 2000000000000000, 1000000 };
	assert_in_range(report_offset_to_ns(&report, offset).low, 4999999990, 5000000000);
	report.figures.tsc_within = (struct rate_interval){ true, 2000000000000000, 1999999800000000,
							    2000000200000000 };
	assert_in_range(report_offset_to_ns(&report, offset).low, 4999999490, 4999999500);
	assert_in_range(report_offset_to_ns(&report, offset).high, 5000000500, 5000000510);
	report.figures.tsc_within.known = false;
}

TEST(another_read_method_of_a_counter_has_the_counters_measured_rate)
{
	struct report_clock *tsc = add("tsc", "tsc"), *fenced = add("tsc_lfence", "tsc"), *rtc = add("rtc", "rtc");
	struct report_clock *flag = add("rtc_pf", "rtc");

	figures_of(tsc)->measured = (struct interval_millihz){ true, 12 * MHZ, 12 * MHZ - 1, 12 * MHZ + 1 };
	assert_int_equal(report_clock_rate_millihz(&report, fenced), 12 * MHZ);
	assert_int_equal(report_clock_ticks_to_ps(&report, fenced, 12), 1000000);
	/* rtc_pf reads another counter of the same device, so it has its own rate. */
	figures_of(rtc)->measured = figures_of(tsc)->measured;
	flag->clock.claimed.num = 8192;
	assert_int_equal(report_clock_rate_millihz(&report, flag), 8192 * 1000);
}
