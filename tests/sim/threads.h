/*
 * A struct smp of simulated cores on host threads. A core that has nothing to do sleeps; jobs of one batch really run
 * at the same time, as the host deals it out. World time is a count of ticks that each reading of a TSC and
 * each pause moves on by one, and each pause of a core that is the only one still at work by many: what it waits
 * for doesn't come. A core's TSC is world time, with its own offset and drift.
 */
#ifndef BARETICK_THREADS_H
#define BARETICK_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "clock/smp.h"

#define THREADS_MAX      1024
#define THREADS_WORLD_0  (UINT64_C(1) << 40) /* where world time begins; drifts count from there */

/* Settings of a core. They may be changed while it has no job. */
struct threads_core {
	int64_t offset_ticks;  /* its TSC's offset from world time */
	int64_t drift_ppb;     /* how much faster than world time it runs */
	uint64_t late_ticks;   /* world time of each reading of its TSC in addition to one tick */
	uint64_t steps_at;     /* world time at which its TSC steps, or 0 */
	int64_t step_ticks;    /* size of this step */
	uint64_t stops_at;     /* world time at which its TSC stops for good, or 0 */
	uint64_t dies_reading; /* it dies at this reading of its TSC since its start, or never if 0; not the boot core */
};

extern struct threads_core threads_cores[THREADS_MAX];

/* Starts COUNT cores; threads_smp is theirs until threads_stop(). The settings above are cleared. */
void threads_start(size_t count);
/*
 * The same, but all on one host thread: a core works up to its next pause, then the next one does. Each run is like
 * the other, and a busy host, on which each message between threads may cost a time slice, only makes it slower.
 */
void threads_start_in_turns(size_t count);
void threads_stop(void);
extern struct smp threads_smp;

/* In turns: the others go on first. */
void threads_yield(void);

/* Hooks of the core that calls. */
uint64_t threads_tsc(void);
void threads_pause(void);
size_t threads_self(void);

uint64_t threads_reads(size_t core);      /* so far */
uint64_t threads_world(void);
void threads_pass(uint64_t ticks);        /* advances world time while no core works */
uint64_t threads_batches(void);           /* number of calls of run, run_some and run_all so far */
size_t threads_most(void);                /* cores that any of them was for */

#endif
