/*
 * Exceptions in code of ours, taken instead of the firmware's dump. While guards are open the boot core's interrupt
 * table is a copy of the firmware's, in which some exceptions come here first: one in baretick's own code ends what is
 * guarded, one in the firmware's goes on to the firmware as if nothing had been between. Interrupts are the firmware's
 * as ever.
 */
#ifndef BARETICK_GUARD_H
#define BARETICK_GUARD_H

#include <stdbool.h>

#include "clock/fault.h"

/* Before all below. False: exceptions stay the firmware's, and what is guarded is just run. */
bool guard_open(void);
void guard_close(void);

/* A fault_guard for the boot core. Guards may be within each other: the innermost is ended. */
bool guard_run(void (*work)(void *argument), void *argument, struct fault *fault);

/* The same on a core that the firmware lends, which keeps its own tables before and after. */
bool guard_run_on_core(void (*work)(void *argument), void *argument, struct fault *fault);

/* On the boot core, within a guard: ends it as if FAULT had been taken here. */
void guard_raise(const struct fault *fault) __attribute__((noreturn));

/* What was taken at the address AT. */
struct fault guard_fault(uint32_t vector, uint64_t at, uint64_t error, uint64_t address);

#endif
