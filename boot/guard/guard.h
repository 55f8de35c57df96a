/*
 * Handles exceptions in baretick's code, which otherwise cause the firmware's register dump. A guard is a call of a
 * function: an exception in baretick's code ends the call. From guard_install_handlers() to guard_restore_handlers(),
 * the boot core uses a copy of the firmware's interrupt table, in which some exceptions have our handlers. An exception
 * in the firmware's code is passed to the firmware unchanged. The firmware also handles interrupts as before.
 */
#ifndef BARETICK_GUARD_H
#define BARETICK_GUARD_H

#include <stdbool.h>

#include "clock/fault.h"

/*
 * Call this before all other functions. If it returns false, the firmware handles all exceptions, and guards have no
 * effect.
 */
bool guard_install_handlers(void);
void guard_restore_handlers(void);

/*
 * Calls WORK in a guard on the boot core. If an exception ends the call, stores its description in FAULT and returns
 * false. Guards may be nested: an exception ends the innermost guard. The type of this function is fault_guard.
 */
bool guard_run(void (*work)(void *argument), void *argument, struct fault *fault);

/*
 * Like guard_run(), but called on another core, which the firmware started. Restores this core's IDT and GS base
 * afterwards.
 */
bool guard_run_on_current_core(void (*work)(void *argument), void *argument, struct fault *fault);

/* Ends the innermost guard of the boot core as if FAULT had occurred here. */
void guard_end_with_fault(const struct fault *fault) __attribute__((noreturn));

/* Returns a struct fault for an exception whose instruction is at the address AT. */
struct fault guard_describe_fault(uint32_t vector, uint64_t at, uint64_t error, uint64_t address);

#endif
