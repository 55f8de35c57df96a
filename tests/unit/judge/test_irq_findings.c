/* Findings about the interrupts of timers. Each rule is tested with timers that break it or do not. */
#include "test.h"
#include "judge/judge_internal.h"
#include "report_literal.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Returns a test of SOURCE with COUNT one-shots of 100 us that all came in time. */
static struct interval_figures
one_shots(const char *source, uint64_t count)
{
	return (struct interval_figures){
		.test = { .source = source, .route_kind = strncmp(source, "lapic", 5) ? "ioapic" : "lapic", .asked_ns = 100000 },
		.state = CLOCK_PRESENT, .asked = count, .expected = count, .delivered = count,
		.lateness = { .count = count, 400, 500, 600, 600, 600, 20 },
	};
}

/* Returns a test of SOURCE with COUNT periods of 1 ms, each with a tick in time. */
static struct interval_figures
periods(const char *source, uint64_t count)
{
	struct interval_figures test = one_shots(source, count);

	test.test.periodic = true;
	test.test.asked_ns = 1000000;
	test.rate = (struct interval_ppb){ true, 0, -2000, 2000 };
	return test;
}

/* A test in which COUNT of the one-shots never came. The timer's status shows that they were due. */
static struct interval_figures
with_missing(struct interval_figures test, uint64_t count)
{
	test.delivered -= count;
	test.empty = test.expired = count;
	return test;
}

static struct interval_figures
with_lost(struct interval_figures test, uint64_t count)
{
	test.delivered -= count;
	test.empty = test.losses = count;
	return test;
}

static struct interval_figures
with_early(struct interval_figures test, uint64_t count, struct interval_ns earliest)
{
	test.early = count;
	test.lateness.earliest = earliest;
	return test;
}

static struct report *
bare_metal(void)
{
	struct report *report = literal_make_bare_metal_report();

	report->facts.machine.accelerator[0] = '\0';
	return report;
}

static struct report *
judge_tests(struct report *report, const struct interval_figures *tests, size_t count)
{
	memcpy(report->figures.intervals, tests, count * sizeof(*tests));
	report->figures.interval_count = count;
	literal_judge(report);
	return report;
}

static struct report *
judge_test(struct interval_figures test)
{
	return judge_tests(literal_make_clean_report(), &test, 1);
}

/* Asserts the outcome for RULE of SOURCE, and the sentence TEXT unless it is NULL. */
static void
assert_outcome(const struct report *report, const char *rule, const char *source, enum outcome outcome,
	       const char *text)
{
	const struct behaviour *row = rules_find_row(report, rule, source);

	if (!row)
		fail_msg("%s of %s is not judged", rule, source);
	if (text)
		assert_string_equal(row->text, text);
	assert_int_equal(rules_get_outcome(row, &report->facts.options), outcome);
}

/* Asserts that the only finding breaks RULE on CORE, and that its sentence starts with TEXT. */
static const struct finding *
assert_only_finding(const struct report *report, const char *rule, uint32_t core, const char *text)
{
	const struct finding *finding = &report->outcomes.findings[0];

	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(finding->rule, rule);
	assert_int_equal(finding->core, core);
	assert_memory_equal(finding->text, text, strlen(text));
	return finding;
}

/*
 * A timer that rounds its deadlines, or follows another clock, is early with every requested duration. If it is early
 * with only one of several durations, the cause is unknown.
 */
TEST(one_shots_that_are_early_with_one_duration_only_are_not_determined)
{
	static const enum outcome outcomes[] = { OUTCOME_PASSED, OUTCOME_NOT_DETERMINED, OUTCOME_FAILED };

	for (size_t early = 0; early <= 2; early++) {
		struct interval_figures tests[] = { one_shots("pit0", 200), one_shots("pit0", 200) };

		tests[0].test.asked_ns = 20000;
		for (size_t i = 0; i < early; i++)
			tests[i] = with_early(tests[i], 200, (struct interval_ns){ true, 17845, 16945, 18745 });
		assert_outcome(judge_tests(literal_make_clean_report(), tests, 2), "irq-early", "pit0", outcomes[early], NULL);
	}
}

/*
 * A core that was tested with one duration is named if all of its one-shots are early, even if the boot core was tested
 * with two durations. A single early one-shot is not enough.
 */
TEST(one_shots_that_are_early_on_one_core_name_that_core)
{
	for (int stray = 0; stray < 2; stray++) {
		struct interval_figures tests[5];

		for (uint32_t i = 0; i < 5; i++) {
			tests[i] = one_shots("lapic", 200);
			tests[i].test.core = i < 2 ? 0 : 2 * (i - 1);
		}
		tests[0].test.asked_ns = 20000;
		tests[3] = with_early(tests[3], stray ? 1 : 200, (struct interval_ns){ true, 6000, 5000, 7000 });
		tests[4] = with_early(tests[4], 1, (struct interval_ns){ true, 9000, 8000, 10000 });
		struct report *report = judge_tests(literal_make_clean_report(), tests, 5);
		if (stray)
			assert_int_equal(report->outcomes.finding_count, 0);
		else
			assert_int_equal(assert_only_finding(report, "irq-early", 4, "lapic on core 4, one of 4 cores: 200 of 200 "
							     "one-shots came early")->low, 5000);
	}
}

/*
 * The timers of two cores have one test each, with one-shots of the same length. Early one-shots are a fault only if
 * they are more than half of all.
 */
TEST(a_few_early_one_shots_of_one_length_are_no_fault_even_if_each_core_has_some)
{
	for (uint64_t early = 2; early <= 101; early += 99) {
		struct interval_figures tests[2];

		for (uint32_t core = 0; core < 2; core++) {
			tests[core] = with_early(one_shots("lapic", 200), early, (struct interval_ns){ true, 6000, 5000, 7000 });
			tests[core].test.core = core;
		}
		struct report *report = judge_tests(literal_make_clean_report(), tests, 2);
		assert_outcome(report, "irq-early", "lapic", early > 100 ? OUTCOME_FAILED : OUTCOME_NOT_DETERMINED, NULL);
		assert_non_null(strstr(rules_find_row(report, "irq-early", "lapic")->text, early > 100 ?
				       "202 of 400 one-shots came early, by up to 5000 to 7000 ns." :
				       "4 of 400 one-shots came early, by up to 5000 to 7000 ns, too few to prove a fault"));
	}
}

/* Each of four cores has a row for one-shots and a row for periods. The cores in the bit mask SICK lost one-shots. */
TEST(the_core_is_named_if_only_its_lapic_timer_loses_one_shots)
{
	static const struct {
		unsigned sick;
		uint32_t core;
		const char *text;
	} machines[] = {
		{ 1u << 2, 4, "lapic on core 4, one of 4 cores: 11 of 400 one-shots never came" },
		{ 1u << 0, 0, "lapic on core 0, one of 4 cores: 13 of 400 one-shots never came" },
		{ 1u << 1 | 1u << 3, REPORT_NO_CORE, "lapic on 2 of 4 cores, most often on core 2: 22 of 400 one-shots never came" },
		{ 15, REPORT_NO_CORE, "lapic: 46 of 400 one-shots never came" },
	};

	for (size_t i = 0; i < COUNT(machines); i++) {
		struct interval_figures tests[8];

		for (uint32_t core = 0; core < 4; core++) {
			tests[2 * core] = with_missing(one_shots("lapic", 100), machines[i].sick & 1u << core ? 13 - core : 0);
			tests[2 * core + 1] = periods("lapic", 80);
			tests[2 * core].test.core = tests[2 * core + 1].test.core = 2 * core;
		}
		assert_only_finding(judge_tests(literal_make_clean_report(), tests, 8), "irq-missing", machines[i].core,
				    machines[i].text);
	}
}

/*
 * Preemption excuses most periods of one core, so that all tests together prove nothing. The timer of the other core
 * lost ticks without preemption.
 */
TEST(a_core_that_breaks_a_rule_is_named_even_if_the_tests_of_other_cores_prove_nothing)
{
	for (uint64_t lost = 0; lost <= 20; lost += 20) {
		struct interval_figures tests[] = { periods("lapic", 80), with_lost(periods("lapic", 80), lost) };

		tests[0].excused = 75;
		tests[1].test.core = 2;
		struct report *report = judge_tests(bare_metal(), tests, 2);
		if (lost)
			assert_string_equal(assert_only_finding(report, "irq-lost", 2, "")->text,
					    "lapic on core 2, one of 2 cores: 20 of 80 periods had no tick.");
		else
			assert_int_equal(report->outcomes.finding_count, 0);
	}
}

TEST(more_interrupts_than_one_shots_in_a_damaged_record_leave_no_one_shot_uncounted)
{
	struct interval_figures test = one_shots("hpet0", 100);

	test.delivered = 130;
	assert_outcome(judge_test(test), "irq-missing", "hpet0", OUTCOME_PASSED, "none of 130 one-shots is missing.");
}

/*
 * Each case has early one-shots of two durations, on the same core or on two cores. They are a finding if the proven
 * minimum (`low`) of the earliness is above 0. For the PIT, it must be above two periods of the PIT's clock, 1,677 ns.
 */
TEST(one_shots_are_early_by_the_proven_minimum)
{
	static const struct {
		const char *source;
		uint32_t second_core, named;
		struct interval_ns earliest[2];
		int64_t low; /* the finding's figure, 0 if there is no finding */
	} cases[] = {
		{ "pit0", 0, REPORT_NO_CORE, { { true, 3000, 1677, 4323 }, { true, 3000, 1000, 5000 } }, 0 },
		{ "pit0", 0, REPORT_NO_CORE, { { true, 3000, 1678, 4322 }, { true, 3000, 1000, 5000 } }, 1 },
		{ "hpet0", 0, REPORT_NO_CORE, { { true, 3000, 0, 6000 }, { true, 3000, 0, 6000 } }, 0 },
		{ "hpet0", 0, REPORT_NO_CORE, { { true, 6000, 5000, 7000 }, { true, 9000, 1000, 17000 } }, 5000 },
		{ "lapic", 2, 2, { { true, 9000, 0, 18000 }, { true, 6000, 5000, 7000 } }, 5000 },
	};

	for (size_t n = 0; n < COUNT(cases); n++) {
		struct interval_figures tests[2];

		for (size_t i = 0; i < 2; i++)
			tests[i] = with_early(one_shots(cases[n].source, 200), 200, cases[n].earliest[i]);
		tests[0].test.asked_ns = 20000;
		tests[1].test.core = cases[n].second_core;
		struct report *report = judge_tests(literal_make_clean_report(), tests, 2);
		assert_outcome(report, "irq-early", cases[n].source, cases[n].low ? OUTCOME_FAILED : OUTCOME_PASSED, NULL);
		assert_int_equal(report->outcomes.finding_count, cases[n].low != 0);
		if (cases[n].low)
			assert_int_equal(assert_only_finding(report, "irq-early", cases[n].named, "")->low, cases[n].low);
	}
}

/* A timer that drops one-shots also loses ticks. The lost ticks are a finding only if no one-shot is missing. */
TEST(lost_ticks_of_a_timer_that_drops_one_shots_are_no_second_finding)
{
	for (uint64_t missing = 0; missing <= 7; missing += 7) {
		const struct interval_figures tests[] = {
			with_missing(one_shots("lapic", 100), missing), with_lost(periods("lapic", 80), 7),
		};
		struct report *report = judge_tests(bare_metal(), tests, 2);
		const struct rule_fault *explained_by = &rules_find_row(report, "irq-lost", "lapic")->explained_by;

		assert_only_finding(report, missing ? "irq-missing" : "irq-lost", REPORT_NO_CORE, "");
		assert_true(missing ? strcmp(explained_by->rule, "irq-missing") == 0 &&
			    strcmp(explained_by->clock, "lapic") == 0 : !explained_by->rule);
	}
}

/*
 * A comparator that is armed with an expired deadline must not interrupt. One or two interrupts in four tries may be
 * late interrupts of an earlier one-shot. Three or four are a fault. QEMU's HPETs interrupt at once.
 */
TEST(an_interrupt_for_an_expired_deadline_is_a_fault_in_three_of_four_tries_only_and_not_in_qemu)
{
	static const enum outcome outcomes[] = {
		OUTCOME_PASSED, OUTCOME_NOT_DETERMINED, OUTCOME_NOT_DETERMINED, OUTCOME_FAILED, OUTCOME_FAILED,
	};
	struct interval_figures test = one_shots("hpet0", 100);

	test.over = 4;
	for (test.stale = 0; test.stale <= 4; test.stale++)
		assert_outcome(judge_tests(bare_metal(), &test, 1), "hpet-stale", "hpet0", outcomes[test.stale], NULL);
	test.stale = 3;
	struct report *report = judge_test(test);
	assert_outcome(report, "hpet-stale", "hpet0", OUTCOME_NOT_CHECKED, "armed 4 times with a deadline that had passed, "
		       "the timer interrupted 3 times: not judged, because QEMU's HPETs do this in every guest.");
	assert_int_equal(rules_find_row(report, "hpet-stale", "hpet0")->unchecked, UNCHECKED_GUEST);
}

/*
 * Deadlines in a gap do not count. The host that preempted the core may also have delayed the timer, because threads
 * of the same host send a guest's interrupts.
 */
TEST(lost_ticks_are_not_determined_if_gaps_hit_as_large_a_share)
{
	static const struct {
		uint64_t expected, excused, lost;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ 989, 977, 12, OUTCOME_NOT_DETERMINED, NULL },
		{ 971, 917, 30, OUTCOME_NOT_DETERMINED, NULL },
		{ 800, 80, 70, OUTCOME_NOT_DETERMINED, "70 of 720 periods had no tick; 80 more do not count, because preemption or "
		  "slow reads of the TSC may have affected them, too many to decide." },
		{ 800, 80, 80, OUTCOME_FAILED, NULL },
		{ 800, 0, 1, OUTCOME_FAILED, NULL },
		{ 800, 400, 0, OUTCOME_PASSED, NULL },
		{ 800, 401, 0, OUTCOME_NOT_DETERMINED, NULL },
		{ 800, 800, 0, OUTCOME_NOT_CHECKED, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval_figures test = periods("pit0", rows[i].expected);

		test.excused = rows[i].excused;
		test.empty = rows[i].lost;
		assert_outcome(judge_test(test), "irq-lost", "pit0", rows[i].outcome, rows[i].text);
	}
}

/*
 * If gaps hit most one-shots of a source, the source's rules are not determined. An exception is the rule for missing
 * interrupts: if all interrupts came, none is missing, even if some were late.
 */
TEST(a_source_whose_one_shots_are_mostly_in_gaps_is_not_passed)
{
	static const struct {
		uint64_t excused, delivered;
		enum outcome missing, others;
		const char *early;
	} rows[] = {
		{ 0, 100, OUTCOME_PASSED, OUTCOME_PASSED, "none of 100 one-shots came earlier than the measurement error allows." },
		{ 39, 70, OUTCOME_PASSED, OUTCOME_PASSED,
		  "none of 61 one-shots came earlier than the measurement error allows; 39 more do not count, because "
		  "preemption or slow reads of the TSC may have affected them." },
		{ 61, 100, OUTCOME_PASSED, OUTCOME_NOT_DETERMINED,
		  "none of 39 one-shots came earlier than the measurement error allows; 61 more do not count, because "
		  "preemption or slow reads of the TSC may have affected them, too many to decide." },
		{ 61, 40, OUTCOME_NOT_DETERMINED, OUTCOME_NOT_DETERMINED, NULL },
		{ 100, 100, OUTCOME_PASSED, OUTCOME_NOT_CHECKED,
		  "preemption or slow reads of the TSC may have affected each of the timer's one-shots." },
		{ 100, 1, OUTCOME_NOT_DETERMINED, OUTCOME_NOT_CHECKED, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval_figures test = one_shots("hpet0", 100);

		test.excused = rows[i].excused;
		test.delivered = rows[i].delivered;
		test.lateness.count = 0;
		struct report *report = judge_test(test);
		assert_outcome(report, "irq-missing", "hpet0", rows[i].missing, NULL);
		assert_outcome(report, "irq-early", "hpet0", rows[i].others, rows[i].early);
		assert_outcome(report, "irq-doubled", "hpet0", rows[i].others, NULL);
	}
}

/*
 * A deadline that does not count was in a gap between two reads of the TSC. The gap may be a preemption, but every gap
 * may also be a slow read, as under QEMU's -icount. No sentence may call it a preemption only. The source has
 * one-shots, periods or both.
 */
TEST(deadlines_that_do_not_count_have_both_possible_reasons)
{
	static const struct {
		uint64_t shots, excused_shots, periods, excused_periods;
		const char *rule, *text;
	} rows[] = {
		{ 100, 1, 0, 0, "irq-early",
		  "none of 99 one-shots came earlier than the measurement error allows; 1 more does not count, because "
		  "preemption or slow reads of the TSC may have affected it." },
		{ 1, 1, 0, 0, "irq-missing", "preemption or slow reads of the TSC may have affected each of the timer's one-shots." },
		{ 100, 100, 0, 0, "irq-doubled",
		  "preemption or slow reads of the TSC may have affected each of the timer's deadlines." },
		{ 0, 0, 80, 80, "irq-lost", "preemption or slow reads of the TSC may have affected each of the timer's periods." },
		{ 0, 0, 80, 80, "irq-doubled",
		  "preemption or slow reads of the TSC may have affected each of the timer's deadlines." },
		{ 100, 0, 80, 80, "irq-doubled",
		  "0 of 100 deadlines had two interrupts; 80 more do not count, because preemption or slow reads of the "
		  "TSC may have affected them." },
		{ 100, 100, 0, 0, "irq-late",
		  "fewer than 20 of the one-shots of 100 us have a known lateness, too few for a median." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval_figures tests[2];
		size_t count = 0;

		if (rows[i].shots) {
			tests[0] = one_shots("hpet0", rows[i].shots);
			tests[0].delivered = strcmp(rows[i].rule, "irq-missing") == 0 ? 0 : rows[i].shots;
			tests[count++].excused = rows[i].excused_shots;
		}
		if (rows[i].periods) {
			tests[count] = periods("hpet0", rows[i].periods);
			tests[count++].excused = rows[i].excused_periods;
		}
		for (size_t t = 0; t < count; t++)
			tests[t].lateness.count = 0;
		struct report *report = judge_tests(literal_make_clean_report(), tests, count);
		assert_string_equal(rules_find_row(report, rows[i].rule, "hpet0")->text, rows[i].text);
	}
}

/*
 * A busy host delays an emulator's timers. This explains three lost ticks, or any number of them if other ticks are
 * late. It does not explain five lost ticks if all others are in time.
 */
TEST(lost_ticks_of_an_emulator_are_a_fault_if_a_busy_host_does_not_explain_them)
{
	static const struct {
		const char *accelerator, *rule;
		uint64_t lost;
		int64_t p50_ns, p999_ns;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ "none", "irq-lost", 5, 500, 600, OUTCOME_FAILED, "5 of 800 periods had no tick." },
		{ "tcg", "irq-lost", 3, 500, 600, OUTCOME_NOT_CHECKED,
		  "3 of 800 periods had no tick: not judged in an emulator, because a busy host makes it drop "
		  "interrupts or send two together." },
		{ "tcg", "irq-lost", 5, 500, 125000, OUTCOME_NOT_CHECKED,
		  "5 of 800 periods had no tick: not judged in an emulator, because a busy host makes it drop "
		  "interrupts or send two together." },
		{ "tcg", "irq-lost", 5, 500, 600, OUTCOME_FAILED,
		  "5 of 800 periods had no tick; the other interrupts are late by less than 1/8 of the interval, so "
		  "waiting for the host does not explain this." },
		{ "none", "irq-late", 0, 60000, 61000, OUTCOME_FAILED,
		  "half of the one-shots of 100 us are at least 59.9 us late." },
		{ "tcg", "irq-late", 0, 60000, 61000, OUTCOME_NOT_CHECKED,
		  "half of the one-shots of 100 us are at least 59.9 us late: not judged in an emulator, because "
		  "waiting for its host can delay interrupts." },
		{ "none", "irq-late", 0, 10, 600, OUTCOME_PASSED,
		  "half of the one-shots of 100 us are at most 30 ns late." },
		{ "none", "irq-late", 0, -21, 600, OUTCOME_PASSED,
		  "half of the one-shots of 100 us came before they were due: see irq-early." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct report *report = literal_make_clean_report();
		struct interval_figures test = rows[i].lost ? with_lost(periods("pit0", 800), rows[i].lost) : one_shots("pit0", 800);

		LITERAL_COPY(report->facts.machine.accelerator, rows[i].accelerator);
		test.rate.known = false;
		test.lateness = (struct report_lateness){ .count = 100, 400, rows[i].p50_ns, rows[i].p999_ns, rows[i].p999_ns,
							  rows[i].p999_ns, 20 };
		assert_outcome(judge_tests(report, &test, 1), rows[i].rule, "pit0", rows[i].outcome, rows[i].text);
	}
}

/*
 * One-shots that never came are a fault if the timer's status shows that they were due and interrupts reach the core.
 */
TEST(a_sentence_says_why_missing_one_shots_are_a_fault_or_not)
{
	static const struct {
		const char *kind;
		uint64_t delivered, expired;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ "ioapic", 190, 10, OUTCOME_FAILED,
		  "10 of 200 one-shots never came, and the timer's status shows that they were due." },
		{ "ioapic", 190, 0, OUTCOME_NOT_DETERMINED,
		  "10 of 200 one-shots never came; the timer's status does not show that they were due." },
		{ "ioapic", 0, 10, OUTCOME_NOT_DETERMINED,
		  "no interrupt came through pin 2: either the timer or the route to the core has failed." },
		{ "ioapic", 0, 0, OUTCOME_NOT_DETERMINED,
		  "10 of 200 one-shots never came; the timer's status does not show that they were due." },
		{ "status", 0, 0, OUTCOME_NOT_DETERMINED,
		  "the timer's counter passed the deadline, but its status bit never showed that." },
		{ "lapic", 0, 10, OUTCOME_FAILED,
		  "10 of 200 one-shots never came, and the timer's status shows that they were due." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval_figures test = with_missing(one_shots("pit0", 200), 10);

		test.test.route_kind = rows[i].kind;
		test.test.pin = 2;
		test.delivered = rows[i].delivered;
		test.expired = rows[i].expired;
		assert_outcome(judge_test(test), "irq-missing", "pit0", rows[i].outcome, rows[i].text);
	}
}

/*
 * A one-shot that was armed when the machine was stopped may be lost with the stop. The stop is not the cause if the
 * one-shot was armed later, if others are missing too, or if only one clock jumped.
 */
TEST(a_single_missing_one_shot_was_likely_armed_before_the_stop_in_whose_time_it_was_armed)
{
	static const struct {
		uint64_t missing, armed_tsc;
		unsigned one, other;
		bool told;
	} rows[] = {
		{ 1, 1000, 9, 6, true }, { 1, 2000, 9, 6, true }, { 1, 999, 9, 6, false }, { 1, 2001, 9, 6, false },
		{ 2, 1500, 9, 6, false }, { 1, 1500, 4, 11, false }, { 1, 1500, 8, 7, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct report *report = literal_make_clean_report();
		struct interval_figures test = with_missing(one_shots("lapic_deadline", 100), rows[i].missing);

		literal_part_clocks(report, rows[i].one, rows[i].other);
		report->figures.discontinuities[0].from_tsc = 1000;
		report->figures.discontinuities[0].at_tsc = 2000;
		test.lost_tsc = rows[i].armed_tsc;
		judge_tests(report, &test, 1);
		assert_outcome(report, "irq-missing", "lapic_deadline", OUTCOME_FAILED, NULL);
		assert_int_equal(rows[i].told, strstr(rules_find_row(report, "irq-missing", "lapic_deadline")->text,
						      "armed before the stop") != NULL);
	}
}

TEST(a_rate_of_ticks_passes_within_its_limit_and_fails_beyond_it)
{
	static const struct {
		struct interval_ppb rate;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ { true, 50000, -400000, 500000 }, OUTCOME_PASSED, "the timer's periods are off by -400 to 500 ppm." },
		{ { true, 250000, -400000, 900000 }, OUTCOME_NOT_DETERMINED,
		  "the timer's periods are off by -400 to 900 ppm: the periods are too uneven to decide." },
		{ { true, 700500, 501000, 900000 }, OUTCOME_FAILED, "the timer's periods are off by 501 to 900 ppm." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval_figures test = periods("pit0", 200);

		test.rate = rows[i].rate;
		assert_outcome(judge_test(test), "irq-rate", "pit0", rows[i].outcome, rows[i].text);
	}
}

/* A one-shot has a single deadline, so a second interrupt of a one-shot is always superfluous. */
TEST(two_ticks_in_a_period_are_not_determined_if_one_may_be_late_by_most_of_a_period)
{
	static const struct {
		uint64_t shots, error_ns;
		enum outcome outcome;
	} rows[] = { { 0, 20, OUTCOME_FAILED }, { 0, 262000, OUTCOME_NOT_DETERMINED }, { 1, 262000, OUTCOME_FAILED } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval_figures tests[] = { one_shots("lapic", 100), periods("lapic", 100) };

		tests[0].test.asked_ns = 1000000;
		tests[0].doubled = rows[i].shots;
		tests[1].doubled = 1;
		for (size_t t = 0; t < 2; t++) {
			tests[t].delivered = 101;
			tests[t].lateness.error_ns = rows[i].error_ns;
		}
		assert_outcome(judge_tests(literal_make_clean_report(), tests, 2), "irq-doubled", "lapic", rows[i].outcome, NULL);
	}
}

/* JUnit needs the same rows in each run of one configuration, also if a rule could not be checked. */
TEST(a_tested_timer_has_the_same_rows_if_no_interrupt_came)
{
	struct interval_figures test = one_shots("hpet0", 100);

	test.delivered = test.lateness.count = 0;
	test.empty = 100;
	struct report *report = judge_test(test);
	assert_non_null(rules_find_row(report, "irq-missing", "hpet0"));
	assert_non_null(rules_find_row(report, "irq-late", "hpet0"));
	assert_outcome(report, "irq-early", "hpet0", OUTCOME_NOT_CHECKED, "no interrupt came.");
	assert_outcome(report, "irq-doubled", "hpet0", OUTCOME_NOT_CHECKED, "no interrupt came.");
	assert_outcome(report, "hpet-stale", "hpet0", OUTCOME_NOT_CHECKED,
		       "no deadline passed while the timer's interrupt was disabled.");
}
