/* The machine's cores for hardware-independent code. Cores are numbered, and each can run a job. */
#ifndef BARETICK_SMP_H
#define BARETICK_SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job runs on the core with number CORE with interrupts masked. It must not call the firmware. */
typedef void smp_job(void *argument, size_t core);

struct smp {
	void *context;
	size_t count; /* number of listed cores, at least 1; number 0 is the boot core */
	/* Returns true if CORE was started, and has finished every job in time. */
	bool (*alive)(void *context, size_t core);
	/*
	 * Runs JOB on CORE while the other cores halt, and waits at most BOUND_NS. Returns false if the job did not
	 * end. The core is then stopped for good, and no longer accesses ARGUMENT.
	 */
	bool (*run)(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Runs JOB on all living cores at the same time, including the boot core, and waits at most BOUND_NS. Returns the
	 * number of cores that finished in time.
	 */
	size_t (*run_all)(void *context, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Runs JOB at the same time on the COUNT cores listed in CORES, while the others halt. The cores must be different,
	 * and may include the boot core. Stopped cores are skipped.
	 */
	size_t (*run_some)(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
			   uint64_t bound_ns);
};

#endif
