/* Simulated exceptions on the boot core, and a guard that catches them, as boot/guard and boot/interrupts do. */
#ifndef BARETICK_SIM_GUARD_H
#define BARETICK_SIM_GUARD_H

#include "bench.h"

/* Ends the innermost sim_guard() with a page fault. There must be one. */
void sim_take_fault(void);

/* Runs WORK(ARGUMENT). Returns false, and sets FAULT, if sim_take_fault() ended it. */
bool sim_guard(void (*work)(void *argument), void *argument, struct fault *fault);

/* Lets the survey of BENCH and its timer windows catch simulated exceptions. */
void sim_guard_timers(struct bench *bench);

#endif
