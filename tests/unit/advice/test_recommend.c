/*
 * The recommendation: which clocks a kernel should use, and in which order. The machines differ in their TSC and in
 * their faults.
 */
#include "test.h"
#include "judge/judge.h"
#include "advice/recommend.h"
#include "report_literal.h"

LITERAL_REPORT_FIXTURE;

static void
judge_and_recommend(void)
{
	literal_judge(report);
	recommend_clocks(report, &report->advice);
}

static void
assert_order(const char *const *ids, size_t avoided)
{
	size_t count = 0;

	for (; ids[count]; count++) {
		assert_true(count < report->advice.ranking.count);
		assert_string_equal(report->advice.ranking.rows[count].clock, ids[count]);
		assert_true(report->advice.ranking.rows[count].reason[0] != '\0');
	}
	assert_int_equal(report->advice.ranking.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(report->advice.ranking.rows[i].avoid, i >= count - avoided);
}

/* Sets the cost of a read of the clock ID to PS on each core. */
static void
cost(const char *id, uint64_t ps)
{
	size_t clock = (size_t)(literal_find_clock(report, id) - report->facts.clocks);
	size_t null = (size_t)(literal_find_clock(report, "null") - report->facts.clocks);

	for (size_t i = 0; i < report->facts.core_count; i++)
		report->facts.cores[i].latency[clock].typical_ps = report->facts.cores[i].latency[null].typical_ps + ps;
}

/* Linux rates the HPET higher than the PM timer, but both ratings belong to the same class ("good"). */
TEST(in_a_class_of_ratings_the_cheaper_clock_comes_first)
{
	static const char *const ids[] = { "tsc", "acpi_pm", "hpet", "pit", "rtc", NULL };

	cost("hpet", 901000); /* in three accesses; Linux reads 32 bits in one access */
	cost("hpet_32", 303000);
	cost("acpi_pm", 70000);
	cost("pit", 151000);
	cost("rtc", 1000);
	judge_and_recommend();
	assert_order(ids, 0);
	cost("hpet_32", 69999);
	judge_and_recommend();
	assert_string_equal(report->advice.ranking.rows[1].clock, "hpet");
}

TEST(invariant_tsc_comes_first_then_hpet_pm_pit_and_rtc)
{
	static const char *const ids[] = { "tsc", "hpet", "acpi_pm", "pit", "rtc", NULL };

	report->facts.machine.tsc_is_invariant = true;
	cost("tsc", 9000);
	cost("hpet_32", 559000);
	cost("acpi_pm", 1117000);
	cost("pit", 3360000);
	cost("rtc", 2110000);
	judge_and_recommend();
	assert_order(ids, 0);
	assert_non_null(strstr(report->advice.ranking.rows[0].reason, "9.00 ns a read"));
	assert_non_null(strstr(report->advice.ranking.rows[0].reason, ", invariant."));
	assert_string_equal(report->advice.ranking.rows[1].reason, "559 ns a read, 62 times the TSC's.");
	assert_string_equal(report->advice.ranking.rows[3].reason,
			    "3.36 us a read, 373 times the TSC's; it wraps every 55 ms: use it for calibration only.");
	assert_string_equal(report->advice.ranking.rows[4].reason,
			    "2.11 us a read, 234 times the TSC's; it ticks once a second: use it for the date only.");
}

/* Linux prefers the TSC to the HPET even if the CPU does not report the TSC as invariant. */
TEST(linux_may_take_another_clock_than_the_first)
{
	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.hypervisor[0] = '\0';
	/* rating of the TSC driver on a machine without an invariant TSC */
	literal_find_clock(report, "tsc")->clock.rating = 150;
	judge_and_recommend();
	assert_string_equal(report->advice.ranking.rows[0].clock, "hpet");
	assert_string_equal(report->advice.taken[0].clock, "tsc");
	assert_non_null(strstr(report->advice.answer.text, "Linux takes tsc (11.6 ns), by its ratings."));
}

/*
 * A read of the TSC takes 9 ns, and a read of the HPET takes 44 ns, which is 4.89 times as long. The text says 5
 * times.
 */
TEST(the_cost_relative_to_the_tsc_is_rounded)
{
	cost("tsc", 9000);
	cost("hpet_32", 44000);
	judge_and_recommend();
	assert_string_equal(report->advice.ranking.rows[1].reason, "44.0 ns a read, 5 times the TSC's.");
}

TEST(on_bare_metal_a_tsc_that_is_not_invariant_comes_after_the_pm_timer)
{
	static const char *const ids[] = { "hpet", "acpi_pm", "tsc", "pit", "rtc", NULL };

	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.hypervisor[0] = '\0';
	/* rating of the TSC driver on a machine without an invariant TSC */
	literal_find_clock(report, "tsc")->clock.rating = 150;
	judge_and_recommend();
	assert_order(ids, 0);
	assert_non_null(strstr(report->advice.ranking.rows[2].reason,
			       ", not reported as invariant; see the warning tsc-not-invariant."));
}

TEST(a_failed_clock_is_to_be_avoided_and_an_absent_clock_is_not_named)
{
	static const char *const ids[] = { "tsc", "acpi_pm", "rtc", "hpet", NULL };

	report->facts.machine.tsc_is_invariant = true;
	literal_find_clock(report, "hpet")->monotonic.backward = 1;
	literal_find_clock(report, "pit")->clock.state = CLOCK_ABSENT;
	judge_and_recommend();
	assert_order(ids, 1);
	assert_string_equal(report->advice.ranking.rows[3].reason, "clock-backward: A clock that steps back gives negative "
			    "durations and events in the wrong order.");
}

TEST(a_clock_to_avoid_is_named_with_all_broken_rules)
{
	rules_add_finding(report, &report->outcomes, "tsc-offset", "tsc", 8, "Core 8's TSC is behind.");
	rules_add_finding(report, &report->outcomes, "tsc-drift", "tsc", 9, "Core 9's TSC ran faster.");
	literal_find_outcome(report, "tsc")->verdict = VERDICT_FAIL;
	recommend_clocks(report, &report->advice);
	assert_string_equal(report->advice.ranking.rows[4].reason,
			    "tsc-offset: Time stamps of cores whose TSCs differ cannot be compared. Also tsc-drift.");
	rules_add_finding(report, &report->outcomes, "tsc-offset", "tsc", 10, "Core 10's TSC is behind.");
	rules_add_finding(report, &report->outcomes, "tsc-warp", "tsc", REPORT_NO_CORE,
			  "Core 1's TSC read more than core 2's.");
	recommend_clocks(report, &report->advice);
	assert_string_equal(report->advice.ranking.rows[4].reason, "tsc-offset: Time stamps of cores whose TSCs differ cannot "
			    "be compared. Also tsc-warp, tsc-drift.");
}

/* Adds a failed check. The judge makes a finding from it. */
static void
break_rule(const char *rule, const char *clock)
{
	literal_add_behaviour(report, rule, clock, "It was broken.")->failed = true;
}

TEST(a_wrong_stated_rate_does_not_rule_out_the_clock)
{
	static const char *const ids[] = { "hpet", "acpi_pm", "pit", "rtc", "tsc", NULL };

	report->facts.machine.tsc_is_invariant = true;
	break_rule("rate-wrong", "tsc");
	judge_and_recommend();
	assert_order(ids, 1);
	assert_string_equal(report->advice.ranking.rows[4].reason, "rate-wrong: Time by this clock drifts from the time by "
			    "all other clocks faster than NTP can correct it. A kernel that measures the TSC's rate may still use the TSC.");
}

TEST(a_clock_with_a_warning_comes_after_all_healthy_clocks)
{
	static const char *const ids[] = { "acpi_pm", "pit", "rtc", "tsc", "hpet", NULL };

	report->facts.machine.tsc_is_invariant = true;
	break_rule("rate-changed", "tsc");
	break_rule("hpet-pc10", "hpet");
	judge_and_recommend();
	assert_order(ids, 0);
	assert_non_null(strstr(report->advice.ranking.rows[3].reason, "; see the warning rate-changed."));
	assert_non_null(strstr(report->advice.ranking.rows[4].reason, "; see the warning hpet-pc10."));
}

#define USE_TSC "Use tsc: 28.7 ns a read. Linux takes it, too (11.6 ns). "
#define AGREE   " The cores' TSCs agree within 29 ns"

/* Asserts the answer if a clock of another source confirms the rates. */
static void
assert_answer(const char *text)
{
	literal_judge(report);
	behaviour_add_row(&report->outcomes.behaviours, "rate-off", "rtc")->checked = true;
	recommend_clocks(report, &report->advice);
	assert_string_equal(report->advice.answer.text, text);
}

TEST(the_answer_names_the_clock_its_cost_linuxs_choice_failed_clocks_and_cores)
{
	cost("tsc", 28700);
	cost("hpet_32", 999000);
	assert_answer(USE_TSC "No clock failed." AGREE ".");
	assert_string_equal(report->advice.answer.clock, "tsc");
	assert_string_equal(report->advice.answer.linux_takes, "tsc");
	assert_int_equal(report->advice.answer.read_ps, 28700);
	assert_int_equal(report->advice.answer.wrong_count, 0);
	assert_true(report->advice.answer.within_known);
	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.linux_distrusts_tsc = true;
	assert_answer("Use tsc: 28.7 ns a read. Linux before 6.12 takes hpet (999 ns), newer ones tsc (11.6 ns): "
		      "CPUID reports no invariant TSC. No clock failed." AGREE ".");
	for (size_t i = 0; i < report->facts.core_count; i++)
		report->facts.cores[i].facts.package =
			(uint32_t)i / 2; /* two packages: the newer versions distrust it, too */
	assert_answer("Use tsc: 28.7 ns a read. Linux takes hpet (999 ns): CPUID reports no invariant TSC. No "
		      "clock failed." AGREE ".");
	/* if only some clocks were measured, it is unknown which clock Linux uses */
	report->facts.options.clocks.count = 1;
	report->figures.skew.pass_count = 0;
	assert_answer("Use tsc within one core: 28.7 ns a read. No clock failed. The cores' TSCs were not compared.");
	report->facts.machine.cores_started = 1;
	assert_answer("Use tsc within one core: 28.7 ns a read. No clock failed. The cores' TSCs were not "
		      "compared: only one of 4 cores was started.");
	report->facts.machine.cores_listed = 1;
	report->facts.run.incomplete = true;
	assert_answer("Use tsc: 28.7 ns a read. No clock failed, but not everything was measured.");
}

/* This guest's clocks have one source. assert_answer() adds the rate of a clock with another source. */
TEST(the_answer_says_that_nothing_independent_confirms_the_rates_of_one_source)
{
	cost("tsc", 28700);
	judge_and_recommend();
	assert_true(report->advice.answer.no_reference);
	assert_string_equal(report->advice.answer.text, "Use tsc: 28.7 ns a read. Linux takes it, too (11.6 ns). No clock "
			    "failed, but nothing independent confirms their rates. The cores' TSCs agree within 29 ns.");
	assert_answer(USE_TSC "No clock failed." AGREE ".");
	assert_false(report->advice.answer.no_reference);
}

TEST(the_answer_says_that_the_tscs_of_only_some_cores_agree)
{
	cost("tsc", 28700);
	report->facts.machine.cores_listed = 16;
	assert_answer(USE_TSC "No clock failed. The TSCs of 4 of 16 cores agree within 29 ns; the other cores "
		      "were not started.");
}

#define UNDETERMINED "Use tsc within one core: 28.7 ns a read. Linux takes it on all cores (11.6 ns). No clock " \
		     "failed. Whether the cores' TSCs agree is not determined: see their synchronisation. Run again " \
		     "on an idle machine."

TEST(the_answer_refers_to_the_synchronisation_if_it_is_not_determined_whether_the_cores_agree)
{
	cost("tsc", 28700);
	cost("hpet_32", 999000);
	report->figures.skew.passes[1].summary.bound_ticks = 100000000;
	assert_answer(UNDETERMINED);
	assert_false(report->advice.answer.within_known);
	report->figures.skew.passes[1].summary.bound_ticks = UINT64_MAX;
	assert_answer(UNDETERMINED);
	literal_remove_last_pass(report);
	assert_answer(UNDETERMINED);
	report->facts.run.incomplete = true;
	assert_answer("Use tsc within one core: 28.7 ns a read. Linux takes it on all cores (11.6 ns). No clock "
		      "failed, but not everything was measured. Whether the cores' TSCs agree is not determined: see "
		      "their synchronisation. Let the run end.");
}

/* The host disturbed one of the two passes over the cores: 50 us, where the other pass shows 29 ns. */
TEST(the_answer_counts_the_exact_one_of_two_passes)
{
	cost("tsc", 28700);
	report->figures.skew.passes[1].summary.bound_ticks = 100000;
	assert_answer(USE_TSC "No clock failed." AGREE " at 3.1 s, and within 50000 ns at 21.1 s.");
	assert_int_equal(report->advice.answer.within_ns, 29);
	report->figures.skew.passes[1].summary.bound_ticks = report->figures.skew.passes[0].summary.bound_ticks;
	report->figures.skew.passes[0].summary.bound_ticks = 100000;
	assert_answer(USE_TSC "No clock failed." AGREE " at 21.1 s, and within 50000 ns at 3.1 s.");
}

/* Linux takes the TSC because its check of two cores finds no warp. The answer must not recommend the TSC. */
TEST(the_answer_says_that_linux_takes_a_clock_that_failed)
{
	cost("hpet_32", 999000);
	cost("tsc", 28700);
	break_rule("tsc-offset", "tsc");
	assert_answer("Use acpi_pm: 997 ns a read. Linux takes tsc (11.6 ns), although it failed. Failed: tsc. "
		      "The cores' TSCs do not agree.");
}

TEST(the_answer_mentions_warnings_if_no_clock_failed)
{
	cost("tsc", 28700);
	cost("hpet_32", 999000);
	break_rule("rate-changed", "hpet");
	assert_answer(USE_TSC "No clock failed. There is a warning: rate-changed." AGREE ".");
	break_rule("hpet-pc10", "hpet");
	assert_answer(USE_TSC "No clock failed. There are 2 warnings." AGREE ".");
}

TEST(the_answer_names_a_warning_on_the_recommended_clock_once_and_even_if_another_clock_failed)
{
	cost("tsc", 28700);
	break_rule("tsc-step", "tsc");
	assert_answer("Use tsc: 28.7 ns a read; see the warning tsc-step. Linux takes it, too (11.6 ns). No "
		      "clock failed." AGREE ".");
	break_rule("hpet-pc10", "hpet");
	assert_answer("Use tsc: 28.7 ns a read; see the warning tsc-step. Linux takes it, too (11.6 ns). No "
		      "clock failed. There are 2 warnings." AGREE ".");
	literal_find_clock(report, "acpi_pm")->monotonic.backward = 1;
	assert_answer("Use tsc: 28.7 ns a read; see the warning tsc-step. Linux takes it, too (11.6 ns). Failed: "
		      "acpi_pm." AGREE ".");
}

/*
 * Alternative read methods of a failed clock must not be recommended either. The remaining PIT cannot be used for
 * timekeeping.
 */
TEST(the_answer_names_failed_clocks_and_recommends_no_unfit_clock)
{
	report = literal_make_faulty_report();
	assert_answer("No clock is fit for timing. Linux takes tsc (10.1 ns to 15.1 ns), although it failed. "
		      "Failed: tsc, acpi_pm, pit and 1 more. The cores' TSCs do not agree.");
	assert_null(report->advice.answer.clock);
	assert_int_equal(report->advice.answer.wrong_count, 4);
	assert_string_equal(report->advice.answer.wrong[3], "rtc");
	assert_false(report->advice.answer.within_known);
	report = literal_make_clean_report();
	literal_find_clock(report, "acpi_pm")->monotonic.backward = 1;
	assert_answer("Use tsc: 2.75 ns a read. Linux takes it, too (11.6 ns). Failed: acpi_pm." AGREE ".");
	report = literal_make_empty_report();
	assert_answer("No clock was measured. Linux takes tsc. No clock failed, but not everything was measured.");
}

static void
ask(const char *source, enum clock_state state)
{
	report->figures.intervals[report->figures.interval_count++] = (struct interval_figures){
		.test = { .source = source, .asked_ns = 100000, .route_kind = "lapic" },
		.state = state, .asked = 200, .expected = 200, .delivered = 200,
		.lateness = { 200, 812, 1021, 4096, 5210, 5210, 31 },
	};
}

/* Makes a report whose only timers are the local APIC's. */
static void
begin_with_timers(enum clock_state deadline, enum clock_state lapic, bool always_runs)
{
	begin();
	report->figures.interval_count = 0;
	report->facts.machine.hypervisor[0] = '\0';
	report->facts.machine.lapic_always_runs = always_runs;
	ask("lapic", lapic);
	ask("lapic_deadline", deadline);
}

#define LATE_AND_PASSED " Half of the timer's one-shots of 100 us are at least 990 ns late. Of 4 tests of the timer's" \
			" interrupts, 4 passed and none failed."

static void
assert_tick(const char *source, const char *reason)
{
	judge_and_recommend();
	if (source)
		assert_string_equal(report->advice.tick.source, source);
	else
		assert_null(report->advice.tick.source);
	assert_string_equal(report->advice.tick.reason, reason);
}

TEST(a_kernels_tick_uses_the_lapic_timer_with_tsc_deadlines_if_possible)
{
	begin_with_timers(CLOCK_PRESENT, CLOCK_PRESENT, true);
	assert_tick("lapic_deadline", "Linux's lapic-deadline, rated 150: each core has its own, which compares with the TSC, "
		    "and it runs in deep sleep, too." LATE_AND_PASSED);
	begin_with_timers(CLOCK_ABSENT, CLOCK_PRESENT, true);
	assert_tick("lapic", "Linux's lapic, rated 150: each core has its own, and it runs in deep sleep, too."
		    LATE_AND_PASSED);
}

TEST(a_median_lateness_that_may_be_0_is_given_as_one_bound)
{
	begin_with_timers(CLOCK_ABSENT, CLOCK_PRESENT, true);
	report->figures.intervals[0].lateness.p50_ns = 11000;
	report->figures.intervals[0].lateness.error_ns = 33000;
	assert_tick("lapic", "Linux's lapic, rated 150: each core has its own, and it runs in deep sleep, too. Half of the "
		    "timer's one-shots of 100 us are at most 44.0 us late. Of 4 tests of the timer's interrupts, 4 passed and none "
		    "failed.");
	report->figures.intervals[0].lateness.p50_ns = -34000;
	assert_tick("lapic", "Linux's lapic, rated 150: each core has its own, and it runs in deep sleep, too. Half of the "
		    "timer's one-shots of 100 us came before they were due. Of 8 tests of the timer's interrupts, 8 passed and none "
		    "failed.");
}

TEST(a_lapic_timer_that_may_stop_is_rated_lower_and_another_timer_wakes_the_core)
{
	begin_with_timers(CLOCK_ABSENT, CLOCK_PRESENT, false);
	literal_find_clock(report, "hpet")->clock.state = CLOCK_ABSENT;
	assert_tick("lapic", "Linux's lapic, rated 100: each core has its own, but it may stop in deep sleep (CPUID 6 EAX[2] "
		    "is 0); then the PIT (rating 0) wakes the core." LATE_AND_PASSED);
	begin_with_timers(CLOCK_ABSENT, CLOCK_PRESENT, false);
	ask("hpet_fsb", CLOCK_PRESENT);
	assert_tick("lapic", "Linux's lapic, rated 100: each core has its own, but it may stop in deep sleep (CPUID 6 EAX[2] "
		    "is 0); then the HPET (rating 50) wakes the core. If the HPET's third or a later comparator can send its "
		    "interrupt to a core as a message, that core uses it (rating 110)." LATE_AND_PASSED);
}

TEST(a_tick_source_that_breaks_a_rule_has_advice_to_avoid_it)
{
	begin_with_timers(CLOCK_PRESENT, CLOCK_PRESENT, true);
	report->figures.intervals[1].empty = report->figures.intervals[1].expired = 9;
	judge_and_recommend();
	assert_non_null(strstr(report->advice.tick.reason,
			       " But see irq-missing: lapic=notscdeadline lets Linux use the timer without"));
}

TEST(without_a_lapic_the_tick_uses_the_hpet_or_the_pit)
{
	begin_with_timers(CLOCK_ABSENT, CLOCK_ABSENT, false);
	assert_tick("hpet0",
		    "Linux's hpet, rated 50: all cores share this timer, because the local APIC's timer can't be used.");
	literal_find_clock(report, "hpet")->clock.state = CLOCK_ABSENT;
	report->facts.machine.paravirtual.interfaces[report->facts.machine.paravirtual.count++].kind = PARAVIRTUAL_HYPERV;
	assert_tick("pit0", "Linux's pit, rated 0: all cores share this timer, because the local APIC's timer can't be used. "
		    "If Hyper-V offers its own timer, Linux takes that (rating 1000).");
	report->facts.machine.paravirtual.interfaces[report->facts.machine.paravirtual.count++].kind = PARAVIRTUAL_KVM;
	assert_tick("pit0", "Linux's pit, rated 0: all cores share this timer, because the local APIC's timer can't be used.");
	report = literal_make_clean_report();
	report->figures.interval_count = 0;
	assert_tick(NULL, "");
}
