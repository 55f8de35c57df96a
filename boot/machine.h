/* Prepares the machine for a run, after the firmware or a loader has started the application. See run.h. */
#ifndef BARETICK_MACHINE_H
#define BARETICK_MACHINE_H

#include "cores/cores.h"
#include "clocks/platform.h"
#include "plan.h"
#include "console/progress.h"
#include "run/run.h"
#include "smbios/smbios.h"
#include "firmware/tick.h"
#include "paravirtual/steal.h"
#include "watchdog/watchdog.h"

/* Functions and properties that differ between a boot with UEFI and without. Each function may be NULL. */
struct machine_boot {
	/* true if cores may be found by a broadcast INIT; with UEFI the firmware would lose its cores */
	bool finds_cores;
	bool needs_acpi;  /* true if each machine that boots by this method has ACPI tables */

	/*
	 * Functions for cores=mp, in which the firmware's MP services start the cores: see boot/uefi/mp. If they are
	 * NULL, cores=mp is the same as cores=off.
	 */
	size_t (*count_firmware_cores)(void); /* number of cores, including the boot core */
	bool (*start_firmware_cores)(struct cores *cores, uint32_t own_apic_id, struct cores_limits limits, struct rate tsc,
		     struct smp *smp);
	void (*stop_firmware_cores)(struct cores *cores);

	/*
	 * Checkpoints of the report during a run: see boot/uefi/checkpoint.h. CONTEXT is the first argument of each
	 * function.
	 */
	void *context;
	void (*start_phase)(void *context, const struct run *run, const struct run_phase *phase);
	void (*set_cores)(void *context, enum options_cores cores);
	void (*mark_sleep_state)(void *context, const char *name);
	bool (*is_due)(const void *context);
	void (*save_due)(void *context);
	/* Calls the firmware's time services, as in struct run_machine. */
	void (*time_firmware)(void *context, const struct platform *platform, struct run *run, bool is_last);
};

struct machine {
	struct platform platform; /* set by machine_read_firmware_tables() */
	struct smbios_facts smbios; /* set by machine_read_firmware_tables() */
	uint32_t apic_id;         /* the boot core's APIC id, read from its LAPIC */
	struct cores cores;
	struct progress progress;
	struct tick tick;
	struct stolen_counter stolen_counter;
	struct sleep_hooks sleep;
	struct watchdog watchdog; /* armed only within machine_run_measurements() */
	struct run *measured_run; /* owned by the caller */
	const struct plan *plan;  /* owned by the caller */
	struct machine_boot boot; /* set by the caller before machine_read_firmware_tables() */
	uint32_t apic_ids[ACPI_CORES_MAX];
	struct run_machine run;   /* the argument of run_set_up() */
};

/*
 * Prints `instruction: N TSC ticks` on the serial lines if an instruction takes long. Some hypervisors interpret each
 * instruction. A run then takes many minutes, and programs that read the line can end it.
 */
void machine_print_slow_instructions(struct console *console);

/* Reads the processor's facts and the tables of ACPI and SMBIOS. REPORT gets a finding or a note on each error. */
void machine_read_firmware_tables(struct machine *machine, struct report *report);

/*
 * Chooses another method to start cores if no table lists them, or if the guest's memory is encrypted. The method is a
 * broadcast or the firmware's MP services. If neither is possible, only the boot core is used. A note in REPORT gives
 * the reason.
 */
void machine_choose_core_start_method(struct machine *machine, struct report *report);

/* Returns the number of cores that a run may use, as far as this is known before they are started. */
size_t machine_count_cores(const struct machine *machine, const struct options *options);

/*
 * Does all measurements of RUN on MACHINE, in the memory of PLAN. CONSOLE shows the progress. With exit=reboot the
 * board's watchdog is armed during this time, so that it resets the machine if the run hangs.
 */
void machine_run_measurements(struct machine *machine, const struct plan *plan, struct console *console,
			      struct run *run);

/* Restores the boot core's settings after an exception. RUN is the struct run. An argument for guard_run(). */
static inline void
machine_restore_boot_core(void *run)
{
	run_restore_boot_core(run);
}

/* Returns to the firmware all resources that machine_run_measurements() used. */
void machine_release_resources(struct machine *machine);

#endif
