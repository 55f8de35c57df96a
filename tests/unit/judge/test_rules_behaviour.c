/* Tests that each fault causes a single finding. The judge omits a finding if another finding explains it. */
#include "test.h"
#include "report_literal.h"
#include "judge/judge_internal.h"

static struct report *report;

/* Makes the report of a healthy machine without behaviours. */
static void
begin(void)
{
	report = literal_make_clean_report();
	report->outcomes.behaviours.count = 0;
	LITERAL_COPY(report->facts.machine.accelerator, "none");
}

/* Makes the report of begin() about bare metal, where clocks have independent sources and no host stops the TSC. */
static void
begin_on_bare_metal(void)
{
	begin();
	report->facts.machine.hypervisor[0] = '\0';
}

TEST_FIXTURE(begin, NULL);

static void
assert_only(const char *rule, const char *clock, const char *text)
{
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, rule);
	assert_string_equal(report->outcomes.findings[0].clock, clock);
	if (text)
		assert_string_equal(report->outcomes.findings[0].text, text);
}

TEST(several_failed_checks_of_one_rule_make_one_finding_that_counts_them)
{
	literal_set_figure(literal_add_behaviour(report, "rtc-periodic", "rtc", "8192 Hz: right."), -90, 90);
	literal_set_figure(literal_add_behaviour(report, "rtc-periodic", "rtc", "1024 Hz: wrong."), 900, 1100);
	literal_set_figure(literal_add_behaviour(report, "rtc-periodic", "rtc", "64 Hz: wrong."), 800, 1200);
	literal_set_figure(literal_add_behaviour(report, "rtc-periodic", "rtc", "2 Hz: wrong."), 700, 1300);
	literal_judge(report);
	assert_only("rtc-periodic", "rtc", "rtc: 1024 Hz: wrong. 2 more checks of this rule failed.");
}

TEST(if_the_rtc_is_off_by_1010_ppm_its_periodic_flag_fails_beyond_1510_only)
{
	for (int64_t nearest = 1510; nearest <= 1511; nearest++) {
		begin();
		struct behaviour *row = literal_add_behaviour(report, "rtc-periodic", "rtc", "64 Hz: slow.");

		literal_set_figure(row, -1600, -nearest);
		rules_set_figure(rules_add_finding(report, &report->outcomes, "rate-changed", "rtc", REPORT_NO_CORE, "Changed."),
				 1000,
				 990, 1010);
		judge_checks(report, &report->outcomes);
		assert_int_equal(report->outcomes.finding_count, nearest == 1510 ? 1 : 2);
		assert_int_equal(row->checked, nearest == 1511);
		assert_non_null(strstr(row->text, nearest == 1510 ? "The result is" : "64 Hz: slow."));
	}
}

/*
 * The TSC's rate changed during the rate window, so rates that it timed are doubtful. If the change came late, its
 * average over the window is smaller than the change itself. Therefore the error of these rates may be larger than the
 * observed change.
 */
TEST(a_rate_measured_with_a_tsc_in_doubt_is_not_determined)
{
	static const struct {
		const char *rule, *clock;
	} doubts[] = { { "rate-changed", "tsc" }, { "rate-changed", NULL }, { "rate-disagree", NULL } };

	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		begin();
		struct behaviour *row = literal_add_behaviour(report, "rtc-periodic", "rtc", "64 Hz: slow.");

		literal_set_figure(row, -376143, -257413);
		rules_set_figure(rules_add_finding(report, &report->outcomes, doubts[i].rule, doubts[i].clock, REPORT_NO_CORE,
						   "Doubt."),
				 1000, 990, 1010);
		judge_checks(report, &report->outcomes);
		assert_int_equal(report->outcomes.finding_count, 1);
		assert_int_equal(rules_get_outcome(row, &report->facts.options), OUTCOME_NOT_DETERMINED);
		assert_string_equal(row->text, "The result is -316778 ppm, but the test was timed by a TSC whose "
				    "own rate is uncertain.");
		judge_complete_behaviour_rows(report, &report->outcomes);
		assert_int_equal(literal_find_outcome(report, "rtc")->open, 1);
	}
}

TEST(a_rate_of_a_stuck_clock_or_by_a_tsc_that_stepped_back_is_not_checked)
{
	struct behaviour *row = literal_add_behaviour(report, "rtc-periodic", "rtc", "64 Hz: slow.");

	literal_set_figure(row, -3000, -2000);
	literal_remove_clock(report, "rtc", CLOCK_STUCK, "it did not move");
	literal_judge(report);
	assert_only("clock-stuck", "rtc", "rtc is stuck: it did not move.");
	assert_string_equal(row->text, "The result is -2500 ppm, but the clock itself is stuck.");
	assert_int_equal(rules_get_outcome(row, &report->facts.options), OUTCOME_NOT_CHECKED);
	begin();
	row = literal_add_behaviour(report, "pit-out", "pit", "OUT rose late.");
	literal_set_figure(row, 5000, 6000);
	row->unchecked = UNCHECKED_GUEST; /* as of a timer's test, which has the kind even if it is checked */
	literal_find_clock(report, "tsc_lfence")->monotonic.backward = 1;
	literal_judge(report);
	assert_int_equal(row->unchecked, UNCHECKED_OTHER);
	assert_string_equal(row->text, "The result is 5500 us, but the test was timed by a TSC that stepped back or jumped.");
	assert_int_equal(rules_get_outcome(row, &report->facts.options), OUTCOME_NOT_CHECKED);
	assert_string_equal(row->explained_by.rule, "clock-backward");
	assert_string_equal(row->explained_by.clock, "tsc_lfence");
}

/* The finding is on both clocks, because one clock alone does not prove that the TSC moved. */
TEST(a_result_by_a_tsc_that_diverged_is_explained_by_the_finding_on_the_clocks_that_parted)
{
	struct behaviour *row = literal_add_behaviour(report, "pit-out", "pit", "OUT rose late.");

	literal_set_figure(row, 5000, 6000);
	literal_part_clocks(report, 8, 1);
	literal_judge(report);
	assert_string_equal(row->text, "The result is 5500 us, but the test was timed by a TSC that diverged from all other "
			    "clocks in this run.");
	assert_string_equal(row->explained_by.rule, "clocks-parted");
	assert_null(row->explained_by.clock);
}

#define OUT_ROSE "OUT rose between 15712 us before and 38932 us after the end of its count of 11940 clocks."

TEST(a_result_that_is_too_wide_says_which_run_can_decide)
{
	struct behaviour *flag = literal_add_behaviour(report, "rtc-periodic", "rtc", "1024 Hz.");
	struct behaviour *uip = literal_add_behaviour(report, "rtc-update", "rtc", "UIP.");
	struct behaviour *out = literal_add_behaviour(report, "pit-out", "pit", OUT_ROSE);
	/* the firmware is called as often in a longer run */
	struct behaviour *stall = literal_add_behaviour(report, "efi-rate", "efi_stall", "Stall().");

	literal_set_figure(flag, -104445, 27026);
	literal_set_figure(uip, 2000, 4000);
	literal_set_figure(out, -157, 3893);
	literal_set_figure(stall, -93523, 17603);
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_string_equal(flag->text, "1024 Hz. The limit is 500 ppm; a run 263 times as long can decide this check.");
	assert_string_equal(uip->text, "UIP. The limit is 3000 us; a run on an idle machine can decide this check.");
	/* the longest sentence of this kind, which must fit into the row's text */
	assert_string_equal(out->text, OUT_ROSE " The limit is 100 us; a run on an idle machine can decide this check.");
	assert_string_equal(stall->text, "Stall(). The limit is 20000 ppm; a run on an idle machine can decide this check.");
	assert_int_equal(literal_find_outcome(report, "rtc")->open, 2);
	assert_int_equal(literal_find_outcome(report, "rtc")->verdict, VERDICT_PASS);
}

static const struct behaviour *
find_rate_row(const char *clock)
{
	const struct behaviour *row = rules_find_row(report, "rate-off", clock);

	assert_non_null(row);
	return row;
}

/*
 * A clock's rate passes if its interval is within the limit. It is not determined if the interval is too wide, or if
 * nothing shows which clocks are right. If the host takes 1 % of the time or more, the intervals become wide, and a
 * longer run would not help.
 */
TEST(a_rate_that_no_pair_shows_within_the_limit_is_not_determined)
{
	static const struct {
		int64_t low, high;
		uint64_t stolen_ns; /* stolen time in one second */
		enum outcome outcome;
		const char *text;
	} rates[] = {
		{ -99000, 100000, 0, OUTCOME_PASSED, "rtc: -99.0 to +100.0 ppm against hpet." },
		{ -99000, 100001, 0, OUTCOME_NOT_DETERMINED,
		  "rtc: -99.0 to +100.0 ppm against hpet; a run 3 times as long would decide this check "
		  "(duration=3s)." },
		{ -1000000, 1000000, 9999999, OUTCOME_NOT_DETERMINED,
		  "rtc: -1000.0 to +1000.0 ppm against hpet; a run 21 times as long would decide this check "
		  "(duration=21s)." },
		{ -1000000, 1000000, 350000000, OUTCOME_NOT_DETERMINED,
		  "rtc: -1000.0 to +1000.0 ppm against hpet; 35.0 % of the time was stolen, so a run on a less busy host may "
		  "decide this check." },
		{ 200000, 300000, 0, OUTCOME_NOT_DETERMINED,
		  "rtc: +200.0 to +300.0 ppm against hpet, and nothing shows which clocks are right." },
	};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		begin_on_bare_metal();
		report->duration_ns = 1000000000;
		report->figures.interference.measured = true;
		report->figures.interference.observed_ns = 1000000000;
		report->figures.interference.total_ns = rates[i].stolen_ns;
		report->figures.rate_count = 1;
		report->figures.rates[0] = (struct report_rate){ "hpet", "rtc",
								 { true, 0, -rates[i].high, -rates[i].low }, false };
		literal_judge(report);
		const struct behaviour *row = find_rate_row("rtc");
		assert_string_equal(row->text, rates[i].text);
		assert_int_equal(rules_get_outcome(row, &report->facts.options), rates[i].outcome);
		assert_int_equal(literal_find_outcome(report, "rtc")->open, rates[i].outcome == OUTCOME_NOT_DETERMINED);
		assert_int_equal(literal_find_outcome(report, "rtc")->verdict, VERDICT_PASS);
		assert_int_equal(rules_count_outcomes(report, "rtc", rates[i].outcome), 1);
	}
}

/*
 * A PM timer that shares the HPET's crystal has the same error as the HPET. Only a clock with another crystal can
 * prove that there is no error.
 */
TEST(a_rate_passes_only_with_a_clock_of_another_source)
{
	static const struct {
		int64_t rtc_within;
		enum outcome outcome;
		const char *text;
	} witnesses[] = {
		{ 0, OUTCOME_NOT_CHECKED,
		  "hpet: -1.0 to +1.0 ppm against acpi_pm, which shares this clock's source; no clock has another "
		  "source." },
		{ 1000000, OUTCOME_NOT_CHECKED,
		  "hpet: -1.0 to +1.0 ppm against acpi_pm, which shares this clock's source; see the row of rtc, which "
		  "has another source." },
		{ 50000, OUTCOME_PASSED, "hpet: -50.0 to +50.0 ppm against rtc." },
	};

	for (size_t i = 0; i < sizeof(witnesses) / sizeof(witnesses[0]); i++) {
		int64_t within = witnesses[i].rtc_within;

		begin_on_bare_metal();
		report->figures.rate_count = within ? 2 : 1;
		report->figures.rates[0] = (struct report_rate){ "hpet", "acpi_pm", { true, 0, -1000, 1000 }, true };
		report->figures.rates[1] = (struct report_rate){ "hpet", "rtc", { true, 0, -within, within }, false };
		literal_judge(report);
		const struct behaviour *row = find_rate_row("hpet");
		assert_string_equal(row->text, witnesses[i].text);
		assert_int_equal(rules_get_outcome(row, &report->facts.options), witnesses[i].outcome);
		assert_int_equal(literal_find_outcome(report, "hpet")->open, 0);
	}
}

TEST(clocks_without_a_nominal_rate_cannot_confirm_the_tsc)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		report->facts.clocks[i].clock.claimed = (struct rate){ 0, 0 };
	literal_find_clock(report, "hpet")->clock.state = literal_find_clock(report, "hpet_32")->clock.state = CLOCK_ABSENT;
	literal_find_clock(report, "acpi_pm")->clock.state = CLOCK_ABSENT;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].text,
			    "None of 2 clocks that could confirm the TSC's rate is present and running.");
}

static void
set_changes(int64_t hpet_ppb, int64_t pm_ppb, int64_t rtc_ppb)
{
	literal_find_figures(report, "hpet")->change_since = (struct interval_ppb){ true, hpet_ppb, hpet_ppb, hpet_ppb };
	literal_find_figures(report, "acpi_pm")->change_since = (struct interval_ppb){ true, pm_ppb, pm_ppb, pm_ppb };
	literal_find_figures(report, "rtc")->change_since = (struct interval_ppb){ true, rtc_ppb, rtc_ppb, rtc_ppb };
}

TEST(a_clock_that_stepped_back_has_no_second_finding_about_its_rate)
{
	begin_on_bare_metal();
	set_changes(-1000000, 0, 0);
	literal_judge(report);
	assert_only("rate-changed", "hpet", NULL);

	begin_on_bare_metal();
	set_changes(-1000000, 0, 0);
	literal_find_clock(report, "hpet")->monotonic.backward = 1;
	literal_judge(report);
	assert_only("clock-backward", "hpet", NULL);
}

/*
 * The TSC was set ahead by one second. The clocks are read one after another, so the times over which they are compared
 * with the TSC differ by some milliseconds.
 */
TEST(a_tsc_that_was_set_ahead_is_named_and_no_other_clock)
{
	begin_on_bare_metal();
	literal_find_clock(report, "rtc")->clock.edges_only = true;
	set_changes(1000000000, 999000000, 1005000000);
	literal_judge(report);
	assert_only("rate-changed", "tsc", NULL);
}

/*
 * The RTC is read at its edges, before the other clocks. If the TSC stops in between for up to 10 ms, only the RTC
 * seems to have changed its rate. The stop may be in the rate window of one second, or in the 20 s after it.
 */
TEST(an_rtc_is_not_named_if_a_stopped_tsc_explains_its_change)
{
	static const struct {
		int64_t change_ppb;
		bool changed;
	} cases[] = { { -384400, false }, { 384400, false }, { -20000000, true }, { 2000000, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_on_bare_metal();
		const struct finding *finding = report->outcomes.findings;

		literal_find_clock(report, "rtc")->clock.edges_only = true;
		literal_find_figures(report, "rtc")->window_ns = 1000000000;
		literal_find_figures(report, "rtc")->since_ns = UINT64_C(20000000000);
		set_changes(0, 0, cases[i].change_ppb);
		literal_judge(report);
		assert_int_equal(report->outcomes.finding_count, 1);
		assert_string_equal(finding->rule, "rate-changed");
		assert_true(cases[i].changed || !finding->clock);
		assert_int_equal(strstr(finding->text, "or the TSC stopped between two of their readings.") == NULL,
				 cases[i].changed);
	}
}

/*
 * If several cores read QEMU's emulated TSC at the same time, the reads move the TSC ahead. No clock is at fault, but
 * the TSC then has no rate.
 */
TEST(an_emulated_tsc_that_was_moved_ahead_is_a_note)
{
	static const struct {
		int64_t change_ppb;
		size_t notes;
	} cases[] = { { -306252, 1 }, { -99000, 0 }, { 306252, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		LITERAL_COPY(report->facts.machine.accelerator, "tcg");
		literal_find_clock(report, "rtc")->clock.edges_only = true;
		set_changes(cases[i].change_ppb, cases[i].change_ppb, 0);
		size_t before = report->outcomes.notes.count;
		literal_judge(report);
		assert_int_equal(report->outcomes.finding_count, 0);
		assert_int_equal(report->outcomes.notes.count - before, cases[i].notes);
		if (cases[i].notes)
			assert_string_equal(report->outcomes.notes.sentences[before],
					    "tsc: It gained +306.3 ppm (+306.3 to +306.3) on hpet and acpi_pm after "
					    "the rates were measured. QEMU's emulation moves the TSC ahead when "
					    "several cores read it at once, so this is no fault. All rates are from "
					    "the time before.");
	}
}

/*
 * In a guest, the RTC and the devices follow the same oscillator of the host. Therefore the RTC cannot confirm the
 * rates of the devices, even if its interval is narrow.
 */
TEST(a_guests_rtc_cannot_confirm_the_rates_of_its_devices)
{
	static const int64_t within[] = { 50000, 1000000 };

	for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++) {
		begin();
		literal_find_clock(report, "rtc")->clock.edges_only = true;
		report->figures.rate_count = 1;
		report->figures.rates[0] = (struct report_rate){ "hpet", "rtc", { true, 0, -within[i], within[i] },
								 false };
		literal_judge(report);
		assert_non_null(strstr(find_rate_row("hpet")->text, ", which shares this clock's source; no clock has "
				       "another source."));
		assert_int_equal(rules_get_outcome(find_rate_row("rtc"), &report->facts.options),
				 OUTCOME_NOT_CHECKED);
	}
}

TEST(a_tsc_without_a_nominal_rate_has_a_row_that_says_so)
{
	literal_find_clock(report, "tsc")->clock.claimed = (struct rate){ 0, 0 };
	report->figures.rate_count = 1;
	report->figures.rates[0] = (struct report_rate){ "hpet", "acpi_pm", { true, 0, -1000, 1000 }, true };
	literal_judge(report);
	assert_string_equal(find_rate_row("tsc")->text,
			    "tsc: CPUID claims no rate, so the measured rate cannot be checked; tsc_hz= gives a rate.");
	assert_int_equal(rules_get_outcome(find_rate_row("tsc"), &report->facts.options), OUTCOME_NOT_CHECKED);
	assert_int_equal(literal_find_outcome(report, "tsc")->open, 0);
}

static void
unchecked(const char *rule, const char *clock, enum unchecked kind)
{
	struct behaviour *row = literal_add_behaviour(report, rule, clock, "Why.");

	row->checked = false;
	row->unchecked = kind;
}

TEST(counts_of_undecided_rules_are_printed_with_reasons)
{
	report->figures.rate_count = 0;
	literal_set_figure(literal_add_behaviour(report, "rtc-periodic", "rtc", "64 Hz: unclear."), -400, 900);
	literal_add_behaviour(report, "irq-lost", "hpet0", "Many are excused.")->open = true;
	unchecked("hpet-pc10", "hpet", UNCHECKED_GUEST);
	unchecked("irq-late", "hpet0", UNCHECKED_GUEST);
	unchecked("rate-off", "pit", UNCHECKED_NO_REFERENCE);
	unchecked("hpet-torn", "hpet", UNCHECKED_OTHER);
	literal_add_behaviour(report, "hpet-stops", "hpet", "It stops.")->unchecked = UNCHECKED_GUEST;
	literal_judge(report);
	assert_string_equal(report->outcomes.unjudged, "2 not determined (1 too coarse, 1 other), "
			    "4 not checked (2 need bare metal, 1 has no reference, 1 other)");
}

TEST(undecided_rules_with_other_reasons_refer_to_their_rows)
{
	report->figures.rate_count = 0;
	literal_add_behaviour(report, "irq-lost", "hpet0", "Many are excused.")->open = true;
	unchecked("hpet-torn", "hpet", UNCHECKED_OTHER);
	literal_judge(report);
	assert_string_equal(report->outcomes.unjudged,
			    "1 not determined (see their rows), 1 not checked (see their rows)");
}

TEST(if_all_rules_are_judged_no_count_of_undecided_rules_is_printed)
{
	report->figures.rate_count = 0;
	literal_add_behaviour(report, "hpet-stops", "hpet", "It stops.");
	literal_judge(report);
	assert_string_equal(report->outcomes.unjudged, "");
}
