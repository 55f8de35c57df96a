/*
 * Tests of exceptions on the boot core. If reading a clock caused the exception, the run does not read this clock
 * again. Any other exception ends all measurements.
 */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "checks/checks.h"
#include "paravirtual/leaves.h"
#include "sim.h"
#include "sim_guard.h"
#include "sim_paravirtual.h"
#include "timers/timers.h"

static struct bench *
opened(unsigned batches)
{
	struct bench *bench;

	sim_reset();
	bench = bench_new();
	bench_open(bench, 1);
	bench->run.survey.hooks.guarded = sim_guard;
	bench_call_before_batch(bench, "acpi_pm", batches, sim_take_fault);
	return bench;
}

static void
assert_others_are_measured(struct bench *bench)
{
	struct report *report = &bench->run.report;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (strcmp(entry->clock.id, "acpi_pm") == 0)
			continue;
		assert_int_equal(entry->clock.state, CLOCK_PRESENT);
		assert_int_not_equal(entry->latency->count, 0);
		assert_true(report->figures.clocks[i].implied.known || !report_clock_is_main_of_device(entry));
	}
}

/* A read of the clock causes an exception: in the first read, in the rate window, or in the latency measurement. */
TEST(a_clock_whose_read_causes_an_exception_is_broken_and_the_others_are_measured)
{
	static const unsigned moments[] = { 0, 1, 20, 250 };

	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		struct bench *bench = opened(moments[i]);
		struct report_clock *entry = bench_find_clock(bench, "acpi_pm");

		run_measure(&bench->run);
		assert_int_equal(entry->clock.state, CLOCK_BROKEN);
		assert_string_equal(entry->clock.reason,
				    "Access to it faulted: #PF (vector 14, error 2h) at baretick+1a30h, address fed000f0h.");
		assert_others_are_measured(bench);
		assert_false(bench->run.report.facts.run.incomplete);
		bench_close(bench);
		assert_int_equal(bench->run.report.outcomes.verdict, VERDICT_FAIL);
		bench_free(bench);
	}
}

static struct core_facts *no_facts;

static void
ask_and_fault(struct core_facts *facts)
{
	no_facts = facts;
	sim_take_fault();
}

TEST(an_exception_outside_of_clock_reads_ends_the_run_as_incomplete)
{
	struct bench *bench = opened(UINT32_MAX);
	struct report *report = &bench->run.report;

	bench->run.survey.hooks.core_facts = ask_and_fault;
	run_measure(&bench->run);
	assert_non_null(no_facts);
	assert_true(report->facts.run.incomplete);
	assert_string_equal(report->notes.sentences[report->notes.count - 1],
			    "The boot core took an exception in the phase facts, which ended there: #PF (vector 14, error 2h) at "
			    "baretick+1a30h, address fed000f0h. The results until then are reported.");
	assert_int_not_equal(bench_find_clock(bench, "acpi_pm")->latency->count, 0);
	bench_close(bench);
	assert_int_equal(report->outcomes.verdict, VERDICT_INCOMPLETE);
	bench_free(bench);
}

static void
look_and_fault(const struct checking *checking, struct behaviours *behaviours)
{
	sim_take_fault();
}

TEST(a_device_whose_check_causes_an_exception_is_broken_and_the_next_is_checked)
{
	struct bench *bench = opened(UINT32_MAX);
	static struct device_check checks[3];

	checks[0] = (struct device_check){ .driver = &acpi_pm_driver, .run = look_and_fault };
	checks[1] = (struct device_check){ .driver = &hpet_driver, .run = hpet_check };
	bench->machine.checks = checks;
	run_measure(&bench->run);
	assert_int_equal(bench_find_clock(bench, "acpi_pm")->clock.state, CLOCK_BROKEN);
	assert_int_not_equal(bench->run.report.facts.checks.count, 0);
	assert_false(bench->run.report.facts.run.incomplete);
	bench_free(bench);
}

static void
open_and_fault(const struct platform *platform, struct device *device, struct clock *clocks)
{
	sim_take_fault();
}

TEST(a_driver_that_causes_an_exception_when_opened_has_rows_that_say_so)
{
	struct driver driver = acpi_pm_driver;
	const struct driver *drivers_with_it[] = { &tsc_driver, &driver, NULL };
	struct bench *bench = opened(UINT32_MAX);
	struct run *run = test_calloc(1, sizeof(*run));

	driver.open = open_and_fault;
	options_set_defaults(&run->report.facts.options);
	bench->machine.drivers = drivers_with_it;
	bench->machine.hooks.guarded = sim_guard;
	run->smp = bench->run.smp;
	run_set_up(run, &bench->machine, bench->memory, 1, bench->widest);
	const struct report_clock *entry = report_find_clock(&run->report, "acpi_pm");

	assert_non_null(entry);
	assert_int_equal(entry->clock.state, CLOCK_BROKEN);
	assert_string_equal(entry->clock.main, "acpi_pm");
	assert_string_equal(entry->clock.reason,
			    "Access to it faulted: #PF (vector 14, error 2h) at baretick+1a30h, address fed000f0h.");
	test_free(run);
	bench_free(bench);
}

static void
close_and_fault(struct device *device)
{
	sim_take_fault();
}

/*
 * An exception may end a run before its set-up, while devices are changed, or after they were restored. Closing one
 * clock also causes an exception here. All other drivers must restore their changes.
 */
TEST(a_run_that_an_exception_ended_restores_all_devices)
{
	struct driver faulty = acpi_pm_driver;
	const struct driver *drivers_here[] = { &tsc_driver, &faulty, &kvmclock_driver, &hv_page_driver, NULL };
	struct run *run = test_calloc(1, sizeof(*run));
	struct bench *bench;

	run_restore_boot_core(run);
	sim_reset();
	sim_paravirtual_make_kvm_guest(true);
	bench = bench_new();
	bench_open(bench, 1);
	bench_close(bench);
	faulty.close = close_and_fault;
	bench->machine.drivers = drivers_here;
	bench->machine.hooks.guarded = sim_guard;
	options_set_defaults(&run->report.facts.options);
	run->smp = bench->run.smp;
	run_set_up(run, &bench->machine, bench->memory, 1, bench->widest);
	assert_false(sim_paravirtual_are_settings_restored());
	run_restore_boot_core(run);
	assert_true(sim_paravirtual_are_settings_restored());
	assert_string_equal(run->report.notes.sentences[run->report.notes.count - 1],
			    "Not restored: the state of acpi_pm, because closing this clock caused an exception.");
	run_restore_boot_core(run);
	assert_true(sim_paravirtual_are_settings_restored());
	test_free(run);
	bench_free(bench);
}

static uint32_t faulty_msr; /* MSR that causes an exception; if it is 0, all hypercalls cause exceptions instead */
static bool (*read_any)(uint32_t msr, uint64_t *value);
static bool (*write_any)(uint32_t msr, uint64_t value);

static bool
read_or_fault(uint32_t msr, uint64_t *value)
{
	if (msr == faulty_msr)
		sim_take_fault();
	return read_any(msr, value);
}

static bool
write_or_fault(uint32_t msr, uint64_t value)
{
	if (msr == faulty_msr)
		sim_take_fault();
	return write_any(msr, value);
}

static int64_t
fault_at_hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	sim_take_fault();
	return 0;
}

/* Asserts that a clock which CPUID offers, but the hypervisor does not implement, is broken. */
static void
assert_broken(const struct driver *driver, const char *id, uint32_t msr)
{
	const struct driver *drivers_here[] = { &tsc_driver, driver, NULL };
	struct run *run = test_calloc(1, sizeof(*run));
	const struct report_clock *entry;
	struct bench *bench;

	sim_reset();
	if (msr)
		sim_paravirtual_make_kvm_guest(true);
	else
		sim_paravirtual_make_xen_guest(false);
	bench = bench_new();
	bench->guard = sim_guard;
	bench_open(bench, 1);
	bench_close(bench);
	bench->machine.drivers = drivers_here;
	bench->machine.hooks.guarded = sim_guard;
	faulty_msr = msr;
	read_any = sim.read_msr;
	write_any = sim.write_msr;
	sim.read_msr = read_or_fault;
	sim.write_msr = write_or_fault;
	if (!msr)
		sim.hypercall = fault_at_hypercall;
	options_set_defaults(&run->report.facts.options);
	run->smp = bench->run.smp;
	run_set_up(run, &bench->machine, bench->memory, 1, bench->widest);
	entry = report_find_clock(&run->report, id);
	assert_non_null(entry);
	assert_int_equal(entry->clock.state, CLOCK_BROKEN);
	assert_string_equal(entry->clock.reason,
			    "Access to it faulted: #PF (vector 14, error 2h) at baretick+1a30h, address fed000f0h.");
	run_restore_boot_core(run);
	assert_true(sim_paravirtual_are_settings_restored());
	test_free(run);
	bench_free(bench);
}

TEST(a_hypervisors_clock_that_causes_an_exception_is_broken_and_restored)
{
	assert_broken(&kvmclock_driver, "kvmclock", MSR_KVM_SYSTEM_TIME_NEW);
	assert_broken(&hv_ref_driver, "hv_ref", MSR_HV_REFERENCE);
	assert_broken(&hv_page_driver, "hv_page", MSR_HV_REFERENCE_TSC);
	assert_broken(&xen_driver, "xen", 0);
}

static struct timer_driver faulty_timer;

static void
open_timer_and_fault(const struct platform *platform, struct timer *timer)
{
	sim_take_fault();
}

static void
set_up_timer_and_fault(struct timer *timer, uint32_t vector)
{
	sim_take_fault();
}

static uint64_t
arm_timer_and_fault(struct timer *timer, uint64_t ticks, bool periodic)
{
	sim_take_fault();
	return 0;
}

static void
disarm_timer_and_fault(struct timer *timer)
{
	sim_take_fault();
}

/* Tests timer_deadline with the fault that CHANGE adds, and then the LAPIC's timer. */
static void
assert_only_faulty_timer_is_broken(void (*change)(void))
{
	static const struct timer_driver *const timers[] = { &faulty_timer, &timer_lapic, NULL };
	struct bench *bench;
	const struct report *report;
	const struct finding *finding;
	size_t delivered = 0;
	bool changed_open;

	sim_reset();
	sim_interrupts_add_controllers();
	faulty_timer = timer_deadline;
	change();
	changed_open = faulty_timer.open == open_timer_and_fault;
	bench = bench_new();
	bench_open(bench, 1);
	sim_guard_timers(bench);
	bench->machine.timers = timers;
	(void)bench_run(bench);
	report = &bench->run.report;
	assert_false(report->facts.run.incomplete);
	finding = assert_only_finding(report, "clock-broken", "lapic_deadline");
	assert_non_null(strstr(finding->text, changed_open ? "lapic_deadline: An access to it faulted: #PF (vector 14, " :
			       "lapic_deadline: CPUID offers TSC deadlines, but an access faulted: #PF (vector 14, "));
	for (size_t i = 0; i < report->figures.interval_count; i++)
		if (strcmp(report->figures.intervals[i].test.source, "lapic") == 0)
			delivered += report->figures.intervals[i].delivered;
	assert_true(delivered > 0);
	bench_free(bench);
}

static void change_open(void) { faulty_timer.open = open_timer_and_fault; }
static void change_set_up(void) { faulty_timer.set_up = set_up_timer_and_fault; }
static void change_arm(void) { faulty_timer.arm = arm_timer_and_fault; }
static void change_disarm(void) { faulty_timer.disarm = disarm_timer_and_fault; }

static void
change_restore(void)
{
	faulty_timer.set_up = set_up_timer_and_fault;
	faulty_timer.restore = disarm_timer_and_fault;
}

TEST(a_timer_whose_access_causes_an_exception_has_a_finding_and_the_others_are_tested)
{
	static void (*const changes[])(void) = { change_open, change_set_up, change_arm, change_disarm, change_restore };

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		assert_only_faulty_timer_is_broken(changes[i]);
}
