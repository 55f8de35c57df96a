/* Reads the machine's tables, starts its cores, and measures the clocks. See machine.h. */
#include "machine.h"

#include "acpi/coreboot.h"
#include "base/units.h"
#include "calibrations/calibrations.h"
#include "checks/checks.h"
#include "clocks/drivers.h"
#include "firmware/firmware.h"
#include "firmware/processor.h"
#include "guard/guard.h"
#include "hw/cpu.h"
#include "hw/hw.h"
#include "interrupts/interrupts.h"
#include "paravirtual/leaves.h"
#include "paravirtual/signals.h"
#include "paravirtual/steal.h"
#include "reserve.h"
#include "sleep/sleep.h"
#include "timers/timers.h"

#define NO_MADT  "ACPI has no MADT, which would list the cores"
/* OEM id of QEMU's ACPI tables (docs/specs), unless QEMU's option x-oem-id= sets another id */
#define QEMU_OEM "BOCHS "

/*
 * Hardware executes an instruction of the loop in about one tick, and QEMU's emulation in a few. A KVM that
 * interprets instructions was seen to take 1000 to 2000.
 */
#define INSTRUCTION_TICKS_MAX 100
#define LOOP_INSTRUCTIONS     1000u
#define LOOP_TRIES            5 /* the shortest loop counts, because the host may preempt this core during a loop */

static uint64_t
measure_ticks_per_instruction(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < LOOP_TRIES; i++) {
		unsigned left = LOOP_INSTRUCTIONS / 2; /* two instructions for each round */
		uint64_t begin = hw_tsc();

		__asm__ volatile("1: decl %0\n\tjnz 1b" : "+r"(left) : : "cc");
		uint64_t ticks = hw_tsc() - begin;

		if (ticks < least)
			least = ticks;
	}
	return least / LOOP_INSTRUCTIONS;
}

void
machine_print_slow_instructions(struct console *console)
{
	uint64_t ticks = measure_ticks_per_instruction();
	char line[CONSOLE_LINE];

	if (ticks <= INSTRUCTION_TICKS_MAX)
		return;
	text_format(line, sizeof(line), "instruction: %lu TSC ticks\n", ticks);
	console_print_serial(console, line);
}

static const uint8_t *
get_mapped_memory(void *, uint64_t address, size_t length)
{
	return address && hw_is_mapped(address, length) ? (const uint8_t *)(uintptr_t)address : NULL;
}

/* The rate is in whole MHz, so that the TSC's rate may differ by less than 1 MHz. */
static void
add_claim_of_coreboot(const struct acpi_memory *memory, struct claims *claims)
{
	uint64_t mhz;

	if (coreboot_find_tsc_mhz(memory, &mhz))
		claim_set_rate(claims_add(claims, CLAIM_COREBOOT, CLAIM_OF_TSC, "coreboot's TIMESTAMP"),
			       (struct rate){ mhz * HZ_PER_MHZ, 1 }, HZ_PER_MHZ);
}

void
machine_read_firmware_tables(struct machine *machine, struct report *report)
{
	const struct acpi_memory memory = { get_mapped_memory, NULL };
	const struct smbios_memory smbios_memory = { get_mapped_memory, NULL };
	struct acpi_facts *acpi = &machine->platform.acpi;
	struct lapic lapic;

	cpu_read_facts(&machine->platform.cpu);
	paravirtual_read_interfaces(&machine->platform.cpu, guard_run, &machine->platform.paravirtual);
	machine->apic_id = lapic_open(&lapic) ? machine->platform.cpu.apic_id : lapic_read_id(&lapic);
	acpi->madt.apic_ids = machine->apic_ids;
	acpi->madt.core_max = ACPI_CORES_MAX;
	acpi_read_facts(&memory, firmware_find_rsdp(), acpi);
	platform_read_rate_claims(&machine->platform, guard_run);
	add_claim_of_coreboot(&memory, &machine->platform.claims);
	machine->platform.unused_page = firmware_get_unused_page();
	if (!firmware_find_rsdp() && !machine->boot.needs_acpi) {
		acpi->problem_count = 0;
		notes_add(&report->notes, "This machine has no ACPI tables.");
	}
	for (size_t i = 0; i < acpi->problem_count; i++)
		notes_add(&report->facts.table_problems, "%s", acpi->problems[i]);
	if (!machine->platform.cpu.hypervisor[0] && text_begins_with(acpi->oem, QEMU_OEM)) {
		cpu_mark_as_guest(&machine->platform.cpu);
		notes_add(&report->notes, "CPUID shows no hypervisor, but the ACPI tables are from QEMU or Bochs: this "
			  "machine is treated as a guest.");
	}
	smbios_read_facts(&smbios_memory, firmware_find_smbios_3(), firmware_find_smbios_2(), &machine->smbios);
	if (machine->smbios.problem[0])
		notes_add(&report->notes, "%s.", machine->smbios.problem);
}

/*
 * Starts all cores by a broadcast. Stores the cores that answered as the list of cores that the MADT would otherwise
 * provide.
 */
static void
find_cores_by_broadcast(struct machine *machine, struct report *report)
{
	struct acpi_madt *madt = &machine->platform.acpi.madt;
	size_t found = cores_find_by_broadcast(madt->apic_ids + 1, madt->core_max - 1);

	madt->apic_ids[0] = machine->apic_id;
	madt->core_count = madt->enabled = (uint32_t)(found + 1);
	notes_add(&report->notes, NO_MADT ": all cores were started at once, and %zu answered.", found);
}

/*
 * Lets the firmware start the other cores if it can. Otherwise no other core is started. A note gives the reason WHY.
 */
static void
choose_core_start_by_firmware(const struct machine *machine, const char *why, struct report *report)
{
	if (machine->boot.start_firmware_cores) {
		notes_add(&report->notes, "%s: the other cores are started by the firmware's MP services (cores=mp).", why);
		report->facts.options.cores.method = CORES_MP;
	} else {
		notes_add(&report->notes, "%s: none was started.", why);
		report->facts.options.cores.method = CORES_OFF;
	}
}

void
machine_choose_core_start_method(struct machine *machine, struct report *report)
{
	if (report->facts.options.cores.method == CORES_MP && !machine->boot.start_firmware_cores)
		choose_core_start_by_firmware(machine, "There is no firmware that can start the other cores (cores=mp)",
					      report);
	if (report->facts.options.cores.method != CORES_SIPI)
		return;
	if (machine->platform.cpu.memory_encrypted)
		choose_core_start_by_firmware(machine,
					      "This guest's memory is encrypted, so baretick can't start its other cores",
					      report);
	else if (!machine->platform.acpi.madt.found && machine->boot.finds_cores)
		find_cores_by_broadcast(machine, report);
	else if (!machine->platform.acpi.madt.found)
		choose_core_start_by_firmware(machine, NO_MADT, report);
}

size_t
machine_count_cores(const struct machine *machine, const struct options *options)
{
	switch (options->cores.method) {
	case CORES_SIPI:
		return cores_count_listed_in_madt(&machine->platform.acpi.madt, machine->apic_id);
	case CORES_MP:
		return machine->boot.count_firmware_cores ? machine->boot.count_firmware_cores() : 1;
	default:
		return 1;
	}
}

/* Starts the other cores by SIPI. If none can be started in this way, lets the firmware's MP services start them. */
static void
start_cores_by_sipi(struct machine *machine, struct run *run, struct cores_limits limits)
{
	cores_start(&machine->cores, &machine->platform.acpi.madt, machine->apic_id, limits, run->report.figures.tsc,
		    &run->smp);
	if (machine->cores.firmware_lost_cores || !machine->cores.reason[0])
		return;
	if (!machine->boot.start_firmware_cores)
		return; /* start_cores() reports why no core was started */
	notes_add(&run->report.notes, "%s So the other cores are started by the firmware's MP services (cores=mp).",
		  machine->cores.reason);
	run->report.facts.options.cores.method = CORES_MP;
	if (machine->boot.set_cores)
		machine->boot.set_cores(machine->boot.context, CORES_MP);
}

/* Starts the cores that the options request, at most as many as the plan has memory for. */
static void
start_cores(void *context, struct run *run)
{
	struct machine *machine = context;
	const struct options *options = &run->report.facts.options;
	/*
	 * On hardware a core polls for a while before it halts, so that its frequency does not drop. In a guest it
	 * halts at once, because polling takes processor time from other cores, and the host controls the frequency.
	 */
	const struct cores_limits limits = { machine->plan->cores, options->cores.max,
					     machine->platform.cpu.hypervisor[0] ? 0 : SURVEY_AWAKE_NS,
					     report_is_machine_emulated(&run->report) ? CHECKS_PER_PAUSE_IN_EMULATOR :
					     0 };
	uint32_t own = machine->apic_id;

	if (options->cores.method == CORES_SIPI)
		start_cores_by_sipi(machine, run, limits);
	machine->stolen_counter.are_others_lent = options->cores.method == CORES_MP;
	if (options->cores.method == CORES_MP && machine->boot.start_firmware_cores)
		machine->boot.start_firmware_cores(&machine->cores, own, limits, run->report.figures.tsc, &run->smp);
	else if (options->cores.method == CORES_OFF)
		cores_use_boot_core_only(&machine->cores, own, &run->smp);
	if (machine->cores.reason[0])
		notes_add(&run->report.notes, "%s", machine->cores.reason);
}

static void
describe_cores(void *context, struct report *report)
{
	const struct machine *machine = context;

	report->facts.core_count = machine->cores.count;
	report->facts.machine.cores_started = 0;
	for (size_t i = 0; i < machine->cores.count; i++) {
		const struct core_record *record = &machine->cores.records[i];
		struct report_core *core = &report->facts.cores[i];

		core->apic_id = record->apic_id;
		core->started = record->started;
		core->timed_out = record->timed_out;
		core->boot = i == 0;
		report->facts.machine.cores_started += core->started;
		__builtin_memcpy(core->reason, record->reason, CLOCK_REASON_SIZE);
	}
}

static void
stop_cores(void *context, struct run *run)
{
	struct machine *machine = context;

	if (run->report.facts.options.cores.method == CORES_SIPI)
		cores_stop(&machine->cores);
	else if (run->report.facts.options.cores.method == CORES_MP && machine->boot.stop_firmware_cores)
		machine->boot.stop_firmware_cores(&machine->cores);
}

static void
read_registers_as_found(void *context, struct as_found *registers)
{
	const struct machine *machine = context;

	registers_read_from_clocks(registers, &machine->platform, machine->run.hooks.guarded);
	timers_read_registers(registers, &machine->platform);
	processor_read_registers(registers);
}

static void
read_disruption_markers(void *context, bool is_first, struct signals *signals)
{
	const struct machine *machine = context;
	const struct platform *platform = &machine->platform;
	const struct signal_places places = { &platform->paravirtual, platform->acpi.vmgenid, platform->acpi.vmclock };

	signals_read_disruption_markers(&places, machine->run.hooks.guarded, is_first, signals);
}

static void
set_tsc_rate_and_deadline(void *context, struct rate hz, uint64_t deadline_ns)
{
	struct machine *machine = context;

	progress_set_tsc_rate(&machine->progress, hz, deadline_ns);
}

static void
time_firmware(void *context, struct run *run, bool is_last)
{
	struct machine *machine = context;

	machine->boot.time_firmware(machine->boot.context, &machine->platform, run, is_last);
}

static void
handle_phase_start(void *context, const struct run *run, const struct run_phase *phase)
{
	struct machine *machine = context;

	watchdog_feed(&machine->watchdog);
	if (machine->boot.start_phase)
		machine->boot.start_phase(machine->boot.context, run, phase);
	progress_print_phase(&machine->progress, phase->id);
}

static void
handle_sleep_state_start(void *context, const char *name)
{
	struct machine *machine = context;

	watchdog_feed(&machine->watchdog);
	if (machine->boot.mark_sleep_state)
		machine->boot.mark_sleep_state(machine->boot.context, name);
}

static void
feed_watchdog_and_save_checkpoint(void *context)
{
	struct machine *machine = context;

	watchdog_feed(&machine->watchdog);
	if (!machine->boot.is_due || !machine->boot.is_due(machine->boot.context))
		return;
	run_start_or_stop_firmware_tick(machine->measured_run, true);
	machine->boot.save_due(machine->boot.context);
	run_start_or_stop_firmware_tick(machine->measured_run, false);
}

static bool
set_firmware_tick_stopped(void *context, bool stopped)
{
	struct machine *machine = context;

	return tick_set_stopped(&machine->tick, stopped);
}

static void
prepare_machine_for_run(struct machine *machine, const struct plan *plan, struct console *console, struct run *run)
{
	const struct cpu_facts *cpu = &machine->platform.cpu;

	machine->measured_run = run;
	machine->plan = plan;
	cores_use_boot_core_only(&machine->cores, machine->apic_id, &run->smp);
	reserve_clock_pages(&machine->platform, &run->report.facts.options, plan->cores);
	machine->run = (struct run_machine){
		.context = machine,
		.drivers = drivers,
		.checks = device_checks,
		.calibrations = calibrations,
		.platform = &machine->platform,
		.claims = &machine->platform.claims,
		.timers = timer_drivers,
		.window = interrupts_allocate_timer_windows(),
		.series = plan->series,
		.hooks = progress_make_hooks(&machine->progress, console, cpu->lfence_serialises),
		.start_cores = start_cores,
		.describe_cores = describe_cores,
		.stop_cores = stop_cores,
		.read_registers = read_registers_as_found,
		.read_signals = read_disruption_markers,
		.set_tsc_rate = set_tsc_rate_and_deadline,
		.set_tick_stopped = set_firmware_tick_stopped,
		.time_firmware = machine->boot.time_firmware ? time_firmware : NULL,
		.phase_starts = handle_phase_start,
		.smi_count = cpu->counts_smis ? cpu_read_smi_count : NULL,
	};
	machine->stolen_counter = steal_time_open_counter(cpu, &machine->platform.paravirtual, guard_run,
							  guard_end_with_fault);
	machine->run.hooks.stolen_counter = &machine->stolen_counter;
	machine->sleep = (struct sleep_hooks){ &sleep_driver, handle_sleep_state_start, machine };
	machine->run.hooks.sleep = &machine->sleep;
	machine->progress.on_draw = feed_watchdog_and_save_checkpoint;
	machine->progress.on_draw_context = machine;
}

/*
 * Arms the watchdog if exit=reboot. A machine with this option is often unattended, so no person could reset it after a
 * hang.
 */
static void
arm_watchdog(struct machine *machine, struct report *report)
{
	const struct acpi_watchdog *table = &machine->platform.acpi.watchdog;

	if (!table->found || report->facts.options.exit != EXIT_REBOOT)
		return;
	const char *reason = watchdog_arm(&machine->watchdog, table);

	if (reason)
		notes_add(&report->notes, "The board's watchdog was not armed: %s.", reason);
	else
		notes_add(&report->notes, "The board's watchdog was armed: it would have reset the machine %u s after a hang.",
			  machine->watchdog.seconds);
}

void
machine_run_measurements(struct machine *machine, const struct plan *plan, struct console *console, struct run *run)
{
	prepare_machine_for_run(machine, plan, console, run);
	run_set_up(run, &machine->run, plan->memory, plan->cores, plan->widest);
	arm_watchdog(machine, &run->report);
	run_measure(run);
	progress_show_step(&machine->progress, "calculating the results");
	run_close_clocks_and_judge(run);
	watchdog_disarm(&machine->watchdog);
}

void
machine_release_resources(struct machine *machine)
{
	progress_cancel_deadline(&machine->progress);
	interrupts_free_timer_windows(&machine->run.window);
}
