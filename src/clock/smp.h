/*
 * Interface to the machine's cores, for code that does not depend on hardware. Cores are numbered, and each can run a
 * job.
 */
#ifndef BARETICK_SMP_H
#define BARETICK_SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job. It runs on core number CORE with interrupts masked, and must not call the firmware. */
typedef void smp_job(void *argument, size_t core);

struct smp {
	void *context;
	size_t count; /* number of cores, at least 1; core 0 is the boot core */
	/* Returns true if CORE was started, and has completed all its jobs in time. */
	bool (*alive)(void *context, size_t core);
	/*
	 * Runs JOB on CORE while the other cores halt, and waits up to BOUND_NS for its end. If the job does not end
	 * in time, returns false. The core is then stopped for good, and no longer accesses ARGUMENT.
	 */
	bool (*run)(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Runs JOB on all working cores at the same time, including the boot core, and waits up to BOUND_NS. Returns
	 * the number of cores that completed JOB in time.
	 */
	size_t (*run_all)(void *context, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Runs JOB at the same time on the COUNT cores in CORES, while all other cores halt. All numbers in CORES must
	 * be different; core 0, the boot core, is allowed. Stopped cores are ignored. Returns the number of cores that
	 * completed JOB in time.
	 */
	size_t (*run_some)(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
			   uint64_t bound_ns);
};

#endif
