/*
 * A struct smp of simulated cores on host threads. A core without a job sleeps. The jobs of a batch run at the same
 * time, as the host schedules them. Each reading of a TSC and each pause advances world time by one tick. If only one
 * core still works, the core that it waits for has died, so each of its pauses advances world time by many ticks. A
 * core's TSC is world time with the offset and the drift of the core.
 */
#ifndef BARETICK_THREADS_H
#define BARETICK_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "clock/smp.h"

#define THREADS_MAX      1024
#define THREADS_WORLD_0  (UINT64_C(1) << 40) /* value of world time at the start; drifts count from here */

/* Settings of a core. They may be changed while it has no job. */
struct threads_core {
	int64_t offset_ticks;  /* offset of the core's TSC from world time */
	int64_t drift_ppb;     /* rate error of the core's TSC against world time */
	uint64_t late_ticks;   /* additional world time of each reading of the core's TSC */
	uint64_t steps_at;     /* world time at which the core's TSC steps, or 0 */
	int64_t step_ticks;    /* size of this step */
	uint64_t stops_at;     /* world time at which the core's TSC stops for good, or 0 */
	uint64_t dies_reading; /* number of the TSC reading at which the core dies, 0 if never; not for the boot core */
};

extern struct threads_core threads_cores[THREADS_MAX];

/* Starts COUNT cores, and clears the settings above. threads_smp controls these cores until threads_stop(). */
void threads_start(size_t count);
/*
 * Does the same as threads_start(), but all cores run on one host thread, each until its next pause. All runs are
 * identical. On a busy host each message between threads may take a time slice, but this version only becomes slower.
 */
void threads_start_in_turns(size_t count);
void threads_stop(void);
extern struct smp threads_smp;

/* Lets the other cores run first. Only works in turns. */
void threads_yield(void);

/* Hooks for the calling core. */
uint64_t threads_tsc(void);
void threads_pause(void);
size_t threads_self(void);

uint64_t threads_reads(size_t core);      /* number of TSC readings of CORE until now */
uint64_t threads_world(void);
void threads_pass(uint64_t ticks);        /* advances world time while no core works */
uint64_t threads_batches(void);           /* number of calls of run, run_some and run_all until now */
size_t threads_most(void);                /* largest number of cores of any such call */

#endif
