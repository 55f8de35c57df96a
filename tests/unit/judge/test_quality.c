/* Tests of the sentences about stolen time, for example whether the latencies are reliable in spite of it. */
#include "test.h"
#include "judge/judge_internal.h"
#include "report_literal.h"

LITERAL_REPORT_FIXTURE;

/* Judges the report of a healthy machine. In an observation of 4 s, MS ms of stolen time were found. */
static void
judge_with_stolen_time(uint64_t ms)
{
	begin();
	literal_add_stolen_time(report, 1, 12034, ms * 1000000);
	literal_judge(report);
}

static void
assert_quality(bool reliable, const char *text)
{
	assert_true(report->outcomes.quality.tails_known);
	assert_int_equal(report->outcomes.quality.reliable_tails, reliable);
	assert_string_equal(report->outcomes.quality.text, text);
}

TEST(without_a_gap_no_stolen_time_was_observed)
{
	literal_judge(report);
	assert_quality(true, "No stolen time was observed: tails reliable up to p99.9.");
	assert_true(report->outcomes.quality.stolen_known);
	assert_int_equal(report->outcomes.quality.stolen_millipercent, 0);
}

TEST(tails_are_reliable_below_one_percent_and_not_from_there_on)
{
	judge_with_stolen_time(39);
	assert_quality(true, "0.975 % of the observed time was stolen: tails reliable up to p99.9.");
	judge_with_stolen_time(40);
	assert_quality(false, "1.0 % of the observed time was stolen: latency tails are unreliable.");
	assert_int_equal(report->outcomes.quality.stolen_millipercent, 1000);
	judge_with_stolen_time(2440);
	assert_quality(false, "61.0 % of the observed time was stolen: latency tails are unreliable.");
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

/*
 * Stolen time makes 30 more reads long. This is less than 1 in 1,000 reads of the TSC, but more than 1 in 1,000 reads
 * of the HPET.
 */
TEST(a_p999_that_stolen_time_caused_is_reported_as_unreliable)
{
	literal_add_stolen_time(report, 1, 12034, 1000000);
	literal_record_ns(literal_find_clock(report, "tsc")->latency, 50000, 30);
	literal_record_ns(literal_find_clock(report, "hpet")->latency, 50000, 30);
	literal_judge(report);
	assert_quality(false, "0.025 % of the observed time was stolen: latency tails are "
				      "unreliable; p99.9 of hpet is from stolen time.");
}

TEST(without_stolen_time_long_reads_are_the_clocks_own)
{
	literal_record_ns(literal_find_clock(report, "hpet")->latency, 50000, 30);
	literal_judge(report);
	assert_quality(true, "No stolen time was observed: tails reliable up to p99.9.");
}

TEST(long_reads_of_an_rtc_are_its_updates_and_not_stolen_time)
{
	literal_add_stolen_time(report, 1, 12034, 1000000);
	literal_record_ns(literal_find_clock(report, "rtc")->latency, 2100, 20000);
	literal_record_ns(literal_find_clock(report, "rtc")->latency, 2000000, 60);
	literal_judge(report);
	assert_true(report->outcomes.quality.reliable_tails);
}

TEST(a_run_that_did_not_observe_stolen_time_says_so)
{
	report = literal_make_empty_report();
	literal_judge(report);
	assert_false(report->outcomes.quality.stolen_known);
	assert_false(report->outcomes.quality.tails_known);
	assert_string_equal(report->outcomes.quality.text,
			    "Stolen time was not observed: latency tails may be unreliable.");
	report = literal_make_clean_report();
	report->figures.interference = (struct report_interference){ .measured = false };
	literal_record_ns(literal_find_clock(report, "acpi_pm")->latency, 50000, 30);
	literal_judge(report);
	assert_quality(false, "Stolen time was not observed: latency tails are unreliable; p99.9 of acpi_pm is "
				      "from stolen time.");
}

/* Up to 10 ms may be missing, or 1 % of the observed time if that is longer. */
TEST(stolen_time_missing_from_the_hosts_counter_fails_beyond_the_tolerance)
{
	static const struct {
		struct report_stolen stolen;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ { 3000000000, 100000000, 100000000, 130000000, 200000000 }, OUTCOME_PASSED,
		  "The host took at least 4.3 % of the cores' time, and reports 3.3 % as stolen." },
		{ { 3000000000, 100000000, 100000000, 130000001, 200000000 }, OUTCOME_FAILED,
		  "The host took at least 4.3 % of the cores' time, and reports 3.3 % as stolen." },
		{ { 500000000, 0, 0, 10000000, 10000000 }, OUTCOME_PASSED,
		  "The host took at least 2.0 % of the cores' time, and reports 0.0 % as stolen." },
		{ { 500000000, 0, 0, 10000001, 10000001 }, OUTCOME_FAILED,
		  "The host took at least 2.0 % of the cores' time, and reports 0.0 % as stolen." },
		{ { 500000000, 20000001, 20000001, 0, 10000000 }, OUTCOME_FAILED,
		  "The host took at most 2.0 % of the cores' time, and reports 4.0 % as stolen." },
		{ { 0, 0, 0, 0, 0 }, OUTCOME_NOT_CHECKED, "The counter of stolen time was not read on any core." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		const struct behaviour *row = &report->outcomes.behaviours.rows[report->outcomes.behaviours.count];

		report->facts.stolen_counters.counter = "kvm_steal";
		report->figures.interference.stolen = rows[i].stolen;
		literal_judge(report);
		assert_string_equal(row->rule, "pv-steal");
		assert_string_equal(row->text, rows[i].text);
		assert_int_equal(rules_get_outcome(row, &report->facts.options), rows[i].outcome);
	}
}

/* Each row of the soak's series lasts 10 s, in which the cores were observed for 1 s. */
TEST(a_part_of_a_soak_with_most_of_the_gaps_is_noted)
{
	static const struct {
		uint64_t gaps[4];
		const char *note;
	} rows[] = {
		{ { 1, 100, 1, 1 }, "Time was stolen mostly between 10.0 s and 20.0 s: 100 of 103 gaps occurred then, "
		"in 1000 of 4000 ms that cores were observed." },
		{ { 0, 100, 25, 1 }, "Time was stolen mostly between 10.0 s and 30.0 s: 125 of 126 gaps occurred then, "
		"in 2000 of 4000 ms that cores were observed." },
		{ { 0, 0, 0, 32 }, "Time was stolen mostly between 30.0 s and 40.0 s: 32 of 32 gaps occurred then, in "
		"1000 of 4000 ms that cores were observed." },
		{ { 0, 0, 0, 31 }, NULL },
		{ { 10, 100, 10, 11 }, NULL },
		{ { 50, 50, 50, 50 }, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct series_row series[4];

		begin();
		for (size_t r = 0; r < 4; r++)
			series[r] = (struct series_row){ .from_tsc = 1000 + r * 20000000000, .to_tsc = 1000 + (r + 1) * 20000000000,
							 .gaps = rows[i].gaps[r], .observed_ns = 1000000000 };
		report->facts.series.rows = series;
		report->facts.series.count = 4;
		literal_judge(report);
		/* the first note is about reads that exit to the hypervisor */
		assert_int_equal(report->outcomes.notes.count, rows[i].note ? 2 : 1);
		if (rows[i].note)
			assert_string_equal(report->outcomes.notes.sentences[1], rows[i].note);
	}
}
