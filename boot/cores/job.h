/*
 * The boot core's share of a job that several cores run. An exception on the boot core ends only its share, because the
 * other cores still use the shared data. After all cores have finished, job_finish() raises the exception again for the
 * guard around the job.
 */
#ifndef BARETICK_JOB_H
#define BARETICK_JOB_H

#include "clock/smp.h"
#include "guard/guard.h"

struct job {
	smp_job *work;
	void *argument;
	bool faulted;       /* true if the boot core took an exception */
	struct fault fault; /* description of the exception */
};

/* Runs CORE's part of the job. Called on CORE, which may be the boot core. CONTEXT is the struct job. */
void job_run(void *context, size_t core);

/* Called when all cores have finished. Does not return if the boot core took an exception. */
static inline void
job_finish(const struct job *job)
{
	if (job->faulted)
		guard_end_with_fault(&job->fault);
}

#endif
