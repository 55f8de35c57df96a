/*
 * Jobs for started cores: the boot core posts one into a core's slot and wakes the core by an
 * interrupt; the core runs it and says so in the slot. Whoever does not finish in time, or takes an
 * exception, is stopped.
 */
#ifndef BARETICK_DISPATCH_H
#define BARETICK_DISPATCH_H

#include "startup.h"

/*
 * On the boot core; both as struct crew promises them. Number 0, the boot core, runs its job by
 * itself.
 */
bool dispatch_run(const struct startup *startup, size_t core, crew_job *job, void *argument,
		  uint64_t bound_ns);
size_t dispatch_run_all(const struct startup *startup, crew_job *job, void *argument,
			uint64_t bound_ns);

/* On the started core, interrupts masked: checks in. */
void dispatch_check_in(struct core_slot *slot);

/* On the started core, interrupts masked: runs the job that waits, if one does. False: none did. */
bool dispatch_work(struct core_slot *slot);

#endif
