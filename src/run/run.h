/*
 * The course of a run: opens the clocks, makes the measurements in order, and has the report judged. The drivers, the
 * cores and the access to hardware are parameters, so that the same code runs on a real and on a simulated machine.
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

/* The machine on which a run is made. Everything here belongs to the caller and stays valid until the run is over. */
struct run_machine {
	/* argument of every function below; the HOOKS have their own argument */
	void *context;
	const struct driver *const *drivers;  /* in the order in which clocks are shown; ends with NULL */
	/* Checks of devices, in the order in which they run; ends with a NULL driver. */
	const struct device_check *checks;
	/* Table of calibration loops, which ends with NULL. The pointer itself is NULL if no loop is run. */
	const struct calibration_loop *const *calibrations;
	const struct platform *platform;      /* private to the drivers */
	const struct claims *claims;          /* CPUID leaves and MSRs that state rates, for the record; may be NULL */
	/* Timers whose interrupts are tested if WINDOW is available; ends with NULL. */
	const struct timer_driver *const *timers;
	struct timer_window window;
	struct survey_hooks hooks;
	void *series; /* zeroed memory of run_series_size() bytes for a soak's series; NULL if no series is kept */
	/*
	 * Starts the other cores and sets run->smp. Its waits use the TSC's rate from the report. It is not called if the
	 * TSC stopped, because its waits would not end.
	 */
	void (*start_cores)(void *context, struct run *run);
	/* Describes in REPORT which cores started, and why others did not start or stopped answering. */
	void (*describe_cores)(void *context, struct report *report);
	void (*stop_cores)(void *context, struct run *run);
	/* Fills REGISTERS with the current values of the registers that a run may touch. */
	void (*read_registers)(void *context, struct as_found *registers);
	/*
	 * Passes the TSC's rate and the longest duration of the run to the machine. It is called again whenever the rate is
	 * known more exactly.
	 */
	void (*timed)(void *context, struct rate hz, uint64_t deadline_ns);
	/*
	 * Stops the firmware's timer tick if QUIET is true, otherwise restores it. Returns false if the tick cannot be
	 * stopped. It is only called if a clock of the run produces the tick. NULL if the machine has no way to stop its
	 * tick.
	 */
	bool (*quiet_tick)(void *context, bool quiet);
	/*
	 * Called at the start of each phase, when all measurements of earlier phases are complete: see run_so_far(). May be
	 * NULL.
	 */
	void (*begins)(void *context, const struct run *run, const struct run_phase *phase);
	/*
	 * Reads the hypervisor's signals that announce disruptions, such as a migration. FIRST is true at the start of the
	 * measurements, and false at their end. NULL if the machine has no such signals.
	 */
	void (*read_signals)(void *context, bool first, struct signals *signals);
	/* Returns the number of SMIs that the boot core has taken, modulo 2^32. NULL if the CPU does not count them. */
	uint32_t (*smi_count)(void);
};

struct run {
	const struct run_machine *machine;
	struct report report;
	struct latency latencies[REPORT_CLOCKS_MAX];
	struct device devices[RUN_DRIVERS_MAX];                /* in the order of machine->drivers */
	struct clock rows[RUN_DRIVERS_MAX][DRIVER_CLOCKS_MAX]; /* clocks of each driver, as they are after its open() */
	struct smp smp;
	struct survey survey;
	struct sample samples[RUN_SAMPLES];
	struct latency scratch;
	struct survey_timers timers;
	struct as_found before; /* values of the registers before the first clock was opened */
	bool tick_matters;      /* true if a clock of the run produces the firmware's tick */
	bool needs_tick;        /* true if the firmware's timer tick must continue in the current phase */
	bool called_back;       /* true if the firmware's timer called back before the first phase */
	uint64_t begin_tsc;
};

/*
 * Fills IDS with the ids of all clocks of DRIVERS, in the order of the drivers, and a final NULL. The list is for
 * options_names.clocks.
 */
void run_clock_ids(const struct driver *const *drivers, const char *ids[REPORT_CLOCKS_MAX + 1]);

/* Returns true if OPTIONS include at least one clock of DRIVER. */
bool run_wants(const struct options *options, const struct driver *driver);

/*
 * Return the largest number of rows in a soak's series on CORES cores, and the memory for the series in bytes. Both are
 * 0 if the run is no soak.
 */
size_t run_series_rows(const struct options *options, size_t cores);
size_t run_series_size(const struct options *options, size_t cores);

/*
 * Opens the clocks that the options include. RUN must be zeroed except report.options and the report's description of
 * the machine. MEMORY is zeroed and has survey_memory_size() bytes for CORES and WIDEST. CORES is the largest possible
 * number of cores, and WIDEST the schedule with the most pairs of cores.
 */
void run_open(struct run *run, const struct run_machine *machine, void *memory, size_t cores,
	      enum pair_schedule widest);

void run_measure(struct run *run); /* runs all phases of run_phases[] */

/*
 * Restores the firmware's tick if GOES_ON is true, because the firmware may need it for the work that follows.
 * Otherwise stops it again, unless the current phase needs it. Does nothing if no clock of the run produces the tick.
 */
void run_restore_tick(struct run *run, bool goes_on);

/*
 * Copies the run's report to REPORT, marks the copy as incomplete in PHASE, and judges its measurements. The copy
 * shares pointers with the run's own report, so it must be rendered at once.
 */
void run_so_far(const struct run *run, const struct run_phase *phase, struct report *report);

/* Restores the settings that drivers changed on the boot core, after a run that ended before run_close(). */
void run_end(struct run *run);

/* Closes the clocks, adds a note for each register that was not restored, and judges the report. */
void run_close(struct run *run);

/*
 * One phase of a run. run_phases[] has the phases in order; a row with id NULL ends it. An id may occur more than once.
 */
struct run_phase {
	const char *id;
	void (*measure)(struct survey *survey); /* function of the phase: either MEASURE or PLAY */
	void (*play)(struct run *run);
	bool with_cores;   /* true if other cores run in this phase, or are being started */
	bool anew;         /* true if the phase can be repeated, because it removes its earlier results at its start */
	bool whole_within; /* true if run_so_far() may also be called in the middle of this phase, between two batches */
};

extern const struct run_phase run_phases[];

#endif
