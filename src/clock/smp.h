/* The cores of the machine as the pure part sees them: numbered, each able to run a job. */
#ifndef BARETICK_SMP_H
#define BARETICK_SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs on a core with interrupts masked; CORE is its number. Uses no service of the firmware. */
typedef void smp_job(void *argument, size_t core);

struct smp {
	void *context;
	size_t count; /* cores listed, at least 1; number 0 is the boot core */
	/* Whether CORE started and has answered every job in time so far. */
	bool (*alive)(void *context, size_t core);
	/*
	 * Runs JOB on CORE alone while the others halt, and waits for its end, at most BOUND_NS. False: it
	 * did not come back; it is stopped, is not alive from then on, and ARGUMENT is no longer touched.
	 */
	bool (*run)(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Runs JOB on every living core at once, the boot core among them, and waits likewise. Returns how many
	 * came back in time.
	 */
	size_t (*run_all)(void *context, smp_job *job, void *argument, uint64_t bound_ns);
	/*
	 * Likewise on the COUNT cores of CORES (different ones, in any order, the boot core perhaps among them) while
	 * the others halt. Those that are not alive are passed over.
	 */
	size_t (*run_some)(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
			   uint64_t bound_ns);
};

#endif
