/*
 * A bench: a report, a survey and all drivers, opened on the simulated machine like in boot/ for a run. Its struct smp
 * is sequential. A job on another core is a call with another value of sim.core.
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
	size_t mute; /* a core that does not answer after so many jobs, or BENCH_NOBODY */
	uint64_t mute_after_jobs;
	bool is_dead;
	bool is_late; /* it is dead because a job took longer than its bound */
	uint64_t job_ps;      /* time before a job starts, for each of its cores, as with many cores on a small host */
	uint64_t deadline_ms; /* in world time, or BENCH_NEVER_MS */
	uint64_t duration_ns;    /* for each measurement: 20 ms */
	uint64_t interval_ns;    /* duration of a soak's rows, 0 for a quick run without a series */
	const char *const *clocks; /* ids as for clocks=, ended by NULL, or NULL for all */
	enum pair_schedule widest;  /* the widest tournament that memory allows: all pairs */
	fault_guard *guard; /* for the trial of a counter of stolen time, or NULL */
	struct steal_counter steal;
	bool has_threads;
	void *memory, *series;
};

/* A bench with the facts of the simulated machine as it is: from now on they may be changed. */
struct bench *bench_new(void);

/* Opens all drivers, for a quick run of CORES cores, or a soak. */
void bench_open(struct bench *bench, size_t cores);

/*
 * Gives an open bench cores that work side by side, in turns (threads.h): what its jobs read and pause in moves world
 * time on for all of them. The TSCs are offset by sim.tsc.offset_ticks, and drift by threads_cores[].drift_ppb in such
 * jobs alone. One bench at a time.
 */
void bench_use_threads(struct bench *bench);

/* Closes the drivers and frees BENCH, which may be NULL. */
void bench_free(struct bench *bench);

struct report_clock *bench_find(struct bench *bench, const char *id); /* the test ends where there is none */

#endif
