/*
 * Tests each source of timer interrupts alone, on a simulated machine whose clocks have known rates. The source is
 * healthy first, and then has one fault. Only this fault may change the results.
 */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "paravirtual/leaves.h"
#include "sim.h"
#include "sim_paravirtual.h"
#include "timers/timers.h"

#define DURATION_NS 1000000
#define NS          SIM_PS_PER_NS
/* duration of the PAUSE instruction: long, so that this program is fast, but much shorter than a gap */
#define PAUSE_PS    (500 * NS)
#define WAIT_PS     (20 * SIM_PS_PER_US) /* additional duration of the PAUSE instruction in waits of about a second */
#define NOBODY      ""

struct source {
	const struct timer_driver *driver;
	enum sim_source at;
	bool shots, periods; /* shots: true if one-shots are judged. periods: true if periods are judged. */
	bool by_pin, secondary;
};

static const struct source sources[] = {
	{ &timer_lapic, SIM_LAPIC, true, true, false, false },
	{ &timer_deadline, SIM_DEADLINE, true, false, false, false },
	{ &timer_hpet[0], SIM_HPET_0, true, true, true, false },
	{ &timer_hpet[1], SIM_HPET_1, true, true, true, true },
	{ &timer_hpet[8], SIM_HPET_0, true, true, false, true }, /* messages */
	{ &timer_hpet[9], SIM_HPET_0, true, true, true, true },  /* a comparator of an HPET with legacy replacement */
	{ &timer_pit[0], SIM_PIT_0, true, true, true, false },
	{ &timer_rtc[0], SIM_RTC_PERIODIC, false, true, true, false },
	{ &timer_rtc[1], SIM_RTC_UPDATE, false, false, true, false },
	{ &timer_rtc[2], SIM_RTC_ALARM, false, false, true, false },
	{ &timer_acpi_pm[0], SIM_PM_STATUS, false, false, false, false },
	{ &timer_acpi_pm[1], SIM_PM_STATUS, false, false, true, false },
	{ &timer_pit[1], SIM_PIT_0, true, true, true, true },
	{ &timer_rtc[3], SIM_RTC_PERIODIC, false, true, true, true },
	{ &timer_hyperv, SIM_HV_TIMER, true, true, false, false },
	{ &timer_xen, SIM_XEN_TIMER, true, false, false, false },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

enum { /* Bit masks of sources: the bit is the index in the table sources. */
	LAPIC = 1 << 0, DEADLINE = 1 << 1, HPET0 = 1 << 2, HPET1 = 1 << 3, FSB = 1 << 4, LEGACY = 1 << 5, PIT = 1 << 6,
	RTC = 1 << 7, UPDATE = 1 << 8, ALARM = 1 << 9, STATUS = 1 << 10, SCI = 1 << 11,
	PIT_PIC = 1 << 12, RTC_PIC = 1 << 13, HYPERV = 1 << 14, XEN = 1 << 15,
	HPETS = HPET0 | HPET1 | FSB | LEGACY, SHOTS = LAPIC | DEADLINE | HPETS | PIT | PIT_PIC | HYPERV | XEN,
	PERIODS = LAPIC | HPETS | PIT | RTC | PIT_PIC | RTC_PIC | HYPERV,
	AWAITED = UPDATE | ALARM | SCI, PINS = HPET0 | HPET1 | LEGACY | PIT | RTC | PIT_PIC | RTC_PIC | AWAITED
};

static const struct {
	const char *name;
	unsigned of;
	struct sim_timer fault;
	const char *rule;  /* the rule that must find the fault; NOBODY if no rule does */
	const char *words; /* text that must be part of the row's reason or of a finding */
	/* limits of a range that must overlap the finding's interval; both are 0 if the finding has no interval */
	int64_t low, high;
} faults[] = {
	{ "drops one tick in ten", PERIODS, { .drop_every = 10 }, "irq-lost", NULL, 7, 8 },
	{ "drops one shot in five", SHOTS, { .drop_shots_every = 5 }, "irq-missing", NULL, 0, 0 },
	{ "never interrupts", LAPIC | DEADLINE | HYPERV | XEN, { .never = true }, "irq-missing",
	  "the timer's status shows", 0, 0 },
	{ "never interrupts", HPET0 | LEGACY | PIT | RTC | PIT_PIC | RTC_PIC, { .never = true }, NOBODY, "none ", 0, 0 },
	{ "never interrupts", AWAITED, { .never = true }, NOBODY, "no interrupt came", 0, 0 },
	{ "sends one in eight twice", LAPIC | HPETS | PIT | HYPERV, { .double_every = 8 }, "irq-doubled", NULL, 20, 23 },
	{ "sends one in eight twice", DEADLINE | XEN, { .double_every = 8 }, "irq-doubled", NULL, 12, 13 },
	{ "sends one in eight twice", RTC, { .double_every = 8 }, "irq-doubled", NULL, 9, 10 },
	{ "sends each twice", AWAITED, { .double_every = 1 }, "irq-doubled", NULL, 1, 1 },
	{ "fires at once", HYPERV | XEN, { .early_ps = 100000 * NS }, "irq-early", NULL, 98000, 100000 },
	{ "is 20 us early", SHOTS, { .early_ps = 20000 * NS }, "irq-early", NULL, 18000, 20000 },
	{ "is 70 us early", SHOTS, { .early_ps = 70000 * NS }, "irq-early", NULL, 68000, 70000 },
	/* 1 ms of the PIT is 1,193 ticks, and becomes shorter by 0.99 ticks */
	{ "ticks 828 ppm fast", PERIODS, { .fast_ppm = 828 }, "irq-rate", NULL, 828, 829 },
	{ "ticks 1,500 ppm fast", PERIODS, { .fast_ppm = 1500 }, "irq-rate", NULL, 1502, 1503 },
	{ "ticks 2,000 ppm slowly", PERIODS, { .fast_ppm = -2000 }, "irq-rate", NULL, -1997, -1996 },
	{ "is 60 to 180 us late", SHOTS, { .late_ps = 120000 * NS }, "irq-late", NULL, 100000, 140000 },
	{ "storms", SHOTS | RTC | RTC_PIC | AWAITED, { .storms = true }, "irq-doubled", NULL, 0, 0 },
	{ "stays up", SCI, { .sticks = true }, "irq-doubled", NULL, 0, 0 },
	{ "stays up", RTC, { .sticks = true }, "irq-lost", NULL, 77, 80 },
	{ "stays set", STATUS, { .sticks = true }, NOBODY, "can't be cleared", 0, 0 },
	{ "stands", LAPIC, { .stands = true }, NOBODY, "does not count down", 0, 0 },
	{ "takes what is written, and is never due", DEADLINE | PIT | HYPERV, { .stands = true }, NOBODY, "none was due",
	  0, 0 },
	{ "is never set", STATUS, { .stands = true }, NOBODY, "never", 0, 0 },
	{ "comes by another pin", PINS & ~AWAITED, { .wrong_pin = true }, NOBODY, "none ", 0, 0 },
	{ "comes by another pin", AWAITED, { .wrong_pin = true }, NOBODY, "no interrupt came", 0, 0 },
	{ "fires when it is enabled behind its deadline", HPET0, { .stale = true }, "hpet-stale", NULL, 0, 0 },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static struct bench *bench;

static void
end(void)
{
	bench_free(bench);
	bench = NULL;
}

static void
begin(void)
{
	end();
	sim_reset();
	sim_interrupts_add_controllers();
	sim.spent = sim_slow_outside_timer_window;
	sim.cost_ps[SIM_PAUSE] = PAUSE_PS;
}

/* Starts a test of a source. A hypervisor's timer is tested in a guest, and other sources on bare metal. */
static void
begin_for(const struct source *source)
{
	begin();
	if (source->at == SIM_HV_TIMER) {
		sim_paravirtual_make_kvm_guest(true);
		sim_paravirtual_offer_timers();
	} else if (source->at == SIM_XEN_TIMER) {
		sim_paravirtual_make_xen_guest(false);
		sim_paravirtual_offer_xen_events();
	}
}

static void
end_test(void)
{
	end();
}

TEST_FIXTURE(NULL, end_test);

/* Does a PAUSE. Outside of a timer window it takes WAIT_PS longer, because waits there last about a second. */
static void
wait_long(void)
{
	hw_pause();
	if (!sim.interrupts.in_window)
		sim_advance_ps(WAIT_PS);
}

/* Runs the timer tests of run.c with this source only. */
static void
ask(const struct source *source)
{
	const struct timer_driver *const only[] = { source->driver, NULL };
	struct run *run = &bench->run;

	run->survey.hooks.pause = wait_long;
	run->timers.window = &bench->machine.window;
	run->timers.drivers = only;
	run->timers.platform = &bench->platform;
	survey_test_timers_on_boot_core(&run->survey, &run->timers);
}

static bool without_pics;

static const struct report *
played(const struct source *source)
{
	static const char *const clocks[] = { "tsc", "hpet", NULL };

	bench = bench_new();
	bench->duration_ns = DURATION_NS;
	bench->clocks = clocks;
	bench_open(bench, 1);
	bench->run.report.facts.options.irq = IRQ_ALL;
	bench->run.report.facts.options.pic = true;
	bench->platform.acpi.madt.has_pics = !without_pics;
	bench_measure_rates(bench);
	ask(source);
	bench_close(bench);
	assert_true(sim.interrupts.longest_ps < 100 * SIM_PS_PER_MS);
	assert_int_equal(sim.interrupts.slot.strays, 0);
	assert_false(has_note(&bench->run.report, "Not restored"));
	return &bench->run.report;
}

TEST(each_healthy_source_is_tested_and_has_no_finding)
{
	for (size_t i = 0; i < SOURCES; i++) {
		const struct report *report;

		print_message("%s\n", sources[i].driver->id);
		begin_for(&sources[i]);
		report = played(&sources[i]);
		assert_no_finding(report);
		assert_true(report->figures.interval_count > 0);
		for (size_t row = 0; row < report->figures.interval_count; row++) {
			const struct interval_figures *interval = &report->figures.intervals[row];

			assert_string_equal(interval->reason, "");
			assert_int_equal(interval->state, CLOCK_PRESENT);
			assert_true(interval->delivered > 0 && interval->delivered == interval->expected);
			/*
			 * The RTC's update and alarm interrupts are due at an unknown time within the RTC's second, so
			 * they have no lateness.
			 */
			assert_int_equal(interval->lateness.count == 0,
					 sources[i].at == SIM_RTC_UPDATE || sources[i].at == SIM_RTC_ALARM);
		}
		assert_true(report->outcomes.behaviours.count > 0);
		for (size_t row = 0; row < report->outcomes.behaviours.count; row++)
			if (strcmp(report->outcomes.behaviours.rows[row].clock, sources[i].driver->id) == 0)
				assert_int_equal(rules_get_outcome(&report->outcomes.behaviours.rows[row],
								   &report->facts.options), OUTCOME_PASSED);
	}
}

static bool
is_described(const struct report *report, const char *words)
{
	bool any = false;

	for (size_t i = 0; i < report->figures.interval_count; i++)
		any |= strstr(report->figures.intervals[i].reason, words) != NULL;
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		any |= strstr(report->outcomes.behaviours.rows[i].text, words) &&
		       rules_get_outcome(&report->outcomes.behaviours.rows[i],
					 &report->facts.options) != OUTCOME_PASSED;
	return any;
}

/*
 * Returns the rule's severity for this source. The timers of hypervisors are tested in a guest, and in a guest some
 * rules only warn.
 */
static enum verdict
severity_of(const struct rule *rule, const struct source *source)
{
	return source->at >= SIM_HV_TIMER && rule->warns_in_guest ? VERDICT_WARN : rule->severity;
}

/* Returns true if the only finding is about the fault's rule, and its interval contains the simulated value. */
static bool
is_named(const struct report *report, const struct source *source, size_t fault)
{
	const struct finding *finding = &report->outcomes.findings[0];

	return report->outcomes.finding_count == 1 && strcmp(finding->rule, faults[fault].rule) == 0 &&
	       strcmp(finding->clock, source->driver->id) == 0 &&
	       report->outcomes.verdict == severity_of(rules_find(finding->rule), source) &&
	       (!faults[fault].words || strstr(finding->text, faults[fault].words)) &&
	       (!faults[fault].low || (finding->low <= faults[fault].high && finding->high >= faults[fault].low));
}

static bool
is_told(const struct source *source, size_t fault)
{
	const struct report *report;
	bool told;

	begin_for(source);
	sim.interrupts.timers[source->at] = faults[fault].fault;
	report = played(source);
	if (strcmp(faults[fault].rule, NOBODY) == 0)
		told = !report->outcomes.finding_count && is_described(report, faults[fault].words);
	else
		told = is_named(report, source, fault);
	if (told)
		return true;
	print_error("%s %s:\n", source->driver->id, faults[fault].name);
	print_findings(report);
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		print_error("  (%s: %s)\n", report->outcomes.behaviours.rows[i].rule,
			    report->outcomes.behaviours.rows[i].text);
	for (size_t i = 0; i < report->figures.interval_count; i++)
		print_error("  (%s)\n", report->figures.intervals[i].reason);
	return false;
}

TEST(each_fault_of_each_source_is_found_by_its_rule_only_or_described)
{
	unsigned wrong = 0;

	for (size_t fault = 0; fault < FAULTS; fault++)
		for (size_t i = 0; i < SOURCES; i++)
			wrong += faults[fault].of >> i & 1 && !is_told(&sources[i], fault);
	assert_int_equal(wrong, 0);
}

/*
 * Returns true if the source can have this policy for ticks that come while interrupts are masked. The RTC cannot
 * delay its periods, because its crystal's divider always continues.
 */
static bool
has_policy(const struct source *source, int policy)
{
	return source->periods && !source->secondary && !(policy == SIM_DELAY && source->at == SIM_RTC_PERIODIC);
}

/*
 * The source STATUS is polled and sends no interrupts. If its status cannot be cleared, none of its rules may count as
 * passed.
 */
TEST(a_status_that_cant_be_cleared_passes_nothing)
{
	for (size_t i = 0; i < SOURCES; i++) {
		const struct report *report;

		if (!(STATUS >> i & 1))
			continue;
		begin();
		sim.interrupts.timers[sources[i].at].sticks = true;
		report = played(&sources[i]);
		assert_int_equal(report->figures.intervals[0].state, CLOCK_BROKEN);
		for (size_t row = 0; row < report->outcomes.behaviours.count; row++)
			if (strcmp(report->outcomes.behaviours.rows[row].clock, sources[i].driver->id) == 0)
				assert_int_not_equal(rules_get_outcome(&report->outcomes.behaviours.rows[row],
								       &report->facts.options), OUTCOME_PASSED);
	}
}

TEST(the_policy_for_masked_ticks_is_found_for_each_periodic_source)
{
	static const enum report_policy words[] = { REPORT_POLICY_DISCARD, REPORT_POLICY_CATCH_UP, REPORT_POLICY_DELAY };

	for (size_t i = 0; i < SOURCES; i++)
		for (int policy = SIM_DISCARD; policy <= SIM_DELAY; policy++) {
			const struct report *report;

			if (!has_policy(&sources[i], policy))
				continue;
			print_message("%s %s\n", sources[i].driver->id, policy_words[words[policy]]);
			begin_for(&sources[i]);
			sim.interrupts.timers[sources[i].at].policy = (enum sim_policy)policy;
			report = played(&sources[i]);
			assert_no_finding(report);
			assert_int_equal(report->figures.intervals[report->figures.interval_count - 1].policy,
					 words[policy]);
		}
}

/*
 * Each port access takes 65 us, as in some guests. Programming the RTC takes six accesses, so a period must be 1.95 ms
 * instead of 0.98 ms.
 */
TEST(an_rtc_that_is_slow_to_program_is_tested_at_half_its_rate)
{
	static const enum report_policy words[] = { REPORT_POLICY_DISCARD, REPORT_POLICY_CATCH_UP };

	for (int policy = SIM_DISCARD; policy <= SIM_CATCH_UP; policy++) {
		const struct interval_figures *periods;
		const struct report *report;

		begin();
		sim.interrupts.rtc.policy = (enum sim_policy)policy;
		sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 65 * SIM_PS_PER_US;
		report = played(&sources[7]);
		assert_no_finding(report);
		periods = &report->figures.intervals[report->figures.interval_count - 1];
		assert_int_equal(periods->test.asked_ns, 1953125);
		assert_string_equal(periods->reason, "");
		assert_int_equal(periods->asked % 40, 0);
		assert_true(periods->delivered > 0 && periods->delivered + periods->excused >= periods->expected);
		assert_int_equal(periods->policy, words[policy]);
	}
}

/* first of the SynIC's MSRs: SCONTROL, then SVERSION, SIEFP, SIMP, EOM, and SINT0 to SINT15 */
#define MSR_HV_SYNIC_FIRST 0x40000080u
#define MSR_HV_SYNIC_LAST  0x4000009fu
/* first of the timers' MSRs: configuration and count of each of the four timers */
#define MSR_HV_TIMER_FIRST 0x400000b0u

static bool (*write_any)(uint32_t msr, uint64_t value);
static unsigned timer_writes, other_writes;

/* Counts writes to the synthetic interrupt controller (SynIC) and to all synthetic timers except the last one. */
static bool
write_counted(uint32_t msr, uint64_t value)
{
	bool own = msr == MSR_HV_TIMER_CONFIG || msr == MSR_HV_TIMER_COUNT;

	timer_writes += own;
	other_writes += !own && ((msr >= MSR_HV_SYNIC_FIRST && msr <= MSR_HV_SYNIC_LAST) ||
				 (msr >= MSR_HV_TIMER_FIRST && msr <= MSR_HV_TIMER_COUNT));
	return write_any(msr, value);
}

/* The firmware may use the SynIC and the first timer for its tick, so a run must not write to them. */
TEST(a_run_writes_only_the_last_synthetic_timer_and_restores_it)
{
	/* direct mode, vector E0h, auto-enable; the timer does not run, because its count is 0 */
	const uint64_t config = 0x1e08;
	const struct source *source = &sources[SOURCES - 2];

	begin_for(source);
	hw_msr_write(MSR_HV_TIMER_CONFIG, config);
	write_any = sim.write_msr;
	sim.write_msr = write_counted;
	timer_writes = other_writes = 0;
	assert_no_finding(played(source));
	assert_true(timer_writes > 0);
	assert_int_equal(other_writes, 0);
	assert_int_equal(hw_msr_read(MSR_HV_TIMER_CONFIG), config);
	assert_int_equal(hw_msr_read(MSR_HV_TIMER_COUNT), 0);
}

/* Firmware may have written the message of the HPET's comparator 0, so each test of the HPET must restore it. */
TEST(the_message_of_an_hpet_comparator_is_restored)
{
	const uint64_t message = UINT64_C(0xfee0300000000041);

	for (size_t i = 0; i < SOURCES; i++) {
		if (!(HPETS & 1u << i))
			continue;
		begin_for(&sources[i]);
		sim.interrupts.messages[0] = message;
		assert_no_finding(played(&sources[i]));
		assert_int_equal(sim.interrupts.messages[0], message);
	}
}

/*
 * The 8254's data sheet says that OUT rises N + 1 pulses after the write. The first pulse comes within one clock.
 * Therefore the interrupt comes N to N + 1 clocks after the write.
 */
TEST(the_pit_is_due_at_the_time_in_its_data_sheet)
{
	const struct interval_figures *shots;

	begin();
	shots = &played(&sources[6])->figures.intervals[0];
	assert_string_equal(shots->test.source, "pit0");
	assert_int_equal(shots->early, 0);
	assert_in_range(shots->lateness.min_ns + (int64_t)shots->lateness.error_ns, 0, 3000);
}

static void
have_none(void)
{
	without_pics = true;
}

static void
open_inputs(void)
{
	sim.pic_mask[1] = 0xfe;
}

static void
mask_lint0(void)
{
	sim.lapic.registers[SIM_LINT0] |= SIM_LINT0_MASKED;
}

static void
fix_lint0(void)
{
	sim.lapic.registers[SIM_LINT0] = 0;
}

TEST(pics_that_are_in_use_or_cannot_interrupt_this_core_are_not_changed)
{
	static const struct {
		void (*prepare)(void);
		enum clock_state state;
		const char *words;
	} machines[] = {
		{ open_inputs, CLOCK_DISABLED, "In use by the firmware" },
		{ mask_lint0, CLOCK_DISABLED, "cannot interrupt this core" },
		{ fix_lint0, CLOCK_DISABLED, "cannot interrupt this core" },
		{ have_none, CLOCK_ABSENT, "there are no PICs" },
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct report *report;
		uint8_t masks[2];

		begin();
		machines[i].prepare();
		memcpy(masks, sim.pic_mask, sizeof(masks));
		report = played(&sources[12]);
		assert_no_finding(report);
		assert_int_equal(report->figures.interval_count, 1);
		assert_int_equal(report->figures.intervals[0].state, machines[i].state);
		assert_non_null(strstr(report->figures.intervals[0].reason, machines[i].words));
		assert_memory_equal(sim.pic_mask, masks, sizeof(masks));
		assert_false(sim.interrupts.pics[0].initialized);
	}
	without_pics = false;
}

TEST(after_a_run_the_pics_have_all_inputs_masked_and_none_in_service)
{
	for (size_t i = 12; i < 14; i++) {
		const struct report *report;

		begin();
		report = played(&sources[i]);
		assert_string_equal(report->figures.intervals[0].test.route_kind, "pic");
		assert_true(sim.interrupts.pics[0].initialized);
		for (size_t n = 0; n < 2; n++) {
			assert_int_equal(sim.pic_mask[n], 0xff);
			assert_int_equal(sim.interrupts.pics[n].in_service, 0);
		}
	}
}
