/*
 * The course of a run: opens the clocks, makes the measurements in order, and has the report judged. Drivers, cores and
 * hooks are parameters, so that a real and a simulated machine have the same run.
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

/* The machine of a run. Everything belongs to the caller and stays valid until the run is over. */
struct run_machine {
	/* Passed to every function below, but not to the HOOKS, which have their own. */
	void *context;
	const struct driver *const *drivers;  /* in the order in which clocks are shown; ends with NULL */
	/* Checks of devices, in the order in which they run; ends with a NULL driver. */
	const struct device_check *checks;
	/* The table of calibration loops, which ends with NULL. NULL itself if no loop is run. */
	const struct calibration_loop *const *calibrations;
	const struct platform *platform;      /* private to the drivers */
	const struct claims *claims;          /* its leaves and MSRs are recorded; may be NULL */
	/* Timers whose interrupts are tested if WINDOW is available; ends with NULL. */
	const struct timer_driver *const *timers;
	struct timer_window window;
	struct survey_hooks hooks;
	void *series; /* zeroed memory for a soak's series, run_series_size() bytes; NULL for no series */
	/*
	 * Starts the other cores and sets run->smp. Its waits use the TSC's rate in the report. Not called if the TSC
	 * stopped, because its waits would not end.
	 */
	void (*start_cores)(void *context, struct run *run);
	/* Sets in REPORT which cores started, and why others did not or stopped answering. */
	void (*describe_cores)(void *context, struct report *report);
	void (*stop_cores)(void *context, struct run *run);
	/* Fills REGISTERS with the current values of the registers that a run may touch. */
	void (*read_registers)(void *context, struct as_found *registers);
	/*
	 * Tells the machine the TSC's rate and the longest duration of the run. Called again whenever the rate is
	 * known more exactly.
	 */
	void (*timed)(void *context, struct rate hz, uint64_t deadline_ns);
	/*
	 * Stops the firmware's timer tick if QUIET, otherwise restores it. Returns false if it cannot be stopped. Only
	 * called if a clock of the run produces the tick. NULL if the machine cannot stop its tick.
	 */
	bool (*quiet_tick)(void *context, bool quiet);
	/*
	 * Called at the start of a phase, when all earlier measurements are complete: see run_so_far(). May be
	 * NULL.
	 */
	void (*begins)(void *context, const struct run *run, const struct run_phase *phase);
	/*
	 * Reads the signals by which the hypervisor announces disruptions. FIRST is true at the start of the
	 * measurements, and false at their end. NULL if the machine has no signals.
	 */
	void (*read_signals)(void *context, bool first, struct signals *signals);
	/* Returns the number of SMIs that the boot core has taken, modulo 2^32. NULL if it does not count them. */
	uint32_t (*smi_count)(void);
};

struct run {
	const struct run_machine *machine;
	struct report report;
	struct latency latencies[REPORT_CLOCKS_MAX];
	struct device devices[RUN_DRIVERS_MAX];                /* in the order of machine->drivers */
	struct clock rows[RUN_DRIVERS_MAX][DRIVER_CLOCKS_MAX]; /* clocks of each driver after its open() */
	struct smp smp;
	struct survey survey;
	struct sample samples[RUN_SAMPLES];
	struct latency scratch;
	struct survey_timers timers;
	struct as_found before; /* registers before the first clock was opened */
	bool tick_matters;      /* true if a clock of the run produces the firmware's tick */
	bool needs_tick;        /* true if the firmware's timer tick must continue in the current phase */
	bool called_back;       /* true if the firmware's timer called back before the first phase */
	uint64_t begin_tsc;
};

/* Fills IDS with the ids of all clocks of DRIVERS, in their order, and a final NULL, for options_names.clocks. */
void run_clock_ids(const struct driver *const *drivers, const char *ids[REPORT_CLOCKS_MAX + 1]);

/* Returns true if OPTIONS include a clock of DRIVER. */
bool run_wants(const struct options *options, const struct driver *driver);

/* Return the most rows of a soak's series on CORES cores, and the bytes for it; 0 if the run is no soak. */
size_t run_series_rows(const struct options *options, size_t cores);
size_t run_series_size(const struct options *options, size_t cores);

/*
 * Opens the clocks that the options include. RUN must be zeroed except report.options and the report's description of
 * the machine. MEMORY is zeroed and has survey_memory_size() bytes for CORES and WIDEST, which are the most cores and
 * the schedule with the most pairs that a pass over the cores may have.
 */
void run_open(struct run *run, const struct run_machine *machine, void *memory, size_t cores,
	      enum pair_schedule widest);

void run_measure(struct run *run); /* runs run_phases[] */

/*
 * Restores the firmware's tick if GOES_ON, because the firmware may need it for the work that follows. Otherwise stops
 * it again, unless the current phase needs it. Does nothing if no clock of the run produces the tick.
 */
void run_restore_tick(struct run *run, bool goes_on);

/*
 * Judges the measurements so far in REPORT, a copy of the run's report that is incomplete and names PHASE. It
 * shares pointers with the run's own report, so it must be rendered at once.
 */
void run_so_far(const struct run *run, const struct run_phase *phase, struct report *report);

/* Restores what drivers changed on the boot core, for a run that ended before run_close(). */
void run_end(struct run *run);

/* Closes the clocks, notes registers that were not restored, and judges the report. */
void run_close(struct run *run);

/* The phases of a run, in order; a row with id NULL ends them. An id may occur more than once. */
struct run_phase {
	const char *id;
	void (*measure)(struct survey *survey); /* either MEASURE or PLAY */
	void (*play)(struct run *run);
	bool with_cores;   /* true if other cores run in this phase, or are being started */
	bool anew;         /* true if it can be repeated from its start, because that removes its earlier results */
	bool whole_within; /* true if run_so_far() may be called between two batches of this phase */
};

extern const struct run_phase run_phases[];

#endif
