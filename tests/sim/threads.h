/*
 * A struct smp of simulated cores on host threads. A core without a job sleeps. The cores of one call run at the same
 * time, as the host schedules their threads. Each TSC reading and each pause advances world time by one tick. If only
 * one core still works, it waits for a dead core, so its pauses advance world time by many ticks. A core's TSC is
 * world time plus the core's offset and drift.
 */
#ifndef BARETICK_THREADS_H
#define BARETICK_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/smp.h"

#define THREADS_MAX      1024
#define THREADS_WORLD_0  (UINT64_C(1) << 40) /* world time at the start; drifts are counted from this time */

/* Settings of a core. They may be changed while the core has no job. */
struct threads_core {
	int64_t offset_ticks;  /* offset of the core's TSC from world time */
	int64_t drift_ppb;     /* rate error of the core's TSC against world time */
	uint64_t late_ticks;   /* additional world time that each TSC reading of the core takes */
	uint64_t steps_at;     /* world time at which the core's TSC steps, or 0 */
	int64_t step_ticks;    /* size of the step at steps_at, in ticks */
	uint64_t stops_at;     /* world time at which the core's TSC stops for good, or 0 */
	/* the core (not the boot core) dies at the TSC reading with this number; 0 for never */
	uint64_t dies_reading;
};

extern struct threads_core threads_cores[THREADS_MAX];

/* Starts COUNT cores, and clears the settings above. threads_smp controls these cores until threads_stop(). */
void threads_start(size_t count);
/*
 * Does the same as threads_start(), but all cores run on one host thread, each until its next pause. All runs are
 * identical. On a busy host this mode is faster, because no core waits until the host runs another core's thread.
 */
void threads_start_in_turns(size_t count);
void threads_stop(void);
extern struct smp threads_smp;

/* Lets the other cores run. Only after threads_start_in_turns(). */
void threads_yield(void);
/*
 * Lets the other cores run until world time UNTIL, or until *IS_WOKEN. A sleeping core gets no turns, so its sleep
 * takes few steps of the simulation. IS_WOKEN may be NULL. Only after threads_start_in_turns().
 */
void threads_sleep(uint64_t until, const bool *is_woken);

/* Functions for the code that runs on a simulated core. */
uint64_t threads_read_tsc(void);
void threads_pause(void);
size_t threads_get_core(void);
void threads_stop_core(void); /* the calling core (not the boot core) dies; does not return */

uint64_t threads_count_tsc_reads(size_t core);      /* number of TSC readings of CORE since the cores were started */
uint64_t threads_get_time_ticks(void);
void threads_advance_ticks(uint64_t ticks);        /* advances world time while no core works */
/* number of batches (calls of threads_smp.run, run_some and run_all) */
uint64_t threads_count_batches(void);
/* largest number of cores in one batch (a call of threads_smp.run, run_some or run_all) */
size_t threads_get_largest_batch(void);

#endif
