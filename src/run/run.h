/*
 * The life of a run: which clocks are opened, what is measured and in which order, what is judged. The drivers, the
 * cores and the hooks for whatever follows the run are handed in, so the same run is played on a machine and on a
 * simulated one.
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

/* What a run is played on. All of it is the caller's, alive until the run is over. */
struct run_machine {
	void *context;                        /* handed to every function below, but to those of HOOKS: they have theirs */
	const struct driver *const *drivers;  /* in the order in which people see the clocks; ends with NULL */
	const struct device_check *checks;    /* in the order in which they are played; ends with a NULL driver */
	const struct platform *platform;      /* the drivers' own */
	const struct timer_driver *const *timers; /* likewise; asked where the window can be played */
	struct timer_window window;
	struct survey_hooks hooks;
	void *series; /* run_series_size() bytes, zeroed, for the series of a soak; NULL: none is made */
	/*
	 * Starts the other cores, by the TSC's rate in the run's report, and leaves in run->smp which are there. Not called
	 * where the TSC stopped: no wait for a core would end in time.
	 */
	void (*start_cores)(void *context, struct run *run);
	/* Leaves in the rows of the report's cores which started and, of those that don't answer by now, why. */
	void (*describe_cores)(void *context, struct report *report);
	void (*stop_cores)(void *context, struct run *run);
	/* Fills REGISTERS with those that a run may touch, as they read. */
	void (*read_registers)(void *context, struct as_found *registers);
	/* The TSC's rate as far as it is known, and how long the run may last from its begin. Called more than once. */
	void (*timed)(void *context, struct rate hz, uint64_t deadline_ns);
	/*
	 * Stops the firmware's timer tick, or lets it go on as it was; false: it can't be stopped. Called only where a clock
	 * was opened that the tick comes from. NULL: it can't either.
	 */
	bool (*quiet_tick)(void *context, bool quiet);
	/* A phase begins: what was measured up to now is whole, see run_so_far(). NULL: there is nothing to call. */
	void (*begins)(void *context, const struct run *run, const struct run_phase *phase);
	/* The SMIs that the boot core has taken, modulo 2^32. NULL: it doesn't count them. */
	uint32_t (*smi_count)(void);
};

struct run {
	const struct run_machine *machine;
	struct report report;
	struct latency latencies[REPORT_CLOCKS_MAX];
	struct device devices[RUN_DRIVERS_MAX];                /* in the order of machine->drivers */
	struct clock rows[RUN_DRIVERS_MAX][DRIVER_CLOCKS_MAX]; /* of each driver, as its open left them */
	struct smp smp;
	struct survey survey;
	struct sample samples[RUN_SAMPLES];
	struct latency scratch;
	struct survey_timers timers;
	struct as_found before; /* the first clock was opened */
	bool tick_matters;      /* the firmware's tick comes from a clock of the run, */
	bool needs_tick;        /* and the phase is one in which that is to go on */
	bool called_back;       /* the firmware's timer did before the first phase; false if it was not asked */
	uint64_t begin_tsc;
};

/* The ids of all rows that DRIVERS leave, in their order, and a final NULL: for options_names.clocks. */
void run_clock_ids(const struct driver *const *drivers, const char *ids[REPORT_CLOCKS_MAX + 1]);

/* Whether OPTIONS ask for a clock of DRIVER's. */
bool run_wants(const struct options *options, const struct driver *driver);

/* How many rows the series of a run with OPTIONS has on CORES cores, at most; and bytes for it. 0: it has none. */
size_t run_series_rows(const struct options *options, size_t cores);
size_t run_series_size(const struct options *options, size_t cores);

/*
 * Opens the clocks that the options ask for. RUN is zeroed but for report.options and whatever of the report describes
 * the machine. MEMORY, survey_memory_size() bytes and zeroed, is for the cores' measuring: for CORES cores at most and
 * tournaments up to WIDEST.
 */
void run_open(struct run *run, const struct run_machine *machine, void *memory, size_t cores,
	      enum tournament widest);

void run_measure(struct run *run); /* plays run_phases[] */

/*
 * The firmware is to work for a moment, and perhaps waits by its tick: GOES_ON before it does; after it, as the phase
 * has it. Nothing is done where no clock of the run is the tick's.
 */
void run_let_tick(struct run *run, bool goes_on);

/*
 * What is measured up to now, judged, in REPORT: a copy that says that PHASE had begun and that it is incomplete. It
 * shares with the run's own report whatever that points to, so it is to be rendered at once.
 */
void run_so_far(const struct run *run, const struct run_phase *phase, struct report *report);

/* Of a run that ended before it was closed, wherever that was: puts back what drivers changed on the boot core. */
void run_end(struct run *run);

/* Closes the clocks, says what was not put back as found, and judges the report. */
void run_close(struct run *run);

/* The phases of a run, in their order; a row with id NULL ends it. An id may come more than once. */
struct run_phase {
	const char *id;
	void (*measure)(struct survey *survey); /* or: */
	void (*play)(struct run *run);
	bool with_cores;   /* other cores are started, or run */
	bool anew;         /* nothing of it is left where it is played again from its begin */
	bool whole_within; /* between two batches, too, run_so_far() has figures that are whole */
};

extern const struct run_phase run_phases[];

#endif
