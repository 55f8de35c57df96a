/* Runs the boot core's share of a job. See job.h. */
#include "cores/job.h"

static void
call_job_work(void *context)
{
	const struct job *job = context;

	job->work(job->argument, 0);
}

void
job_run(void *context, size_t core)
{
	struct job *job = context;

	if (core == 0)
		job->faulted = !guard_run(call_job_work, job, &job->fault);
	else
		job->work(job->argument, core);
}
