/*
 * Jobs for started cores. The boot core posts a job into a core's slot and wakes the core by an interrupt. The core
 * runs the job and marks it in the slot as done. A core that does not finish in time, or whose job causes an exception,
 * is stopped.
 */
#ifndef BARETICK_DISPATCH_H
#define BARETICK_DISPATCH_H

#include "smp/startup.h"

/* Returns the number of core I of a batch: CORES[I], or I itself if CORES is NULL. */
static inline size_t
dispatch_get_core(const uint32_t *cores, size_t i)
{
	return cores ? cores[i] : i;
}

/*
 * Runs JOB on a batch of COUNT cores at once, as struct smp specifies. Called on the boot core, whose number is 0.
 * CORES are the cores' numbers; NULL means 0 to COUNT - 1. If the batch includes the boot core, the boot core runs JOB
 * after the other cores have started it. Otherwise the boot core only waits. The duration depends on COUNT, not on the
 * number of cores in the machine, as long as no core fails.
 */
size_t dispatch_run_on_cores(const struct startup *startup, const uint32_t *cores, size_t count,
			     smp_job *job, void *argument, uint64_t bound_ns);

/*
 * Called on a started core with interrupts masked. Marks in SLOT that the core has checked in; the boot core waits for
 * this.
 */
void dispatch_mark_core_running(struct core_slot *slot);

enum dispatch_turn { DISPATCH_IDLE, DISPATCH_WORKED, DISPATCH_HALT };

/*
 * Runs the pending job. Called on the started core with interrupts masked. Returns DISPATCH_IDLE if there is no job.
 * Returns DISPATCH_HALT if no more jobs will come; the caller then halts the core.
 */
enum dispatch_turn dispatch_run_pending_job(struct core_slot *slot);

/*
 * Called on a started core after a job. Waits for the next job for slot->awake_ticks. Polls instead of halting, so that
 * the core's frequency does not drop. Returns true if a job was posted.
 */
bool dispatch_poll_for_job(const struct core_slot *slot);

/*
 * Halts all living cores. Called on the boot core. A core that does not halt within 20 ms is stopped by INIT. The other
 * cores get no INIT, because a core in the INIT state accepts no SMI, and the firmware's SMI handler may wait for that
 * core.
 */
void dispatch_halt_all_cores(const struct startup *startup);

#endif
