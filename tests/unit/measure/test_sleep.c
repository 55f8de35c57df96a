/*
 * Tests of clocks in sleep states, in whole runs on a simulated machine with three cores. Each fault is named with its
 * state and its core, and nothing else is.
 */
#include <stdio.h>

#include "test.h"
#include "bench.h"
#include "findings.h"
#include "judge/judge.h"
#include "report/phrase.h"
#include "sim.h"
#include "sim_sleep.h"
#include "threads.h"

#define CORES       3
#define READ_TICKS  40 /* duration of a TSC reading in ns, so that a sleep of 20 ms takes few readings */
#define THERMAL     0x6u
#define ARAT        4u
#define MSR_TSC_ADJUST 0x3bu

struct options_of_test {
	enum sim_sleep_fault fault;
	uint32_t state;
	enum options_sleep sleep;
	uint32_t counters;
	bool has_no_arat, has_deadlines, has_no_pm, hpet_ticks, is_guest;
	uint32_t core; /* the core with the fault, SIM_FAULTY_CORE if 0 */
	uint64_t adjust; /* TSC_ADJUST of all cores before the run */
	uint64_t busy_ps;
	uint64_t steps_ms; /* time at which this core's TSC is set back by 20 ms; 0 for never */
	const char *left_out;
};

static const char *started[16];
static size_t started_count;

static void
note_state(void *context, const char *name)
{
	(void)context;
	started[started_count] = name[0] == 'h' ? "halt" : "mwait-20h";
	assert_string_equal(name, started[started_count++]);
}

static bool
offset_contains(struct offset offset, int64_t value)
{
	return offset.low <= value && value <= offset.high;
}

static const struct sleep_hooks noted = { &sim_sleep_driver, note_state, NULL };

static struct bench *
run(const struct options_of_test *options)
{
	static const char *const clocks[] = { "tsc", "hpet", "acpi_pm", NULL }, *const no_pm[] = { "tsc", "hpet", NULL };
	struct bench *bench;

	sim_reset();
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 4 * SIM_PS_PER_US;
	sim_slow_tsc_reads(4);
	sim_cpuid_set(THERMAL, 0, (struct hw_cpuid){ options->has_no_arat ? 0 : ARAT, 0, 0, 0 });
	sim_sleep.state = options->state;
	sim_sleep.has_deep = options->sleep == SLEEP_DEEP;
	sim_sleep.has_deadlines = options->has_deadlines;
	sim_sleep.counters = options->counters;
	sim_msr_set(MSR_TSC_ADJUST, options->adjust);
	if (options->hpet_ticks) {
		sim.hpet.configuration = 1; /* ENABLE_CNF */
		sim.hpet.timers[0] = 4;     /* Tn_INT_ENB_CNF */
	}
	bench = bench_new();
	bench->sleeps = true;
	bench->clocks = options->has_no_pm ? no_pm : clocks;
	bench->duration_ns = 10000000;
	bench_open(bench, CORES);
	bench->run.report.facts.options.cores.sleep = options->sleep;
	bench->run.survey.hooks.sleep = &noted;
	if (options->left_out)
		snprintf(bench->run.report.facts.sleep_left_out, 16, "%s", options->left_out);
	bench_use_threads(bench);
	for (size_t core = 0; core < CORES; core++)
		threads_cores[core].late_ticks = READ_TICKS;
	sim_sleep.fault = options->fault;
	sim_sleep.core = options->core ? options->core : SIM_FAULTY_CORE;
	sim_sleep.busy_ps = options->busy_ps;
	if (options->steps_ms) {
		threads_cores[sim_sleep.core].steps_at = THREADS_WORLD_0 + options->steps_ms * 1000000;
		threads_cores[sim_sleep.core].step_ticks = -20000000;
	}
	if (options->is_guest)
		snprintf(bench->run.report.facts.machine.hypervisor, 16, "Guest");
	started_count = 0;
	(void)bench_run(bench);
	return bench;
}

static struct bench *
run_with(enum options_sleep sleep_option, enum sim_sleep_fault fault, uint32_t state)
{
	return run(&(struct options_of_test){ .sleep = sleep_option, .fault = fault, .state = state });
}

static enum outcome
outcome_of(const struct bench *bench, const char *rule, const char *clock)
{
	return find_outcome(&bench->run.report, rule, clock);
}

static const struct report_sleep *
find_sleep(const struct bench *bench, const char *state, uint32_t core)
{
	const struct report_sleeps *sleeps = &bench->run.report.figures.sleeps;

	for (size_t i = sleeps->count; i-- > 0;)
		if (strcmp(sleeps->rows[i].state, state) == 0 && sleeps->rows[i].core == core)
			return &sleeps->rows[i];
	fail_msg("no sleep of core %u in %s", core, state);
	return NULL;
}

/* Asserts that the only finding is by RULE about CLOCK, and that it names CORE. */
static void
assert_named(const struct bench *bench, const char *rule, const char *clock, uint32_t core)
{
	assert_int_equal(assert_only_finding(&bench->run.report, rule, clock)->core, core);
}

static bool
has_finding(const struct bench *bench, const char *rule, uint32_t core)
{
	const struct outcomes *outcomes = &bench->run.report.outcomes;
	size_t i = 0;

	while (i < outcomes->finding_count &&
	       (strcmp(outcomes->findings[i].rule, rule) != 0 || outcomes->findings[i].core != core))
		i++;
	return i < outcomes->finding_count;
}

TEST(a_healthy_machine_passes_all_rules_in_both_states)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .has_deadlines = true });
	const struct report_sleep *sleep = find_sleep(bench, "halt", SIM_FAULTY_CORE);

	assert_no_finding(&bench->run.report);
	assert_int_equal(outcome_of(bench, "tsc-sleeps", "tsc"), OUTCOME_PASSED);
	assert_int_equal(outcome_of(bench, "tsc-adjust-sleeps", "tsc"), OUTCOME_PASSED);
	assert_int_equal(outcome_of(bench, "lapic-sleeps", "lapic"), OUTCOME_PASSED);
	assert_int_equal(outcome_of(bench, "clock-sleeps", "hpet"), OUTCOME_PASSED);
	assert_int_equal(outcome_of(bench, "clock-sleeps", "acpi_pm"), OUTCOME_PASSED);
	assert_int_equal(outcome_of(bench, "wake-late", "lapic"), OUTCOME_PASSED);
	assert_false(sleep->left);
	assert_in_range(sleep->slept_ns, 20000000, 20100000);
	for (size_t way = 0; way < WAYS_OF_WAKING; way++) {
		assert_int_equal(sleep->wakes[way].count, 8);
		assert_int_equal(sleep->wakes[way].missed, 0);
		assert_in_range(sleep->wakes[way].p50_ns, 0, 2000);
	}
	assert_int_equal(started_count, 1);
	assert_true(has_note(&bench->run.report, "on simulated and emulated machines only."));
	bench_free(bench);
}

TEST(a_tsc_that_stops_in_halt_is_named_with_its_core)
{
	struct bench *bench = run_with(SLEEP_HALT, SIM_SLEEP_STOPS_TSC, SLEEP_BY_HLT);
	const struct report_sleep *sleep = find_sleep(bench, "halt", SIM_FAULTY_CORE);

	assert_named(bench, "tsc-sleeps", "tsc", SIM_FAULTY_CORE);
	/* one sleep of 20 ms and 16 of 1 ms */
	assert_in_range(-sleep->tsc_gained_ns.high, 36000000, 36500000);
	assert_in_range(-sleep->tsc_gained_ns.low, 36000000, 36500000);
	assert_int_equal(outcome_of(bench, "clock-sleeps", "hpet"), OUTCOME_PASSED);
	bench_free(bench);
}

/*
 * The core's TSC is set back by 20 ms after the first measurement of its offset and before its sleeps, so its drift is
 * not known. The host runs the core 50 ms late before each short sleep, so the sleeps are a small part of the time
 * between the measurements of its offset.
 */
TEST(a_tsc_of_unknown_drift_that_stops_in_halt_is_named_on_a_busy_host_by_its_long_sleep)
{
	struct options_of_test options = { .sleep = SLEEP_HALT, .state = SLEEP_BY_HLT, .steps_ms = 960,
					   .busy_ps = 50 * SIM_PS_PER_MS };

	for (int is_faulty = 0; is_faulty < 2; is_faulty++) {
		options.fault = is_faulty ? SIM_SLEEP_STOPS_TSC : SIM_SLEEP_HEALTHY;
		struct bench *bench = run(&options);
		const struct report_sleep *sleep = find_sleep(bench, "halt", SIM_FAULTY_CORE);

		assert_int_equal(has_finding(bench, "tsc-sleeps", SIM_FAULTY_CORE), is_faulty);
		assert_int_equal(offset_is_known(sleep->tsc_gained_ns), is_faulty);
		if (is_faulty) {
			/* the core surely lost the sleep of 20 ms, and at most all sleeps */
			assert_in_range(-sleep->tsc_gained_ns.high, 19900000, 20100000);
			assert_in_range(-sleep->tsc_gained_ns.low, 36000000, 36500000);
		}
		bench_free(bench);
	}
}

TEST(a_tsc_that_is_set_back_between_two_sleeps_is_not_said_to_stop_in_them)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .state = SLEEP_BY_HLT, .steps_ms = 1100,
							     .busy_ps = 50 * SIM_PS_PER_MS });

	assert_no_finding(&bench->run.report);
	assert_int_equal(outcome_of(bench, "tsc-sleeps", "tsc"), OUTCOME_NOT_DETERMINED);
	assert_int_equal(find_row(&bench->run.report, "tsc-sleeps", "tsc")->core, SIM_FAULTY_CORE);
	bench_free(bench);
}

TEST(a_tsc_that_stops_on_the_core_that_is_compared_with_the_boot_core_does_not_accuse_the_boot_core)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .fault = SIM_SLEEP_STOPS_TSC,
							     .state = SLEEP_BY_HLT, .core = 1 });

	assert_named(bench, "tsc-sleeps", "tsc", 1);
	bench_free(bench);
}

TEST(in_a_guest_only_the_tsc_is_accused_because_the_host_may_delay_timers)
{
	static const enum sim_sleep_fault faults[] = { SIM_SLEEP_STOPS_LAPIC, SIM_SLEEP_STOPS_HPET, SIM_SLEEP_NEVER_WAKES,
						       SIM_SLEEP_WAKES_LATE, SIM_SLEEP_STOPS_TSC };

	for (size_t i = 0; i < 5; i++) {
		struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .fault = faults[i],
								     .state = SLEEP_BY_HLT, .is_guest = true });

		assert_false(has_note(&bench->run.report, "on simulated and emulated machines only."));
		if (faults[i] == SIM_SLEEP_STOPS_TSC)
			assert_named(bench, "tsc-sleeps", "tsc", SIM_FAULTY_CORE);
		for (size_t k = 0; k < bench->run.report.outcomes.finding_count && i < 4; k++)
			assert_null(strstr(bench->run.report.outcomes.findings[k].rule, "sleep"));
		bench_free(bench);
	}
}

TEST(a_timer_that_stops_in_halt_is_named_with_its_core_if_cpuid_promises_that_it_runs)
{
	struct options_of_test options = { .sleep = SLEEP_HALT, .fault = SIM_SLEEP_STOPS_LAPIC, .state = SLEEP_BY_HLT };
	struct bench *bench = run(&options);
	const struct report_sleep *sleep = find_sleep(bench, "halt", SIM_FAULTY_CORE);

	assert_named(bench, "lapic-sleeps", "lapic", SIM_FAULTY_CORE);
	assert_in_range(sleep->lapic_lost_ns.low, 19900000, 20100000);
	assert_in_range(sleep->lapic_lost_ns.high, 19900000, 20100000);
	assert_int_equal(sleep->wakes[WOKEN_BY_TIMER].missed, 8);
	assert_int_equal(sleep->wakes[WOKEN_BY_IPI].missed, 0);
	bench_free(bench);
	options.has_no_arat = true;
	bench = run(&options);
	assert_no_finding(&bench->run.report);
	assert_int_equal(outcome_of(bench, "lapic-sleeps", "lapic"), OUTCOME_NOT_CHECKED);
	bench_free(bench);
}

TEST(an_hpet_that_stops_while_all_cores_sleep_is_named)
{
	struct bench *bench = run_with(SLEEP_HALT, SIM_SLEEP_STOPS_HPET, SLEEP_BY_HLT);
	const struct report_sleeps *sleeps = &bench->run.report.figures.sleeps;

	assert_named(bench, "clock-sleeps", "hpet", REPORT_NO_CORE);
	for (size_t i = 0; i < sleeps->clock_count; i++) {
		bool is_it = sleeps->clocks[i].all && sleeps->clocks[i].clock == 1;

		assert_true(offset_contains(sleeps->clocks[i].lost_ns, is_it ? 20000000 : 0));
		/* so narrow that the rule can decide */
		assert_in_range(offset_width(sleeps->clocks[i].lost_ns), 0, rules_find("clock-sleeps")->limit);
	}
	assert_int_equal(outcome_of(bench, "clock-sleeps", "acpi_pm"), OUTCOME_PASSED);
	bench_free(bench);
}

TEST(tscs_that_all_stop_while_all_cores_sleep_are_named_although_they_stay_equal)
{
	struct bench *bench = run_with(SLEEP_HALT, SIM_SLEEP_STOPS_TSCS, SLEEP_BY_HLT);
	const struct report_sleep *sleep = find_sleep(bench, "halt", 0);

	assert_named(bench, "tsc-sleeps", "tsc", 0);
	assert_true(offset_contains(sleep->tsc_gained_ns, 0));
	assert_int_equal(outcome_of(bench, "clock-sleeps", "hpet"), OUTCOME_NOT_DETERMINED);
	bench_free(bench);
}

TEST(deadlines_of_a_timer_that_may_stop_do_not_show_that_the_core_wakes_late)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .fault = SIM_SLEEP_STOPS_LAPIC,
							     .state = SLEEP_BY_HLT, .has_deadlines = true, .has_no_arat = true });

	assert_no_finding(&bench->run.report);
	assert_in_range(find_sleep(bench, "halt", SIM_FAULTY_CORE)->wakes[WOKEN_BY_TIMER].p50_ns, 20000000, 30000000);
	assert_int_equal(outcome_of(bench, "lapic-sleeps", "lapic"), OUTCOME_NOT_CHECKED);
	assert_int_equal(outcome_of(bench, "wake-late", "lapic"), OUTCOME_PASSED);
	bench_free(bench);
}

TEST(a_pm_timer_that_stops_while_all_cores_sleep_is_named)
{
	struct bench *bench = run_with(SLEEP_HALT, SIM_SLEEP_STOPS_PM, SLEEP_BY_HLT);

	assert_named(bench, "clock-sleeps", "acpi_pm", REPORT_NO_CORE);
	bench_free(bench);
}

TEST(with_one_clock_of_the_chipset_nothing_says_which_of_two_stopped)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .fault = SIM_SLEEP_STOPS_HPET,
							     .state = SLEEP_BY_HLT, .has_no_pm = true });

	assert_no_finding(&bench->run.report);
	assert_int_equal(outcome_of(bench, "clock-sleeps", "hpet"), OUTCOME_NOT_DETERMINED);
	bench_free(bench);
}

TEST(an_hpet_that_the_firmware_s_tick_may_stop_is_not_accused)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .fault = SIM_SLEEP_STOPS_HPET,
							     .state = SLEEP_BY_HLT, .hpet_ticks = true });

	assert_no_finding(&bench->run.report);
	assert_int_equal(outcome_of(bench, "clock-sleeps", "hpet"), OUTCOME_NOT_DETERMINED);
	assert_int_equal(outcome_of(bench, "clock-sleeps", "acpi_pm"), OUTCOME_PASSED);
	bench_free(bench);
}

TEST(a_core_that_never_wakes_is_named_and_the_run_goes_on)
{
	struct bench *bench = run_with(SLEEP_HALT, SIM_SLEEP_NEVER_WAKES, SLEEP_BY_HLT);

	assert_named(bench, "wake-late", "lapic", SIM_FAULTY_CORE);
	assert_true(find_sleep(bench, "halt", SIM_FAULTY_CORE)->lost);
	assert_false(offset_is_known(find_sleep(bench, "halt", SIM_FAULTY_CORE)->adjusted_ns));
	assert_false(find_sleep(bench, "halt", 1)->lost);
	assert_int_equal(find_sleep(bench, "halt", 1)->wakes[WOKEN_BY_IPI].count, 8);
	assert_int_not_equal(outcome_of(bench, "tsc-sleeps", "tsc"), OUTCOME_FAILED);
	bench_free(bench);
}

TEST(a_core_that_wakes_200_us_late_is_named)
{
	struct bench *bench = run_with(SLEEP_HALT, SIM_SLEEP_WAKES_LATE, SLEEP_BY_HLT);
	const struct report_sleep *sleep = find_sleep(bench, "halt", SIM_FAULTY_CORE);

	assert_named(bench, "wake-late", "lapic", SIM_FAULTY_CORE);
	assert_in_range(sleep->wakes[WOKEN_BY_IPI].p50_ns, 200000, 202000);
	/* the deadline is known only by a reading after the timer was armed, so a wake-up can seem earlier by this time */
	assert_in_range(sleep->wakes[WOKEN_BY_TIMER].p50_ns, 200000 - 2 * READ_TICKS, 202000);
	bench_free(bench);
}

TEST(a_tsc_that_stops_in_a_deep_state_is_named_with_the_state)
{
	struct bench *bench = run_with(SLEEP_DEEP, SIM_SLEEP_STOPS_TSC, SIM_SLEEP_HINT);
	const struct report_sleeps *sleeps = &bench->run.report.figures.sleeps;

	assert_named(bench, "tsc-sleeps", "tsc", SIM_FAULTY_CORE);
	assert_non_null(strstr(bench->run.report.outcomes.findings[0].text,
			       "In the state mwait-20h the TSC of core 2 lost 36"));
	assert_int_equal(sleeps->count, 3 + 2);
	assert_true(offset_contains(sleeps->rows[1].tsc_gained_ns, 0));
	assert_int_equal(started_count, 2);
	bench_free(bench);
}

/* One sleep of 20 ms and 16 of 1 ms. If firmware hides a stop, only TSC_ADJUST shows that the TSC was written. */
TEST(a_tsc_that_firmware_writes_when_its_core_wakes_is_named_by_its_tsc_adjust)
{
	static const enum sim_sleep_fault faults[] = { SIM_SLEEP_RESTORES_TSC, SIM_SLEEP_HIDES_STOP };

	for (size_t i = 0; i < 2; i++) {
		struct bench *bench = run_with(SLEEP_HALT, faults[i], SLEEP_BY_HLT);
		const struct report_sleep *sleep = find_sleep(bench, "halt", SIM_FAULTY_CORE);

		assert_named(bench, "tsc-adjust-sleeps", "tsc", SIM_FAULTY_CORE);
		assert_in_range(i ? sleep->adjusted_ns.low : -sleep->adjusted_ns.high, 36000000, 36500000);
		assert_in_range(offset_width(sleep->adjusted_ns), 0, 1000);
		assert_true(offset_contains(sleep->tsc_gained_ns, i ? 0 : sleep->adjusted_ns.low));
		assert_int_equal(outcome_of(bench, "tsc-sleeps", "tsc"), i ? OUTCOME_PASSED : OUTCOME_NOT_DETERMINED);
		assert_true(offset_contains(find_sleep(bench, "halt", 1)->adjusted_ns, 0));
		bench_free(bench);
	}
}

TEST(a_tsc_adjust_that_wraps_changes_by_the_same_time)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_HALT, .fault = SIM_SLEEP_HIDES_STOP,
							     .state = SLEEP_BY_HLT, .adjust = INT64_MAX });

	assert_in_range(find_sleep(bench, "halt", SIM_FAULTY_CORE)->adjusted_ns.low, 36000000, 36500000);
	bench_free(bench);
}

TEST(a_state_that_a_core_does_not_enter_accuses_nobody_and_is_reported)
{
	struct bench *bench = run_with(SLEEP_DEEP, SIM_SLEEP_NOT_ENTERED, SIM_SLEEP_HINT);

	assert_no_finding(&bench->run.report);
	assert_true(find_sleep(bench, "mwait-20h", SIM_FAULTY_CORE)->left);
	assert_false(find_sleep(bench, "mwait-20h", 1)->left);
	assert_int_equal(find_row(&bench->run.report, "tsc-sleeps", "tsc")->cores_asked, 3);
	bench_free(bench);
}

TEST(a_core_without_a_timer_is_left_out_and_not_accused)
{
	struct bench *bench = run_with(SLEEP_DEEP, SIM_SLEEP_HAS_NO_TIMER, SLEEP_BY_HLT);
	const struct report_sleeps *sleeps = &bench->run.report.figures.sleeps;

	assert_no_finding(&bench->run.report);
	for (size_t i = 0; i < sleeps->count; i++)
		assert_int_not_equal(sleeps->rows[i].core, SIM_FAULTY_CORE);
	assert_int_equal(sleeps->count, 3);
	assert_int_equal(find_row(&bench->run.report, "wake-late", "lapic")->cores_asked, 1);
	assert_true(has_note(&bench->run.report, "Cores whose local APIC timer could not be used were left out"));
	bench_free(bench);
}

/* The CPU counts C1 and C6, but not C3 and C7. */
TEST(residency_counters_show_the_state_that_a_core_reached)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_DEEP, .fault = SIM_SLEEP_IS_SHALLOW,
							     .state = SIM_SLEEP_HINT, .counters = 1u << 0 | 1u << 2 });
	const struct report_sleep *halt = find_sleep(bench, "halt", 1), *deep = find_sleep(bench, "mwait-20h", 1);
	const struct report_sleep *shallow = find_sleep(bench, "mwait-20h", SIM_FAULTY_CORE);

	assert_no_finding(&bench->run.report);
	assert_in_range(halt->resident_ns[0], 20000000, 20100000);
	assert_int_equal(halt->resident_ns[2], 0);
	assert_in_range(deep->resident_ns[2], 20000000, 20100000);
	assert_int_equal(deep->resident_ns[0], 0);
	assert_in_range(shallow->resident_ns[0], 20000000, 20100000);
	assert_int_equal(shallow->resident_ns[2], 0);
	assert_true(deep->resident_ns[1] == UINT64_MAX && deep->resident_ns[3] == UINT64_MAX);
	assert_string_equal(phrase_reached_state(deep).bytes, "C6 or C7 20.0 ms");
	assert_string_equal(phrase_reached_state(shallow).bytes, "C1 20.0 ms");
	bench_free(bench);
}

TEST(the_state_in_which_the_last_run_hung_is_left_out)
{
	struct bench *bench = run(&(struct options_of_test){ .sleep = SLEEP_DEEP, .left_out = "mwait-20h" });

	assert_int_equal(started_count, 1);
	assert_string_equal(started[0], "halt");
	assert_int_equal(bench->run.report.figures.sleeps.count, 3);
	bench_free(bench);
}
