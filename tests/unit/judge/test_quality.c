/*
 * The sentence that says if the latencies are reliable, although time was stolen. It mentions failures before warnings.
 */
#include "test.h"
#include "judge/judge.h"
#include "report_literal.h"

/* Returns the judged report of a machine without faults. MS of stolen time were found in an observation of 4 s. */
static struct report *
stolen(uint64_t ms)
{
	struct report *report = literal_clean();

	if (ms)
		literal_take_away(report, 1, 12034, ms * 1000000);
	judge_report(report);
	return report;
}

static void
assert_quality(const struct report *report, bool reliable, const char *text)
{
	assert_true(report->quality.tails_known);
	assert_int_equal(report->quality.reliable_tails, reliable);
	assert_string_equal(report->quality.text, text);
}

TEST(without_a_gap_no_stolen_time_was_observed)
{
	struct report *report = stolen(0);

	assert_quality(report, true, "No stolen time was observed: tails reliable up to p99.9.");
	assert_true(report->quality.stolen_known);
	assert_int_equal(report->quality.stolen_millipercent, 0);
}

TEST(tails_are_reliable_below_one_percent_and_not_from_there_on)
{
	struct report *report = stolen(39);

	assert_quality(report, true, "0.975 % of the observed time was stolen: tails "
				     "reliable up to p99.9.");
	report = stolen(40);
	assert_quality(report, false, "1.0 % of the observed time was stolen: latency tails are "
				      "unreliable.");
	assert_int_equal(report->quality.stolen_millipercent, 1000);
	report = stolen(2440);
	assert_quality(report, false, "61.0 % of the observed time was stolen: latency tails are "
				      "unreliable.");
	assert_int_equal(report->verdict, VERDICT_PASS);
}

/*
 * 30 more reads are hit by stolen time. This is less than 1 in 1,000 reads of the TSC, but more than 1 in 1,000 reads
 * of the HPET.
 */
TEST(a_p999_among_the_hits_is_not_the_clocks)
{
	struct report *report = literal_clean();

	literal_take_away(report, 1, 12034, 1000000);
	literal_record(literal_find(report, "tsc")->latency, 50000, 30);
	literal_record(literal_find(report, "hpet")->latency, 50000, 30);
	judge_report(report);
	assert_quality(report, false, "0.025 % of the observed time was stolen: latency tails are "
				      "unreliable; p99.9 of hpet is from stolen time.");
}

TEST(long_reads_are_the_clocks_own_where_no_time_is_stolen)
{
	struct report *report = literal_clean();

	literal_record(literal_find(report, "hpet")->latency, 50000, 30);
	judge_report(report);
	assert_quality(report, true, "No stolen time was observed: tails reliable up to p99.9.");
}

TEST(an_rtc_waits_for_its_update)
{
	struct report *report = literal_clean();

	literal_take_away(report, 1, 12034, 1000000);
	literal_record(literal_find(report, "rtc")->latency, 2100, 20000);
	literal_record(literal_find(report, "rtc")->latency, 2000000, 60);
	judge_report(report);
	assert_true(report->quality.reliable_tails);
}

TEST(a_run_that_ended_before_says_what_it_knows)
{
	struct report *report = literal_empty();

	judge_report(report);
	assert_false(report->quality.stolen_known);
	assert_false(report->quality.tails_known);
	assert_string_equal(report->quality.text,
			    "Stolen time was not observed: latency tails may be unreliable.");
	report = literal_clean();
	report->interference = (struct report_interference){ .measured = false };
	literal_record(literal_find(report, "acpi_pm")->latency, 50000, 30);
	judge_report(report);
	assert_quality(report, false, "Stolen time was not observed: latency tails are unreliable; p99.9 of acpi_pm is "
				      "from stolen time.");
}

TEST(failures_come_before_warnings_and_each_stay_in_their_order)
{
	static const char *const found[] = { "acpi-table", "clock-stuck", "tsc-step", "clock-broken", "clock-slow" };
	static const char *const sorted[] = { "clock-stuck", "clock-broken", "acpi-table", "tsc-step", "clock-slow" };
	struct report *report = literal_clean();

	for (size_t i = 0; i < 5; i++)
		rules_add_finding(report, found[i], NULL, REPORT_NO_CORE, "%s", found[i]);
	judge_report(report);
	assert_int_equal(report->finding_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(report->findings[i].rule, sorted[i]);
		assert_string_equal(report->findings[i].text, sorted[i]);
	}
}
