/*
 * The course of a run: which clocks are opened, what order the measurements have, and when the report is
 * judged. The drivers, the cores and the hooks are parameters, so the same run works on a real and on a
 * simulated machine.
 */
#ifndef BARETICK_RUN_H
#define BARETICK_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/as_found.h"
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
	/* In the order in which they are played; ends with a NULL driver. */
	const struct device_check *checks;
	const struct platform *platform;      /* private to the drivers */
	/* Sources of interrupts, tested if WINDOW is available; ends with NULL. */
	const struct timer_driver *const *timers;
	struct timer_window window;
	struct survey_hooks hooks;
	void *series; /* zeroed memory for a soak's series, run_series_size() bytes; NULL for no series */
	/*
	 * Starts the other cores by the TSC's rate in the run's report, and sets run->smp. Not called if the
	 * TSC stopped, because no wait for a core would end in time.
	 */
	void (*start_cores)(void *context, struct run *run);
	/* Sets in the report's cores whether each started, and why not or why it stopped answering. */
	void (*describe_cores)(void *context, struct report *report);
	void (*stop_cores)(void *context, struct run *run);
	/* Fills REGISTERS with the current values of the registers that a run may touch. */
	void (*read_registers)(void *context, struct as_found *registers);
	/*
	 * Called with the TSC's rate as far as it is known, and the longest duration of the run. Called more
	 * than once.
	 */
	void (*timed)(void *context, struct rate hz, uint64_t deadline_ns);
	/*
	 * Stops the firmware's timer tick, or restores it. Returns false if it cannot be stopped. Only called
	 * if a clock of the run produces the tick. NULL if it never can be stopped.
	 */
	bool (*quiet_tick)(void *context, bool quiet);
	/*
	 * Called at the start of a phase, when all earlier measurements are complete: see run_so_far(). May be
	 * NULL.
	 */
	void (*begins)(void *context, const struct run *run, const struct run_phase *phase);
	/*
	 * Reads the signals that the hypervisor offers. FIRST: at the start of the measurements. NULL if there are none.
	 */
	void (*read_signals)(void *context, bool first, struct signals *signals);
	/* Number of SMIs that the boot core has taken, modulo 2^32. NULL if it does not count them. */
	uint32_t (*smi_count)(void);
};

struct run {
	const struct run_machine *machine;
	struct report report;
	struct latency latencies[REPORT_CLOCKS_MAX];
	struct device devices[RUN_DRIVERS_MAX];                /* in the order of machine->drivers */
	struct clock rows[RUN_DRIVERS_MAX][DRIVER_CLOCKS_MAX]; /* rows of each driver, as its open left them */
	struct smp smp;
	struct survey survey;
	struct sample samples[RUN_SAMPLES];
	struct latency scratch;
	struct survey_timers timers;
	struct as_found before; /* registers before the first clock was opened */
	bool tick_matters;      /* a clock of the run produces the firmware's tick */
	bool needs_tick;        /* the tick must go on in the current phase */
	/* The firmware's timer called back before the first phase; false if not checked. */
	bool called_back;
	uint64_t begin_tsc;
};

/* Ids of all rows that DRIVERS leave, in their order, and a final NULL, for options_names.clocks. */
void run_clock_ids(const struct driver *const *drivers, const char *ids[REPORT_CLOCKS_MAX + 1]);

/* Returns true if OPTIONS include a clock of DRIVER. */
bool run_wants(const struct options *options, const struct driver *driver);

/* Most rows of the series of a run with OPTIONS on CORES cores, and bytes for it. 0 if it has none. */
size_t run_series_rows(const struct options *options, size_t cores);
size_t run_series_size(const struct options *options, size_t cores);

/*
 * Opens the clocks that the options include. RUN must be zeroed except report.options and the report's
 * description of the machine. MEMORY is zeroed and has survey_memory_size() bytes, for at most CORES cores and
 * schedules up to WIDEST.
 */
void run_open(struct run *run, const struct run_machine *machine, void *memory, size_t cores,
	      enum tournament widest);

void run_measure(struct run *run); /* plays run_phases[] */

/*
 * Lets the firmware work for a short time, because it may need its tick for that. Call it with GOES_ON true
 * before, and false after. Afterwards the tick is as the phase needs it. Does nothing if no clock of the run
 * produces the tick.
 */
void run_let_tick(struct run *run, bool goes_on);

/*
 * Judges the measurements so far in REPORT, a copy of the run's report that is incomplete and names PHASE. It
 * shares pointers with the run's own report, so it must be rendered at once.
 */
void run_so_far(const struct run *run, const struct run_phase *phase, struct report *report);

/* For a run that ended before it was closed: restores what drivers changed on the boot core. */
void run_end(struct run *run);

/* Closes the clocks, notes registers that were not restored, and judges the report. */
void run_close(struct run *run);

/* The phases of a run, in order; a row with id NULL ends them. An id may occur more than once. */
struct run_phase {
	const char *id;
	void (*measure)(struct survey *survey); /* either MEASURE or PLAY */
	void (*play)(struct run *run);
	bool with_cores;   /* other cores are being started, or run */
	bool anew;         /* it can be repeated from its start, because that removes its earlier results */
	bool whole_within; /* run_so_far() has complete figures also between two batches */
};

extern const struct run_phase run_phases[];

#endif
