/*
 * The boot core's part of a job that several cores run. An exception ends only this part, because the other cores still
 * use the shared data. job_over() then raises the exception again for the outer guard, once all cores are back.
 */
#ifndef BARETICK_JOB_H
#define BARETICK_JOB_H

#include "clock/smp.h"
#include "guard/guard.h"

struct job {
	smp_job *work;
	void *argument;
	bool fell;          /* true if the boot core took an exception */
	struct fault fault; /* that exception */
};

/* Runs the job on any core. CONTEXT is the struct job. */
void job_run(void *context, size_t core);

/* Called when all cores are back. Does not return if the boot core took an exception. */
static inline void
job_over(const struct job *job)
{
	if (job->fell)
		guard_raise(&job->fault);
}

#endif
