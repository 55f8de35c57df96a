/*
 * The firmware's timer tick while a clock is measured that it comes from, and that it stops for moments. For src/run
 * only.
 */
#ifndef BARETICK_RUN_TICK_H
#define BARETICK_RUN_TICK_H

#include "run/run.h"

/* The clocks are open: whether the tick comes from one of them. The tick goes on. */
void run_find_tick(struct run *run);

/* Whether the firmware has work to do in PHASE: for that it may need its tick. */
bool run_needs_tick(const struct run *run, const struct run_phase *phase);

#endif
