/* What mp.c and mp_run.c share. */
#ifndef BARETICK_MP_INTERNAL_H
#define BARETICK_MP_INTERNAL_H

#include "uefi/firmware/uefi.h"
#include "cores/job.h"
#include "uefi/mp/mp.h"
#include "uefi/mp/mp_services.h"
#include "base/scale.h"
#include "hw/wait.h"

#define MP_PATIENCE_NS (2 * WAIT_NS_PER_S) /* for the firmware to notice a job's end */

struct mp_core {
	struct mp *mp;
	size_t core;     /* its number in struct smp */
	bool usable;
	size_t number;   /* the firmware's, for startup_this */
	/* While busy the firmware has not noticed yet that its last job is over: then it signals event. */
	bool busy;
	EFI_EVENT event;
	uint32_t posted; /* the boot core's */
	uint32_t done;   /* the core's */
	uint32_t fell;   /* the core's: its job took an exception, */
	struct fault fault; /* this one */
};

struct mp {
	struct mp_services *services;
	EFI_EVENT event; /* for startup_all */
	struct scale scale;
	struct job job;
	struct cores *cores;
	size_t usable;
	bool alone; /* the firmware runs nothing beside the boot core */
	bool held;  /* the firmware did not let go of a job: what it knows of may not be freed */
	struct mp_core core[]; /* as cores->records */
};

/* The core is not alive from now on. */
void mp_lose(struct mp_core *core, const char *reason);

/* Whether the core can be given a job, if need be once the firmware has noticed its last one's end. */
bool mp_released(struct mp_core *core);

/* For struct smp. */
bool mp_alive(void *context, size_t core);
bool mp_run(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
size_t mp_run_all(void *context, smp_job *job, void *argument, uint64_t bound_ns);
size_t mp_run_some(void *context, const uint32_t *list, size_t count, smp_job *job, void *argument,
		   uint64_t bound_ns);

#endif
