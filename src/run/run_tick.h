/*
 * The firmware's timer tick. If a measured clock produces it, the tick stops that clock for short times. For src/run
 * only.
 */
#ifndef BARETICK_RUN_TICK_H
#define BARETICK_RUN_TICK_H

#include "run/run.h"

/* Finds out whether one of the run's clocks, which must be open, produces the tick. */
void run_find_tick(struct run *run);

/* Returns true if the firmware works in PHASE, because it may need its tick then. */
bool run_needs_tick(const struct run *run, const struct run_phase *phase);

#endif
