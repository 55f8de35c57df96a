/* The cores of the machine for hardware-independent code: numbered, and each able to run a job. */
#ifndef BARETICK_SMP_H
#define BARETICK_SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job runs on core number CORE with interrupts masked, and uses no service of the firmware. */
typedef void smp_job(void *argument, size_t core);

struct smp {
	void *context;
	size_t count; /* cores listed, at least 1; number 0 is the boot core */
	/* Returns true if CORE started and has completed every job in time so far. */
	bool (*alive)(void *context, size_t core);
	/*
	 * Runs JOB on CORE alone while the others halt, and waits at most BOUND_NS for its end. Returns false
	 * if it did not return. Then the core is stopped, counts as dead, and no longer accesses ARGUMENT.
	 */
	bool (*run)(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Runs JOB on every live core at once, including the boot core, and waits at most BOUND_NS. Returns the
	 * number of cores that came back in time.
	 */
	size_t (*run_all)(void *context, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * The same on the COUNT cores of CORES while the others halt. The cores must be different, in any
	 * order, and may include the boot core. Dead cores are skipped.
	 */
	size_t (*run_some)(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
			   uint64_t bound_ns);
};

#endif
