/*
 * A whole run: opens the clocks, makes the measurements in order, and produces the report with its verdict. The
 * drivers, the cores and the access to hardware are parameters, so that the same code runs on a real and on a
 * simulated machine.
 */
#ifndef BARETICK_RUN_H
#define BARETICK_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/as_found.h"
#include "clock/calibration.h"
#include "clock/driver.h"
#include "clock/smp.h"
#include "measure/survey.h"
#include "measure/timers/survey_timers.h"
#include "report/report.h"

#define RUN_DRIVERS_MAX 10
#define RUN_SAMPLES     8192

struct run;
struct run_phase;

/*
 * The machine on which a run is made. The caller owns everything in it, and keeps it valid until the end of the run.
 */
struct run_machine {
	/* first argument of each function below; only the HOOKS have an argument of their own */
	void *context;
	/* all drivers, in the order in which their clocks are shown; the last entry is NULL */
	const struct driver *const *drivers;
	/* Checks of devices, in the order in which they run; the driver of the last entry is NULL. */
	const struct device_check *checks;
	/* Table of the calibration loops; the last entry is NULL. The pointer itself is NULL if no loops are run. */
	const struct calibration_loop *const *calibrations;
	const struct platform *platform;      /* only drivers use its contents */
	/* CPUID leaves and MSRs that contain rates, for the record; may be NULL */
	const struct claims *claims;
	/* Timers whose interrupts are tested, if the function WINDOW.run is not NULL. The last entry is NULL. */
	const struct timer_driver *const *timers;
	struct timer_window window;
	struct survey_hooks hooks;
	/* zeroed memory of run_series_size_bytes() bytes for the series of a soak; NULL if there is no series */
	void *series;
	/*
	 * Starts the other cores and sets run->smp. It is not called if the TSC stopped, because its waits are timed
	 * with the TSC's rate from the report, and would not end.
	 */
	void (*start_cores)(void *context, struct run *run);
	/* Describes in REPORT which cores started, and why others did not start or stopped answering. */
	void (*describe_cores)(void *context, struct report *report);
	void (*stop_cores)(void *context, struct run *run);
	/* Fills REGISTERS with the current values of all registers that a run may change. */
	void (*read_registers)(void *context, struct as_found *registers);
	/*
	 * Tells the machine the TSC's rate and the maximum duration of the run. It is called again each time the rate
	 * is known more exactly.
	 */
	void (*set_tsc_rate)(void *context, struct rate hz, uint64_t deadline_ns);
	/*
	 * Stops the firmware's timer tick if STOPPED is true; restarts it if STOPPED is false. Returns false if the tick
	 * cannot be stopped. It is called only if a clock of the run is the source of the tick. NULL if the machine
	 * cannot stop its tick.
	 */
	bool (*set_tick_stopped)(void *context, bool stopped);
	/*
	 * Calls the firmware's time services, and appends the readings to the run's record. It is called twice: IS_LAST
	 * is false once the TSC's rate is roughly known, and true before the cores are started. NULL without UEFI.
	 */
	void (*time_firmware)(void *context, struct run *run, bool is_last);
	/* Called at the start of each phase, when the results of the earlier phases are complete. May be NULL. */
	void (*phase_starts)(void *context, const struct run *run, const struct run_phase *phase);
	/*
	 * Reads the hypervisor's counters that announce events such as a migration. FIRST is true at the start of the
	 * measurements, and false at their end. NULL if the machine has no such counters.
	 */
	void (*read_signals)(void *context, bool first, struct signals *signals);
	/*
	 * Returns the number of SMIs that the boot core has handled, modulo 2^32. NULL if the CPU does not count
	 * SMIs.
	 */
	uint32_t (*smi_count)(void);
};

struct run {
	const struct run_machine *machine;
	struct report report;
	struct latency latencies[REPORT_CLOCKS_MAX];
	/* one device for each driver, with the same index as in machine->drivers */
	struct device devices[RUN_DRIVERS_MAX];
	/* clocks of each driver, as its open() function set them */
	struct clock rows[RUN_DRIVERS_MAX][DRIVER_CLOCKS_MAX];
	struct smp smp;
	struct survey survey;
	struct sample samples[RUN_SAMPLES];
	struct survey_timers timers;
	struct as_found before; /* values of the registers before the first clock was opened */
	bool tick_from_clock;      /* true if a clock of the run is the source of the firmware's timer tick */
	bool needs_tick;        /* true if the firmware's timer tick must not be stopped in the current phase */
	bool firmware_called_back;       /* true if the firmware's timer called its callbacks before the first phase */
	uint64_t begin_tsc;
};

/* Returns true if OPTIONS include at least one clock of DRIVER. */
bool run_includes_driver(const struct options *options, const struct driver *driver);

/*
 * The first function returns the maximum number of rows in the series of a soak on CORES cores. The second function
 * returns the size of these rows in bytes. Both return 0 if the run is no soak.
 */
size_t run_max_series_rows(const struct options *options, size_t cores);
size_t run_series_size_bytes(const struct options *options, size_t cores);

/*
 * Opens the clocks that the options include. RUN must be zeroed, except report.options and the report's description of
 * the machine. MEMORY is zeroed. Its size is survey_memory_bytes() for CORES and WIDEST. CORES is the largest
 * possible number of cores. WIDEST is the schedule of ping-pongs with the most pairs that is possible.
 */
void run_set_up(struct run *run, const struct run_machine *machine, void *memory, size_t cores,
		enum pair_schedule widest);

void run_measure(struct run *run); /* runs all phases in run_phases[] */

/*
 * Restarts the firmware's timer tick if NEEDED is true, because the firmware may need it for the following work.
 * Otherwise stops it, unless the current phase needs it. Does nothing if no clock of the run is the source of the
 * tick.
 */
void run_start_or_stop_firmware_tick(struct run *run, bool needed);

/*
 * Copies the report of an unfinished run to REPORT, marks the copy as incomplete in PHASE, and calculates its results
 * and verdict. The copy shares pointers with the run's own report. Therefore it must be rendered before the run
 * continues.
 */
void run_make_report_so_far(const struct run *run, const struct run_phase *phase, struct report *report);

/*
 * Restores the settings that drivers changed on the boot core. For a run that was aborted before
 * run_close_clocks_and_judge().
 */
void run_restore_boot_core(struct run *run);

/*
 * Closes the clocks, adds a note for each register that was not restored, and calculates the results and the verdict.
 */
void run_close_clocks_and_judge(struct run *run);

/*
 * One phase of a run. run_phases[] lists the phases in order; the id of its last entry is NULL. An id may occur more
 * than once.
 */
struct run_phase {
	const char *id;
	void (*measure)(struct survey *survey); /* the phase calls either MEASURE or EXECUTE; the other is NULL */
	void (*execute)(struct run *run);
	enum survey_part part; /* The phase belongs to this part of the plan. The parts are in the order of the phases. */
	/* true if the phase tests the firmware's time; it is left out without UEFI and with efi=off */
	bool with_firmware;
	bool with_cores;   /* true if other cores run in this phase, or are started in it */
	/* true if the phase may run again after an exception, because it removes its earlier results at its start */
	bool repeatable;
	/* true if run_make_report_so_far() may be called within this phase, between two batches of samples */
	bool reports_within;
};

extern const struct run_phase run_phases[];

#endif
