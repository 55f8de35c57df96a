/*
 * A job's part on the boot core. An exception there ends that part alone: the others work on with what they share, so
 * what is guarded further out is ended only once they are back.
 */
#ifndef BARETICK_JOB_H
#define BARETICK_JOB_H

#include "clock/smp.h"
#include "guard/guard.h"

struct job {
	smp_job *work;
	void *argument;
	bool fell;          /* on the boot core: */
	struct fault fault;
};

/* For any core; CONTEXT is the struct job. */
void job_run(void *context, size_t core);

/* When all cores are back: goes on, or does not return where the boot core fell. */
static inline void
job_over(const struct job *job)
{
	if (job->fell)
		guard_raise(&job->fault);
}

#endif
