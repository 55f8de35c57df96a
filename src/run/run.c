/* Runs all phases of a run, from opening the clocks to the report. See run.h. */
#include "run/run.h"

#include "analysis/facts.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/judge.h"
#include "measure/clocks/survey_clocks.h"
#include "measure/rates/survey_rates.h"
#include "measure/skew/survey_skew.h"
#include "measure/sleep/survey_sleep.h"
#include "measure/survey_plan.h"
#include "replay/replay.h"
#include "run/marker.h"
#include "run/run_internal.h"

/* maximum wait for a callback of the firmware's timer; on an idle host there is one every 10 ms */
#define FIRMWARE_TICK_NS (1000 * NS_PER_MS)
/*
 * maximum wait for a callback of the firmware's timer in TSC ticks, while the TSC's rate is unknown: 0.2 s at 5 GHz
 */
#define FIRST_TICK_TSC   (UINT64_C(1) << 30)
#define DEADLINE_FACTOR   3 /* the default deadline is this multiple of the planned duration of the run */
#define DEADLINE_EXTRA_NS (60 * UINT64_C(1000000000)) /* one more minute for the default deadline */

/* Adds a note to the report if a register differs from its value before the run. */
static void
add_note_on_changed_register(struct run *run)
{
	const struct as_found *before = &run->before;
	struct as_found after;

	run->machine->read_registers(run->machine->context, &after);
	size_t i = as_found_find_changed_register(before, &after);
	if (i < before->count)
		notes_add(&run->report.notes, "Not restored: %s was %lxh before the run and is now %lxh.",
			  before->registers[i].name, before->registers[i].value, after.registers[i].value);
}

static uint64_t
run_deadline_ns(const struct run *run)
{
	uint64_t asked_ns = run->report.facts.options.deadline_ns;

	return asked_ns ? asked_ns : DEADLINE_FACTOR * survey_planned_run_ns(&run->survey) + DEADLINE_EXTRA_NS;
}

static bool
may_test_timers(const struct run *run)
{
	return run->machine->window.run && run->report.facts.options.irq != IRQ_OFF;
}

static void
set_deadline(struct run *run)
{
	run->machine->set_tsc_rate(run->machine->context, run->survey.scale.hz, run_deadline_ns(run));
}

static void
time_firmware(struct run *run, bool is_last)
{
	if (run->machine->time_firmware && !run->report.facts.options.efi_off && !run->survey.tsc.is_stopped)
		run->machine->time_firmware(run->machine->context, run, is_last);
}

static void
finish_timing_firmware(struct run *run)
{
	time_firmware(run, true);
}

static void
prepare_measurements(struct run *run)
{
	survey_warm_up_and_estimate_tsc_rate(&run->survey);
	set_deadline(run);
	time_firmware(run, false);
}

static void
measure_rates(struct run *run)
{
	survey_measure_rates(&run->survey);
	set_deadline(run);
}

static void
record_apic_ids_of_cores(struct run *run)
{
	const struct report *report = &run->report;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct record_core core = { (uint32_t)i, report->facts.cores[i].apic_id };

		record_put(&run->survey.record, RECORD_CORE, &core, NULL, 0);
	}
}

static void
record_sources_of_claims(struct run *run)
{
	const struct claims *claims = run->machine->claims;

	for (size_t i = 0; claims && i < claims->raw_count; i++) {
		const struct claim_raw *raw = &claims->raw[i];
		const struct record_stated stated = { raw->is_msr, raw->faulted, raw->number, raw->eax, raw->ebx, raw->ecx,
						      raw->edx };

		record_put(&run->survey.record, RECORD_STATED, &stated, NULL, 0);
	}
}

static void
start_cores(struct run *run)
{
	if (!run->survey.tsc.is_stopped)
		run->machine->start_cores(run->machine->context, run);
	run->machine->describe_cores(run->machine->context, &run->report);
	record_apic_ids_of_cores(run);
	record_sources_of_claims(run);
}

static bool
prepare_timer_tests(struct run *run)
{
	struct survey_timers *timers = &run->timers;

	if (!may_test_timers(run))
		return false;
	timers->window = &run->machine->window;
	timers->drivers = run->machine->timers;
	timers->platform = run->machine->platform;
	return true;
}

/* Returns true if the firmware's timer calls a callback within BOUND TSC ticks. */
static bool
does_firmware_timer_call_back(const struct run *run, uint64_t bound)
{
	const struct timer_window *window = &run->machine->window;

	return window->firmware_ticks && window->firmware_ticks(run->survey.hooks.tsc_ordered, bound);
}

/*
 * Adds a note if the firmware's timer no longer calls its callbacks, which the keyboard and the time-outs of the
 * firmware's drivers need. Some firmware (U-Boot) calls them only while one of its services runs. Therefore this is
 * checked only if the timer called them before the run.
 */
static void
check_firmware_timer(struct run *run)
{
	if (!run->firmware_called_back)
		return;
	run_start_or_stop_firmware_tick(run, true);
	if (!does_firmware_timer_call_back(run, scale_ns_to_ticks(&run->survey.scale, FIRMWARE_TICK_NS)))
		notes_add(&run->report.notes,
			  "After the timer tests the firmware's timer did not call back within %lu ms: keys and "
			  "time-outs may not work until a reset.", FIRMWARE_TICK_NS / NS_PER_MS);
	run_start_or_stop_firmware_tick(run, false);
}

/*
 * Lets the clocks be compared from now on. Calibration loops may have set a device's counter. The RTC is not set, so
 * its earlier readings remain.
 */
static void
begin_comparing_clocks_again(struct run *run)
{
	for (size_t i = 0; i < run->report.facts.clock_count; i++)
		if (!run->report.facts.clocks[i].clock.edges_only)
			survey_drop_earlier_readings(&run->survey, run->report.facts.clocks[i].series);
	survey_read_and_compare_clocks(&run->survey);
}

static void
measure_timers(struct run *run)
{
	if (!prepare_timer_tests(run))
		return;
	begin_comparing_clocks_again(run);
	survey_test_timers_on_boot_core(&run->survey, &run->timers);
	check_firmware_timer(run);
}

/*
 * Tests the local APIC timers of the other cores, if baretick started these cores itself. If the firmware's MP
 * services started them, they belong to the firmware, and their timers are not tested. With profile=quick, only the
 * boot core's timer is tested.
 */
static void
measure_core_timers(struct run *run)
{
	const struct options *options = &run->report.facts.options;

	if (options->cores.method == CORES_SIPI && survey_current_profile(&run->report) != PROFILE_QUICK &&
	    prepare_timer_tests(run))
		survey_test_timers_of_cores(&run->survey, &run->timers);
}

/*
 * Tests clocks while cores sleep. Other cores sleep only if baretick started them, because otherwise the firmware
 * handles their interrupts. The boot core sleeps only if the firmware's tick works, which wakes it from HLT. Afterwards
 * the clocks are compared anew, because a clock may have stopped in the sleep.
 */
static void
measure_sleep(struct run *run)
{
	const struct options *options = &run->report.facts.options;

	if (!run->machine->hooks.sleep || !run->survey.memory.cores || options->cores.sleep == SLEEP_OFF ||
	    survey_end_run_if_due(&run->survey))
		return;
	survey_test_sleep_states(&run->survey, options->cores.method == CORES_SIPI,
				 does_firmware_timer_call_back(run, scale_ns_to_ticks(&run->survey.scale, FIRMWARE_TICK_NS)));
	begin_comparing_clocks_again(run);
}

/*
 * Stores for each hypervisor interface if its clock is marked as stable. This must happen before the memory pages of
 * these clocks are released.
 */
static void
record_stable_flags_of_clocks(struct run *run)
{
	struct report *report = &run->report;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock *clock = &report->facts.clocks[i].clock;
		const struct clock_paravirtual *by = &clock->paravirtual;

		for (size_t p = 0; p < report->facts.machine.paravirtual.count; p++)
			if (by->get_stability && clock->state == CLOCK_PRESENT &&
			    report->facts.machine.paravirtual.interfaces[p].kind == by->offered_by)
				report->facts.machine.paravirtual.interfaces[p].stable =
					by->get_stability(clock->device);
	}
}

/*
 * Adds the TSC rates that hypervisors state in the memory pages of their clocks. This must happen before the pages
 * are released.
 */
static void
add_claims_of_clock_pages(struct run *run)
{
	struct report *report = &run->report;
	struct claims claims = { .count = 0 };

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock *clock = &report->facts.clocks[i].clock;
		bool is_kvm = clock->paravirtual.offered_by == PARAVIRTUAL_KVM;
		bool is_xen = clock->paravirtual.offered_by == PARAVIRTUAL_XEN;
		struct claim *claim;

		if (!clock->paravirtual.assumed || clock->state != CLOCK_PRESENT)
			continue;
		claim = claims_add(&claims, is_kvm ? CLAIM_KVM_PAGE : is_xen ? CLAIM_XEN_PAGE : CLAIM_HYPERV_PAGE,
				   CLAIM_OF_TSC, is_kvm ? "kvm-clock's page" : is_xen ? "Xen's page" : "Hyper-V's page");
		uint64_t multiplier = clock->paravirtual.assumed(clock->device);
		/*
		 * The multiplier is rounded down to a whole number. The last argument of claim_set_rate() is the
		 * resulting error of the rate in Hz.
		 */
		if (multiplier)
			claim_set_rate(claim, (struct rate){ SURVEY_NS_PER_S << 32, multiplier },
				       (SURVEY_NS_PER_S << 32) / multiplier / multiplier + 1);
		else
			claim_set_refusal(claim, "The page states no rate, or the hypervisor adjusts the rate during "
					  "the run.");
		report_add_claim(report, claim);
	}
}

static void
stop_cores(struct run *run)
{
	record_stable_flags_of_clocks(run);
	add_claims_of_clock_pages(run);
	run_restore_cores(run);
	run->machine->stop_cores(run->machine->context, run);
	run->machine->describe_cores(run->machine->context, &run->report);
}

const struct run_phase run_phases[] = {
	{ .id = "prepare", .execute = prepare_measurements, .part = SURVEY_RATES, .repeatable = true },
	{ .id = "rates", .execute = measure_rates, .part = SURVEY_RATES, .repeatable = true },
	{ .id = "latency", .measure = survey_measure_latencies_on_boot_core, .part = SURVEY_LATENCIES },
	{ .id = MARKER_FIRMWARE, .execute = finish_timing_firmware, .part = SURVEY_LATENCIES, .with_firmware = true },
	{ .id = "start-cores", .execute = start_cores, .part = SURVEY_PAIRS, .with_cores = true },
	{ .id = "facts", .measure = survey_read_core_facts, .part = SURVEY_PAIRS, .with_cores = true },
	{ .id = "skew", .measure = survey_measure_offsets, .part = SURVEY_PAIRS, .with_cores = true },
	{ .id = "cores", .measure = survey_measure_latencies_on_cores, .part = SURVEY_CORES,
	  .with_cores = true, .reports_within = true },
	{ .id = "skew", .measure = survey_run_middle_pair_pass, .part = SURVEY_PAIRS_MIDDLE, .with_cores = true },
	{ .id = "contended", .measure = survey_measure_contended_latencies, .part = SURVEY_CONTENDED,
	  .with_cores = true },
	{ .id = "warps", .measure = survey_check_for_warps, .part = SURVEY_WARPS, .with_cores = true },
	{ .id = "interference", .measure = survey_observe_gaps, .part = SURVEY_GAPS,
	  .with_cores = true, .reports_within = true },
	{ .id = "series", .measure = run_soak_rounds, .part = SURVEY_ROUNDS,
	  .with_cores = true, .reports_within = true },
	{ .id = "skew", .measure = survey_measure_offsets, .part = SURVEY_PAIRS_AGAIN, .with_cores = true },
	{ .id = MARKER_TIMERS, .execute = measure_core_timers, .part = SURVEY_RATES_AGAIN, .with_cores = true },
	{ .id = "rates-again", .measure = survey_measure_rates_at_end_of_run, .part = SURVEY_RATES_AGAIN, .with_cores = true },
	/* after the rates, because clocks and TSCs may stop in a sleep */
	{ .id = MARKER_SLEEP, .execute = measure_sleep, .part = SURVEY_SLEEP, .with_cores = true },
	{ .id = "stop-cores", .execute = stop_cores, .part = SURVEY_SLEEP, .with_cores = true },
	{ .id = "checks", .execute = run_device_checks, .part = SURVEY_CHECKS },
	{ .id = "calibrations", .execute = run_calibration_loops, .part = SURVEY_CALIBRATIONS },
	/* this phase is last, so that all other results are saved if a timer test hangs the machine */
	{ .id = MARKER_TIMERS, .execute = measure_timers, .part = SURVEY_TIMERS },
	{ .id = NULL },
};

struct phase_call {
	struct run *run;
	const struct run_phase *phase;
};

static void
call_phase(void *argument)
{
	const struct phase_call *call = argument;

	if (call->phase->execute)
		call->phase->execute(call->run);
	else
		call->phase->measure(&call->run->survey);
}

static void
read_and_compare_clocks(void *argument)
{
	const struct phase_call *call = argument;

	survey_read_and_compare_clocks(&call->run->survey);
}

/*
 * Runs WORK. If reading a clock causes an exception, this clock is not used any more. WORK then runs again if
 * REPEATABLE is true; otherwise the phase ends.
 */
static void
run_phase_guarded(struct phase_call *call, void (*work)(void *argument), bool repeatable)
{
	struct run *run = call->run;
	const char *id = call->phase->id;
	enum survey_end end = SURVEY_BROKE;

	for (size_t i = 0; i <= run->report.facts.clock_count && end == SURVEY_BROKE; i++) {
		end = survey_run_catching_exceptions(&run->survey, id, NULL, work, call);
		if (end != SURVEY_BROKE || repeatable)
			continue;
		run->report.facts.run.incomplete = true;
		notes_add(&run->report.notes, "The phase %s ended early, because reading a clock caused an exception. Results up to "
			  "then are reported.", id);
		return;
	}
}

/* Adds a row on PHASE, which began at BEGIN_TSC, to the report. */
static void
report_phase_end(struct run *run, const struct run_phase *phase, uint64_t begin_tsc)
{
	struct report *report = &run->report;

	if (report->facts.run.phase_count < REPORT_PHASES_MAX)
		report->facts.run.phases[report->facts.run.phase_count++] = (struct report_phase){
			phase->id, begin_tsc - run->begin_tsc, run->machine->hooks.tsc_ordered() - begin_tsc
		};
}

static void
run_all_phases(struct run *run)
{
	const struct run_machine *machine = run->machine;

	for (const struct run_phase *phase = run_phases; phase->id; phase++) {
		if (phase->with_firmware && (!machine->time_firmware || run->report.facts.options.efi_off))
			continue;
		run_start_or_stop_firmware_tick(run, true);
		if (machine->phase_starts)
			machine->phase_starts(machine->context, run, phase);
		run->needs_tick = run_does_phase_need_firmware_tick(run, phase);
		run_start_or_stop_firmware_tick(run, false);
		struct phase_call call = { run, phase };
		uint64_t begin_tsc = machine->hooks.tsc_ordered();

		run->survey.plan.part = phase->part;
		run->survey.plan.done_ns = 0;
		run_phase_guarded(&call, call_phase, phase->repeatable);
		if (phase->execute != run_device_checks && phase->execute != run_calibration_loops &&
		    phase->execute != measure_timers &&
		    /* clocks are not compared after a phase that programs the devices itself */
		    phase->execute != measure_core_timers && phase->execute != measure_sleep)
			run_phase_guarded(&call, read_and_compare_clocks, true);
		report_phase_end(run, phase, begin_tsc);
	}
}

static void
prepare_survey(struct run *run, void *memory, size_t cores, enum pair_schedule widest)
{
	struct survey *survey = &run->survey;

	survey->report = &run->report;
	survey->smp = &run->smp;
	survey->hooks = run->machine->hooks;
	survey->buffer.samples = run->samples;
	survey->buffer.sample_max = RUN_SAMPLES;
	survey->rate_limit_ppb = judge_rate_limit_ppb(&run->report);
	survey_divide_memory(survey, memory, cores, widest, run_max_series_rows(&run->report.facts.options, cores));
	if (run->machine->series && run_max_series_rows(&run->report.facts.options, cores))
		series_init(&run->report.facts.series, run->machine->series, REPORT_CLOCKS_MAX, cores,
			    series_max_rows(cores),
			       run->report.facts.options.interval_ns);
	survey->plan.has_timers = run->machine->window.run != NULL;
	survey->plan.has_calibrations = run->machine->calibrations != NULL;
	/*
	 * The duration of the run is planned now, but the number of working cores is known only after they were
	 * started. Therefore the plan assumes the largest possible number.
	 */
	run->smp.count = cores < run->report.facts.options.cores.max ? cores : run->report.facts.options.cores.max;
}

size_t
run_max_series_rows(const struct options *options, size_t cores)
{
	return options->profile == PROFILE_SOAK ? series_max_rows(cores) : 0;
}

size_t
run_series_size_bytes(const struct options *options, size_t cores)
{
	size_t rows = run_max_series_rows(options, cores);

	return rows ? series_size_bytes(REPORT_CLOCKS_MAX, cores, rows) : 0;
}

void
run_set_up(struct run *run, const struct run_machine *machine, void *memory, size_t cores, enum pair_schedule widest)
{
	run->machine = machine;
	run->begin_tsc = machine->hooks.tsc_ordered();
	run->report.duration_ns = options_duration_ns(&run->report.facts.options);
	run->report.facts.stolen_counters.counter = machine->hooks.stolen_counter->id;
	run->report.facts.stolen_counters.counter_reason = machine->hooks.stolen_counter->reason;
	machine->read_registers(machine->context, &run->before);
	run_open_clocks(run);
	prepare_survey(run, memory, cores, widest);
	run_find_firmware_tick(run);
}

/*
 * Reads the hypervisor's signals again, and marks each signal whose value differs from BEFORE. A signal that is
 * missing in one of the two readings is ignored.
 */
static void
mark_changed_disruption_signals(struct run *run, const struct signals *before)
{
	struct signals *after = &run->report.facts.signals;

	run->machine->read_signals(run->machine->context, false, after);
	for (size_t i = 0; i < after->count; i++)
		for (size_t k = 0; k < before->count; k++)
			if (text_equal(after->list[i].id, before->list[k].id))
				after->list[i].changed = !after->list[i].unusable && after->list[i].value != before->list[k].value;
}

/* Runs all phases. If the CPU counts SMIs, also counts the boot core's SMIs during the phases. */
void
run_measure(struct run *run)
{
	struct stolen_counters *counters = &run->report.facts.stolen_counters;
	uint32_t (*smi_count)(void) = run->machine->smi_count;
	uint32_t before = smi_count ? smi_count() : 0;
	struct signals signals;

	/* the firmware's timer is tested before the first phase, because that phase may stop the timer's tick */
	run->firmware_called_back = may_test_timers(run) && does_firmware_timer_call_back(run, FIRST_TICK_TSC);
	if (run->machine->read_signals)
		run->machine->read_signals(run->machine->context, true, &signals);
	run_all_phases(run);
	if (run->machine->read_signals)
		mark_changed_disruption_signals(run, &signals);
	counters->smi_known = smi_count != NULL;
	counters->smi_count = smi_count ? smi_count() - before : 0;
}

/*
 * Adds the facts in REPORT to the end of RECORD. Then calculates the results and verdicts in REPORT from the record.
 */
static void
calculate_report_from_record(const struct run *run, struct record *record, struct report *report)
{
	uint64_t elapsed_ticks = run->machine->hooks.tsc_ordered() - run->begin_tsc;

	report->facts.run.elapsed_ms = scale_ns(&run->survey.scale, elapsed_ticks) / NS_PER_MS;
	report->facts.run.elapsed_known = report->figures.tsc.den != 0;
	facts_limit_numbers(report);
	if (record->length) {
		record->reserved = 0;
		facts_write(record, report);
		record_end(record);
	}
	replay_calculate_results(report, record->bytes, record->length, record->entries, record->dropped);
}

void
run_make_report_so_far(const struct run *run, const struct run_phase *phase, struct report *report)
{
	struct record record = run->survey.record;

	*report = run->report;
	report->facts.run.incomplete = true;
	notes_add(&report->notes, "Saved in the phase %s, before the end of the run.", phase->id);
	/* the copy starts a new block, because the run later overwrites the block that is not finished */
	record.block = 0;
	calculate_report_from_record(run, &record, report);
}

void
run_restore_boot_core(struct run *run)
{
	if (!run->machine)
		return;
	run_start_or_stop_firmware_tick(run, true);
	run_close_clocks(run);
}

void
run_close_clocks_and_judge(struct run *run)
{
	run_start_or_stop_firmware_tick(run, true);
	run_close_clocks(run);
	add_note_on_changed_register(run);
	calculate_report_from_record(run, &run->survey.record, &run->report);
}
