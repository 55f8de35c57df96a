/* One fault, one finding: what the judge leaves out because something else explains it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "judge.h"
#include "report_literal.h"
#include "judge_internal.h"

static struct report *
machine_without_behaviours(void)
{
	struct report *report = literal_clean();

	report->behaviours.count = 0;
	LITERAL_COPY(report->accelerator, "none");
	return report;
}

static void
assert_only(struct report *report, const char *rule, const char *clock, const char *text)
{
	assert_int_equal(report->finding_count, 1);
	assert_string_equal(report->findings[0].rule, rule);
	assert_string_equal(report->findings[0].clock, clock);
	if (text)
		assert_string_equal(report->findings[0].text, text);
	literal_free(report);
}

static void
rows_of_one_promise_make_one_finding_that_counts_them(void **state)
{
	struct report *report = machine_without_behaviours();

	(void)state;
	literal_figure(literal_behaviour(report, "rtc-periodic", "rtc", "8192 Hz: right."), -90, 90);
	literal_figure(literal_behaviour(report, "rtc-periodic", "rtc", "1024 Hz: wrong."), 900, 1100);
	literal_figure(literal_behaviour(report, "rtc-periodic", "rtc", "64 Hz: wrong."), 800, 1200);
	literal_figure(literal_behaviour(report, "rtc-periodic", "rtc", "2 Hz: wrong."), 700, 1300);
	judge_report(report);
	assert_only(report, "rtc-periodic", "rtc", "rtc: 1024 Hz: wrong. Likewise 2 more.");
}

static void
a_rate_taken_by_a_tsc_in_doubt_by_1010_ppm_is_broken_beyond_1510_only(void **state)
{
	(void)state;
	for (int64_t nearest = 1510; nearest <= 1511; nearest++) {
		struct report *report = machine_without_behaviours();
		struct behaviour *row = literal_behaviour(report, "rtc-periodic", "rtc", "64 Hz: slow.");

		literal_figure(row, -1600, -nearest);
		rules_set_figure(rules_add_finding(report, "rate-changed", "tsc", REPORT_NO_CORE, "Changed."), 1000,
				 990, 1010, 100);
		judge_report(report);
		assert_int_equal(report->finding_count, nearest == 1510 ? 1 : 2);
		assert_int_equal(row->checked, nearest == 1511);
		assert_non_null(strstr(row->text, nearest == 1510 ? "It is off by" : "64 Hz: slow."));
		literal_free(report);
	}
}

/* Of a clock that is named the TSC's rate is in no doubt. */
static void
another_clocks_change_is_no_doubt_of_the_tsc(void **state)
{
	struct report *report = machine_without_behaviours();

	(void)state;
	literal_figure(literal_behaviour(report, "rtc-periodic", "rtc", "64 Hz: slow."), -1000, -900);
	rules_set_figure(rules_add_finding(report, "rate-changed", "hpet", REPORT_NO_CORE, "Changed."), 1000, 990,
			 1010, 100);
	judge_report(report);
	assert_int_equal(report->finding_count, 2);
	literal_free(report);
}

static void
clocks_that_claim_no_rate_vouch_for_no_tsc(void **state)
{
	struct report *report = machine_without_behaviours();

	(void)state;
	for (size_t i = 0; i < report->clock_count; i++)
		report->clocks[i].clock.claimed = (struct rate){ 0, 0 };
	literal_find(report, "hpet")->clock.state = literal_find(report, "hpet_32")->clock.state = CLOCK_ABSENT;
	literal_find(report, "acpi_pm")->clock.state = CLOCK_ABSENT;
	judge_report(report);
	assert_int_equal(report->finding_count, 1);
	assert_string_equal(report->findings[0].text,
			    "None of 2 clocks that could vouch for the TSC is there and counts.");
	literal_free(report);
}

static void
set_changes(struct report *report, int64_t hpet_ppb, int64_t pm_ppb, int64_t rtc_ppb)
{
	literal_find(report, "hpet")->change_since = (struct interval_ppb){ true, hpet_ppb, hpet_ppb, hpet_ppb };
	literal_find(report, "acpi_pm")->change_since = (struct interval_ppb){ true, pm_ppb, pm_ppb, pm_ppb };
	literal_find(report, "rtc")->change_since = (struct interval_ppb){ true, rtc_ppb, rtc_ppb, rtc_ppb };
}

static void
a_clock_that_stepped_back_has_no_finding_for_its_change_too(void **state)
{
	struct report *report = machine_without_behaviours();

	(void)state;
	set_changes(report, -1000000, 0, 0);
	judge_report(report);
	assert_only(report, "rate-changed", "hpet", NULL);

	report = machine_without_behaviours();
	set_changes(report, -1000000, 0, 0);
	literal_find(report, "hpet")->monotonic.backward = 1;
	judge_report(report);
	assert_only(report, "clock-backward", "hpet", NULL);
}

/* By a second in about one: each clock's own stretch since the window is some milliseconds longer or shorter. */
static void
a_tsc_that_was_moved_is_named_and_not_those_that_differ_by_their_stretches(void **state)
{
	struct report *report = machine_without_behaviours();

	(void)state;
	report->hypervisor[0] = '\0';
	literal_find(report, "rtc")->clock.edges_only = true;
	set_changes(report, 1000000000, 999000000, 1005000000);
	judge_report(report);
	assert_only(report, "rate-changed", "tsc", NULL);
}

/* The devices of a guest are one clock of its host's, and its RTC may leap: nothing shows which of the two was moved. */
static void
a_tsc_that_parts_from_a_hosts_time_is_not_accused(void **state)
{
	struct report *report = machine_without_behaviours();

	(void)state;
	literal_find(report, "rtc")->clock.edges_only = true;
	set_changes(report, 1000000000, 999000000, 1005000000);
	judge_report(report);
	assert_int_equal(report->finding_count, 1);
	assert_string_equal(report->findings[0].rule, "rate-changed");
	assert_null(report->findings[0].clock);
	assert_non_null(strstr(report->findings[0].text, "The rate of tsc against hpet and acpi_pm changed by "));
	literal_free(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_one_promise_make_one_finding_that_counts_them),
		cmocka_unit_test(a_rate_taken_by_a_tsc_in_doubt_by_1010_ppm_is_broken_beyond_1510_only),
		cmocka_unit_test(another_clocks_change_is_no_doubt_of_the_tsc),
		cmocka_unit_test(clocks_that_claim_no_rate_vouch_for_no_tsc),
		cmocka_unit_test(a_clock_that_stepped_back_has_no_finding_for_its_change_too),
		cmocka_unit_test(a_tsc_that_parts_from_a_hosts_time_is_not_accused),
		cmocka_unit_test(a_tsc_that_was_moved_is_named_and_not_those_that_differ_by_their_stretches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
