/*
 * A bench for tests: a report, a survey and all drivers on the simulated machine. The bench opens the drivers in the
 * same way as boot/ does for a run. The bench's struct smp runs cores one after another: a job on another core is a
 * function call with another value of sim.core.
 */
#ifndef BARETICK_BENCH_H
#define BARETICK_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks/drivers.h"
#include "clocks/platform.h"
#include "measure/clocks/survey_clocks.h"
#include "measure/rates/survey_rates.h"
#include "measure/skew/survey_skew.h"
#include "measure/survey_plan.h"
#include "paravirtual/steal.h"
#include "run/run.h"

#define BENCH_NOBODY      SIZE_MAX
#define BENCH_NEVER_MS    UINT64_MAX

struct bench {
	struct platform platform;
	struct run run;
	struct run_machine machine;
	/* number of the core that stops answering after mute_after_jobs jobs; BENCH_NOBODY if all cores answer */
	size_t mute;
	uint64_t mute_after_jobs;
	bool is_dead;
	bool is_late; /* true if the core in the field mute counts as dead because its job exceeded the time limit */
	/* time in ps to start a job on one core; a job on N cores at once needs N times as long, as on a small host */
	uint64_t job_ps;
	/* end of the run in simulated time, in ms; BENCH_NEVER_MS until the test or the run sets it */
	uint64_t deadline_ms;
	uint64_t duration_ns;    /* duration of each measurement; 20 ms by default */
	uint64_t interval_ns;    /* duration of each row in a soak's series; 0 for a quick run without a series */
	const char *const *clocks; /* ids of the clocks to be measured, ended by NULL; NULL for all clocks */
	/* calls the firmware's time services, as in struct run_machine, or NULL if the machine has no UEFI */
	void (*time_firmware)(void *context, struct run *run, bool is_last);
	/* largest schedule of pairs of cores for which bench_open() allocates memory; all pairs by default */
	enum pair_schedule widest;
	fault_guard *guard; /* function that protects a reading of the counter of stolen time against faults, or NULL */
	struct stolen_counter stolen_counter;
	/* true if sleep states are tested by sim_sleep_driver; the bench then needs bench_use_threads() */
	bool sleeps;
	bool has_threads;
	void *memory, *series;
};

/*
 * Makes a bench with the facts (CPUID, ACPI) of the simulated machine. Later changes of the machine do not change the
 * facts.
 */
struct bench *bench_new(void);

/* Opens all drivers with CORES cores, for a soak if interval_ns is set, otherwise for a quick run. */
void bench_open(struct bench *bench, size_t cores);

/*
 * Gives an open bench cores that run in turns, as if at the same time (threads.h). The cores' readings and pauses
 * advance the simulated time of all cores. Each core's TSC is offset by sim.tsc.offset_ticks. The TSC drifts by
 * threads_cores[].drift_ppb, but only during jobs of several cores. Only one bench at a time can have such cores.
 */
void bench_use_threads(struct bench *bench);

/*
 * Calls run_close_clocks_and_judge(). Fails the test if a replay of the run's record makes a different report. A replay
 * may refuse the record only if the record had no space for all facts.
 */
void bench_close(struct bench *bench);

/* Calls run_measure() and bench_close(), and returns the report. */
const struct report *bench_run(struct bench *bench);

/* Measures the rates of all clocks, as in a run's phases prepare and rates. */
void bench_measure_rates(struct bench *bench);

/* Closes the drivers and frees BENCH, which may be NULL. */
void bench_free(struct bench *bench);

/* returns a clock of the report; fails the test if there is no clock with this id */
struct report_clock *bench_find_clock(struct bench *bench, const char *id);
const struct clock_figures *bench_find_figures(struct bench *bench, const char *id);

/*
 * Counts all later batches of samples of the clock ID, on all cores, and calls WORK before batch number BATCH. The
 * first batch has the number 0. There can be only one such call at a time.
 */
void bench_call_before_batch(struct bench *bench, const char *id, unsigned batch, void (*work)(void));

/* The hook ticks_left, which is called with the bench as CONTEXT. */
uint64_t bench_ticks_left(void *context);

#endif
