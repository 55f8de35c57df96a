/*
 * The firmware's timer tick. It may come from a clock that is measured, and then stops that clock for short
 * times. For src/run only.
 */
#ifndef BARETICK_RUN_TICK_H
#define BARETICK_RUN_TICK_H

#include "run/run.h"

/* After the clocks are open: finds whether one of them produces the tick. The tick goes on. */
void run_find_tick(struct run *run);

/* Returns true if the firmware has work to do in PHASE. It may need its tick for that. */
bool run_needs_tick(const struct run *run, const struct run_phase *phase);

#endif
