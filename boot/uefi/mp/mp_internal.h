/* Declarations for mp.c and mp_run.c. */
#ifndef BARETICK_MP_INTERNAL_H
#define BARETICK_MP_INTERNAL_H

#include "uefi/firmware/uefi.h"
#include "cores/job.h"
#include "uefi/mp/mp.h"
#include "uefi/mp/mp_services.h"
#include "base/scale.h"
#include "hw/wait.h"

#define MP_PATIENCE_NS (2 * WAIT_NS_PER_S) /* longest wait until the firmware notices a job's end */

struct mp_core {
	struct mp *mp;
	size_t core;     /* the core's number in struct smp */
	bool usable;
	size_t number;   /* the core's number in the firmware, for startup_this */
	/* True from the start of a job until the firmware has noticed the job's end and signals EVENT. */
	bool busy;
	EFI_EVENT event;
	uint32_t posted; /* number of the latest job; written by the boot core */
	uint32_t done;   /* number of the latest finished job; written by the core */
	uint32_t faulted; /* written by the core if an exception ended its job */
	struct fault fault; /* description of that exception */
};

struct mp {
	struct mp_services *services;
	EFI_EVENT event; /* event for startup_all */
	struct scale scale;
	struct job job;
	struct cores *cores;
	size_t usable;
	bool alone; /* true if the firmware runs jobs on other cores only while the boot core waits */
	bool held;  /* true if a job did not end; mp_stop_cores() then frees no memory, because the job may use it */
	struct mp_core core[]; /* in the order of cores->records */
};

/* Marks the core as lost for REASON. TIMED_OUT is true if REASON is a time-out, which does not prove a fault. */
void mp_mark_lost(struct mp_core *core, const char *reason, bool timed_out);

/* Returns the number of the core with this APIC id, or the number of cores if there is none. */
size_t mp_find_core(const struct cores *cores, uint32_t apic_id);

/* Waits until the firmware has noticed the end of the core's last job. Returns true if the core can get a job. */
bool mp_await_core_release(struct mp_core *core);

/* Functions of struct smp. */
bool mp_is_core_alive(void *context, size_t core);
bool mp_run_on_core(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
size_t mp_run_on_all_cores(void *context, smp_job *job, void *argument, uint64_t bound_ns);
size_t mp_run_on_cores(void *context, const uint32_t *list, size_t count, smp_job *job, void *argument,
		       uint64_t bound_ns);

#endif
