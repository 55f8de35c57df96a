/*
 * Whole runs on a simulated machine with timer interrupts. These tests need several sources of interrupts, or a
 * hypervisor. The program test_sources tests faults of single sources, and test_analysis_timers tests the figures of
 * single ticks.
 */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "sim.h"
#include "base/text.h"
#include "timers/timers.h"

#define DURATION_NS 10000000
#define NS          SIM_PS_PER_NS
#define TCG         "TCGTCGTCGTCG"
#define KVM         "KVMKVMKVM"

static struct bench *bench;
/* the sources to be tested; NULL for the usual sources of a quick run */
static const struct timer_driver *const *asked_drivers;

static void
begin(void)
{
	sim_reset();
	sim_interrupts_add_controllers();
	sim.spent = sim_slow_outside_timer_window;
}

static void
end(void)
{
	bench_free(bench);
	bench = NULL;
}

TEST_FIXTURE(begin, end);

/* Does a whole run in a guest of HYPERVISOR, or on bare metal if HYPERVISOR is "". */
static const struct report *
played(const char *hypervisor)
{
	bench = bench_new();
	bench->duration_ns = DURATION_NS;
	strcpy(bench->platform.cpu.hypervisor, hypervisor);
	bench_open(bench, 1);
	if (asked_drivers) {
		bench->machine.timers = asked_drivers;
		bench->run.report.facts.options.irq = IRQ_ALL;
	}
	strcpy(bench->run.report.facts.machine.accelerator, strcmp(hypervisor, TCG) == 0 ? "tcg" : "");
	(void)bench_run(bench);
	assert_true(sim.interrupts.longest_ps < 100 * SIM_PS_PER_MS);
	assert_int_equal(sim.interrupts.slot.strays, 0);
	return &bench->run.report;
}

/*
 * callbacks: number of callbacks of the firmware's timer so far. callbacks_max: number of callbacks after which this
 * timer is dead.
 */
static unsigned callbacks, callbacks_max;

static bool
firmware_ticks(uint64_t (*tsc)(void), uint64_t bound)
{
	assert_true(bound > 0);
	return callbacks++ < callbacks_max;
}

/*
 * If the timer never called back before the run, the run did not stop it. For example, U-Boot has no timer interrupts.
 */
TEST(a_dead_firmware_timer_is_noted_only_if_it_called_back_before_the_run)
{
	static const struct {
		unsigned callbacks_max, asked;
		bool noted;
	} cases[] = { { 0, 1, false }, { 1, 2, true }, { 2, 2, false } };

	for (size_t i = 0; i < 3; i++) {
		begin();
		callbacks = 0;
		callbacks_max = cases[i].callbacks_max;
		bench = bench_new();
		bench->duration_ns = DURATION_NS;
		bench_open(bench, 1);
		bench->machine.window.firmware_ticks = firmware_ticks;
		(void)bench_run(bench);
		assert_int_equal(callbacks, cases[i].asked);
		assert_int_equal(has_note(&bench->run.report, "did not call back within 1000 ms"), cases[i].noted);
		end();
	}
}

static const struct interval_figures *
row_of(const struct report *report, const char *source, bool periodic)
{
	for (size_t i = 0; i < report->figures.interval_count; i++)
		if (strcmp(report->figures.intervals[i].test.source, source) == 0 &&
		    report->figures.intervals[i].test.periodic == periodic)
			return &report->figures.intervals[i];
	fail_msg("no row of %s", source);
	return NULL;
}

static void
assert_passes(const struct report *report)
{
	assert_no_finding(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

TEST(a_healthy_machine_has_no_finding)
{
	static const char *const rules_of_all[] = { "irq-missing", "irq-early", "irq-lost", "irq-doubled", "irq-rate",
						    "irq-late" };
	const struct report *report;

	sim.spent = NULL; /* with slow readings some rules would not be determined */
	report = played("");
	assert_passes(report);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(find_outcome(report, rules_of_all[i], "lapic"), OUTCOME_PASSED);
		assert_int_equal(find_outcome(report, rules_of_all[i], "hpet0"), OUTCOME_PASSED);
	}
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *row = &report->figures.intervals[i];

		if (strcmp(row->test.source, "lapic") != 0 && strcmp(row->test.source, "hpet0") != 0)
			continue;
		assert_int_equal(row->delivered, row->expected);
		assert_in_range(row->lateness.p50_ns + (int64_t)row->lateness.error_ns, 500, 5000);
	}
}

/*
 * Each tick is late by 0.5 to 1.5 periods. The lateness of one-shots is still measured. A periodic tick may belong to
 * one of several deadlines, so no tick may be called lost or doubled.
 */
TEST(a_source_with_ticks_all_over_their_periods_has_none_lost_or_doubled)
{
	const struct report *report;

	sim.interrupts.hpet.late_ps = 1000000 * NS;
	report = played("");
	(void)assert_only_finding(report, "irq-late", "hpet0");
	assert_true(row_of(report, "hpet0", true)->scattered);
	assert_int_equal(find_outcome(report, "irq-lost", "hpet0"), OUTCOME_NOT_DETERMINED);
	assert_int_equal(find_outcome(report, "irq-doubled", "hpet0"), OUTCOME_NOT_DETERMINED);
}

/*
 * In the whole run no interrupt came through the source's pin of the I/O APIC. Therefore the route may be wrong, and no
 * source is named.
 */
TEST(if_no_interrupt_comes_through_a_pin_no_source_is_named)
{
	for (int wrong_pin = 0; wrong_pin < 2; wrong_pin++) {
		const struct report *report;

		end();
		begin();
		sim.interrupts.hpet.wrong_pin = wrong_pin;
		sim.interrupts.hpet.never = !wrong_pin;
		report = played("");
		assert_passes(report);
		assert_int_equal(find_outcome(report, "irq-missing", "hpet0"), OUTCOME_NOT_DETERMINED);
		assert_non_null(strstr(find_row(report, "irq-missing", "hpet0")->text, "no interrupt came through pin "
			"23"));
	}
}

TEST(lost_ticks_in_a_guest_are_a_warning)
{
	sim.interrupts.hpet.drop_every = 10;
	assert_int_equal(assert_only_finding(played(KVM), "irq-lost", "hpet0")->severity, VERDICT_WARN);
	assert_int_equal(bench->run.report.outcomes.verdict, VERDICT_WARN);
}

/* Does a whole run in an emulator that tests one source of each device. */
static const struct report *
played_in_an_emulator(void)
{
	static const struct timer_driver *const few[] = { &timer_lapic, &timer_hpet[0], &timer_rtc[0], NULL };

	asked_drivers = few;
	sim.cost_ps[SIM_PAUSE] = 500 * NS;
	const struct report *report = played(TCG);
	asked_drivers = NULL;
	return report;
}

static const struct {
	const char *name, *rule, *source;
	enum sim_source at;
	struct sim_timer fault;
	int64_t low, high; /* limits of a range that must overlap the finding's interval */
} own_faults[] = {
	{ "loses each seventh tick", "irq-lost", "rtc", SIM_RTC_PERIODIC, { .drop_every = 7 }, 11, 11 },
	{ "loses each tenth tick", "irq-lost", "hpet0", SIM_HPET_0, { .drop_every = 10 }, 7, 8 },
	{ "sends each fifth tick twice", "irq-doubled", "lapic", SIM_LAPIC, { .double_every = 5 }, 36, 36 },
	{ "is 300 us late", "irq-late", "lapic", SIM_LAPIC, { .delay_ps = 300000 * NS }, 300000, 302000 },
	{ "is 300 us late", "irq-late", "hpet0", SIM_HPET_0, { .delay_ps = 300000 * NS }, 300000, 302000 },
};

#define OWN_FAULTS (sizeof(own_faults) / sizeof(own_faults[0]))

/*
 * All interrupts that came were in time, or late by the same time. Therefore the emulator did not wait for a busy
 * host, and the fault is its own.
 */
TEST(an_emulators_fault_is_named_if_a_busy_host_does_not_explain_it)
{
	for (size_t i = 0; i < OWN_FAULTS; i++) {
		const struct finding *finding;

		print_message("%s %s\n", own_faults[i].source, own_faults[i].name);
		end();
		begin();
		sim.interrupts.timers[own_faults[i].at] = own_faults[i].fault;
		finding = assert_only_finding(played_in_an_emulator(), own_faults[i].rule, own_faults[i].source);
		assert_int_equal(finding->severity, VERDICT_WARN);
		assert_true(finding->low <= own_faults[i].high && finding->high >= own_faults[i].low);
	}
}

/*
 * The source loses or doubles a few ticks, or more ticks while others are late. Its lateness varies, or all sources are
 * late by the same time. An emulator that waits for its busy host can cause all of this, so it is no fault.
 */
TEST(an_emulators_fault_is_not_checked_if_a_busy_host_explains_it)
{
	static const struct sim_timer waits[] = {
		{ .drop_every = 40 },
		{ .drop_every = 7, .late_ps = 160000 * NS },
		{ .double_every = 160 },
		{ .double_every = 5, .late_ps = 160000 * NS },
		{ .late_ps = 120000 * NS },
		{ .delay_ps = 300000 * NS },
	};
	static const char *const rule_of[] = { "irq-lost", "irq-lost", "irq-doubled", "irq-doubled", "irq-late", "irq-late" };

	for (size_t i = 0; i < 6; i++) {
		const struct report *report;

		end();
		begin();
		for (size_t source = 0; source < SIM_SOURCES; source++)
			if (i == 5 || source == SIM_HPET_0)
				sim.interrupts.timers[source] = waits[i];
		report = played_in_an_emulator();
		assert_passes(report);
		assert_int_equal(find_outcome(report, rule_of[i], "hpet0"), OUTCOME_NOT_CHECKED);
	}
}

static uint64_t
count_left_out(const struct report *report)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->figures.interval_count; i++)
		count += report->figures.intervals[i].test.periodic ? report->figures.intervals[i].empty : 0;
	return count;
}

/*
 * The emulator's timers wait for the busy host, but the core continues. Therefore the core has no gap that would
 * explain the lost ticks.
 */
TEST(an_emulator_whose_timers_wait_for_a_busy_host_has_no_finding)
{
	static const uint64_t busy_us[] = { 300, 1000, 1500, 2000, 4500 };
	uint64_t left_out = 0;

	for (size_t i = 0; i < 5; i++) {
		const struct report *report;

		end();
		begin();
		sim.interrupts.busy_every_ps = (5 + i % 3 * 3) * SIM_PS_PER_MS;
		sim.interrupts.busy_ps = busy_us[i] * SIM_PS_PER_US;
		sim.interrupts.seed += i;
		report = played_in_an_emulator();
		assert_no_finding(report);
		left_out += count_left_out(report);
	}
	assert_true(left_out > 5);
}

/*
 * An interrupt of a one-shot comes late, when the next one-shot is already armed, as if an emulator waited for its
 * host. The interrupt must not count as an early interrupt of the next one-shot.
 */
TEST(an_interrupt_that_comes_with_the_next_one_shot_is_not_early)
{
	const struct report *report;

	sim.interrupts.hpet.late_ps = 30 * SIM_PS_PER_MS;
	sim.interrupts.hpet.late_one_in = 30;
	sim.interrupts.hpet.survives_disarm = true;
	report = played(KVM);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		assert_string_not_equal(report->outcomes.findings[i].rule, "irq-early");
	assert_int_equal(find_outcome(report, "irq-early", "hpet0"), OUTCOME_PASSED);
}

/* Ticks that are lost while the core is preempted are no fault. */
TEST(a_guest_that_is_preempted_has_no_finding)
{
	const struct report *report;

	sim.preempt_every = 40000;
	sim.preempt_ps = 3 * SIM_PS_PER_MS;
	report = played(KVM);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		assert_memory_not_equal(report->outcomes.findings[i].rule, "irq", 3);
	assert_true(row_of(report, "lapic", true)->excused > 0);
}
