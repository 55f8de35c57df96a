/*
 * Jobs for started cores: the boot core posts one into a core's slot and wakes the core by an
 * interrupt; the core runs it and says so in the slot. A core that does not finish in time, or takes an
 * exception, is stopped.
 */
#ifndef BARETICK_DISPATCH_H
#define BARETICK_DISPATCH_H

#include "smp/startup.h"

/* The number of core I of a batch: that of CORES, or where CORES is NULL, I itself. */
static inline size_t
dispatch_core(const uint32_t *cores, size_t i)
{
	return cores ? cores[i] : i;
}

/*
 * On the boot core: runs JOB on a batch of COUNT cores at once, as struct smp promises it; CORES
 * is NULL for those numbered from 0 to COUNT - 1. Number 0, the boot core, runs its job by itself
 * once the others have begun; where it is not in the batch it only waits. Costs time in proportion
 * to COUNT, however many cores the machine has, as long as none is lost.
 */
size_t dispatch_run_some(const struct startup *startup, const uint32_t *cores, size_t count,
			 smp_job *job, void *argument, uint64_t bound_ns);

/* On the started core, interrupts masked: checks in. */
void dispatch_check_in(struct core_slot *slot);

enum dispatch_turn { DISPATCH_IDLE, DISPATCH_WORKED, DISPATCH_REST };

/*
 * On the started core, interrupts masked: runs the job that waits. DISPATCH_IDLE: none does; DISPATCH_REST: there
 * will be no more, and the core is to halt.
 */
enum dispatch_turn dispatch_work(struct core_slot *slot);

/*
 * On the started core, after a job: waits for the next one without halting, for slot->awake_ticks, so that its
 * frequency stays what it was. Whether one came.
 */
bool dispatch_stay_awake(const struct core_slot *slot);

/*
 * On the boot core: has each living core halt. INIT, which keeps SMIs out of a core and has the firmware's SMM wait for
 * it, goes only to those that do not within 20 ms.
 */
void dispatch_rest(const struct startup *startup);

#endif
