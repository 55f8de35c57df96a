/* The firmware's cores as a crew. See mp.h. */
#include "mp.h"

#include "cpu.h"
#include "firmware.h"
#include "hw.h"
#include "mp_services.h"
#include "text.h"
#include "wait.h"

#define NS_PER_US       1000u
#define PATIENCE_NS     (2 * WAIT_NS_PER_S) /* for the firmware to notice a job's end */

struct mp_core {
	bool usable;
	size_t number;   /* the firmware's, for startup_this */
	uint32_t posted; /* the boot core's */
	uint32_t done;   /* the core's */
};

struct mp {
	struct mp_services *services;
	EFI_EVENT event;
	struct scale scale;
	crew_job *job;
	void *argument;
	struct cores *cores;
	bool held; /* the firmware did not let go of a job: what it knows of may not be freed */
	struct mp_core core[]; /* as cores->records */
};

/* Runs on every core that the firmware has; those that we don't use go home at once. */
static VOID EFIAPI
mp_work(VOID *context)
{
	struct mp *mp = context;
	uint32_t apic_id = cpu_apic_id();

	for (size_t i = 1; i < mp->cores->count; i++) {
		struct mp_core *core = &mp->core[i];

		if (mp->cores->records[i].apic_id != apic_id)
			continue;
		if (!core->usable || core->posted == core->done)
			return;
		uint64_t interrupts = hw_interrupts_mask();

		mp->job(mp->argument, i);
		hw_interrupts_restore(interrupts);
		__atomic_store_n(&core->done, core->posted, __ATOMIC_RELEASE);
		return;
	}
}

static bool
mp_finished(const struct mp *mp, size_t core)
{
	return __atomic_load_n(&mp->core[core].done, __ATOMIC_ACQUIRE) == mp->core[core].posted;
}

static void
mp_lose(struct mp *mp, size_t core, const char *reason)
{
	struct text text;

	mp->core[core].usable = false;
	text_init(&text, mp->cores->records[core].reason, CLOCK_REASON_SIZE);
	text_put(&text, reason);
}

static bool
mp_alive(void *context, size_t core)
{
	const struct cores *cores = context;

	return core == 0 || (cores->mp && core < cores->count && cores->mp->core[core].usable);
}

/* At least 1: to the firmware 0 is for ever. */
static UINTN
mp_bound_us(uint64_t bound_ns)
{
	return bound_ns / NS_PER_US + 1;
}

static bool
mp_run_here(crew_job *job, void *argument)
{
	uint64_t interrupts = hw_interrupts_mask();

	job(argument, 0);
	hw_interrupts_restore(interrupts);
	return true;
}

static const char *
mp_loss(EFI_STATUS status)
{
	return status == EFI_SUCCESS || status == EFI_TIMEOUT ?
		"did not finish a job in time, and the firmware stopped it" :
		"the firmware's MP services refused to run a job on it";
}

static bool
mp_run(void *context, size_t core, crew_job *job, void *argument, uint64_t bound_ns)
{
	struct cores *cores = context;
	struct mp *mp = cores->mp;
	BOOLEAN finished = FALSE;

	if (core == 0)
		return mp_run_here(job, argument);
	if (!mp_alive(context, core))
		return false;
	mp->job = job;
	mp->argument = argument;
	mp->core[core].posted++;
	EFI_STATUS status = mp->services->startup_this(mp->services, mp_work, mp->core[core].number,
						       NULL, mp_bound_us(bound_ns), mp, &finished);

	if (mp_finished(mp, core))
		return true;
	mp_lose(mp, core, mp_loss(status));
	return false;
}

/* Whether the firmware has let go of the cores, within BOUND_NS. */
static bool
mp_await(struct mp *mp, uint64_t bound_ns)
{
	struct wait wait = wait_begin(&mp->scale, bound_ns);
	EFI_STATUS status;

	do
		status = firmware_boot->CheckEvent(mp->event);
	while (status == EFI_NOT_READY && wait_goes_on(&wait));
	return status == EFI_SUCCESS;
}

/*
 * All at once: with an event, so that the boot core can take part. Firmware may refuse events once
 * it has signalled ReadyToBoot (PI 1.7, 13.4): then the others run together, and the boot core
 * after them.
 */
static EFI_STATUS
mp_start_all(struct mp *mp, crew_job *job, void *argument, uint64_t bound_ns)
{
	UINTN bound_us = mp_bound_us(bound_ns);
	UINTN *failed = NULL;
	EFI_STATUS status = mp->services->startup_all(mp->services, mp_work, FALSE, mp->event,
						      bound_us, mp, &failed);
	bool together = status == EFI_SUCCESS;

	if (status == EFI_UNSUPPORTED)
		status = mp->services->startup_all(mp->services, mp_work, FALSE, NULL, bound_us, mp,
						   &failed);
	mp_run_here(job, argument);
	mp->held = mp->held || (together && !mp_await(mp, bound_ns + PATIENCE_NS));
	if (failed && !mp->held)
		firmware_boot->FreePool(failed);
	return status;
}

static size_t
mp_run_all(void *context, crew_job *job, void *argument, uint64_t bound_ns)
{
	struct cores *cores = context;
	struct mp *mp = cores->mp;
	size_t usable = 0, finished = 1;

	for (size_t i = 1; mp && i < cores->count; i++)
		usable += mp->core[i].usable;
	if (usable == 0)
		return mp_run_here(job, argument);
	mp->job = job;
	mp->argument = argument;
	for (size_t i = 1; i < cores->count; i++)
		mp->core[i].posted += mp->core[i].usable;
	EFI_STATUS status = mp_start_all(mp, job, argument, bound_ns);

	for (size_t i = 1; i < cores->count; i++) {
		if (!mp->core[i].usable)
			continue;
		if (mp_finished(mp, i))
			finished++;
		if (mp->held)
			mp_lose(mp, i, "the firmware's MP services did not end a job");
		else if (!mp_finished(mp, i))
			mp_lose(mp, i, mp_loss(status));
	}
	return finished;
}

static const char *
mp_refusal(UINT32 status, size_t used, uint32_t cores_max)
{
	if (!(status & MP_IS_ENABLED))
		return "the firmware's MP services have it disabled";
	if (!(status & MP_IS_HEALTHY))
		return "the firmware's MP services call it unhealthy";
	if (used >= cores_max)
		return startup_reason(CORE_LEFT_OUT);
	return NULL;
}

/*
 * Gives each of the firmware's COUNT processors its record; returns how many are used, the boot
 * core included.
 */
static size_t
mp_list(struct mp *mp, UINTN count, uint32_t own_apic_id, uint32_t cores_max)
{
	struct cores *cores = mp->cores;
	size_t used = 1;

	cores->count = 1;
	cores->records[0] = cores->boot_record;
	for (UINTN number = 0; number < count; number++) {
		struct mp_processor processor = { 0 };
		size_t i = cores->count;

		if (EFI_ERROR(mp->services->get_processor_info(mp->services, number, &processor)) ||
		    (processor.status & MP_IS_BOOT_CORE) || (uint32_t)processor.id == own_apic_id)
			continue;
		const char *refusal = mp_refusal(processor.status, used, cores_max);

		cores->records[i].apic_id = (uint32_t)processor.id;
		cores->count++;
		if (refusal) {
			mp_lose(mp, i, refusal);
			continue;
		}
		cores->records[i].started = true;
		mp->core[i].usable = true;
		mp->core[i].number = number;
		used++;
	}
	return used;
}

void
mp_stop(struct cores *cores)
{
	struct mp *mp = cores->mp;

	cores->mp = NULL;
	if (mp && mp->held)
		cores->taken = true; /* a core is still in our code: there is no way back */
	if (!mp || mp->held)
		return;
	firmware_boot->CloseEvent(mp->event);
	firmware_boot->FreePool(mp);
}

/* NULL, or why the firmware's cores can't be had. What was allocated for nothing is given back. */
static const char *
mp_open(struct cores *cores, uint32_t own_apic_id, uint32_t cores_max)
{
	static const EFI_GUID guid = MP_SERVICES_GUID;
	struct mp_services *services = firmware_protocol(NULL, &guid);
	UINTN count = 0, enabled = 0;

	if (!services)
		return "the firmware has no MP services";
	if (EFI_ERROR(services->get_number_of_processors(services, &count, &enabled)))
		return "the firmware's MP services did not answer";
	struct mp *mp = firmware_allocate(sizeof(*mp) + (count + 1) * sizeof(*mp->core));
	struct core_record *records = firmware_allocate((count + 1) * sizeof(*records));

	if (!mp || !records ||
	    EFI_ERROR(firmware_boot->CreateEvent(0, TPL_NOTIFY, NULL, NULL, &mp->event))) {
		if (mp)
			firmware_boot->FreePool(mp);
		if (records)
			firmware_boot->FreePool(records);
		return "the firmware has too little memory for them";
	}
	mp->services = services;
	mp->cores = cores;
	cores->mp = mp;
	cores->records = records;
	if (mp_list(mp, count, own_apic_id, cores_max) < 2 && cores->count > 1)
		return "the firmware's MP services have no other core to give";
	return NULL;
}

bool
mp_start(struct cores *cores, uint32_t own_apic_id, uint32_t cores_max, struct rate tsc,
	 struct crew *crew)
{
	cores_off(cores, own_apic_id, crew);
	const char *refusal = mp_open(cores, own_apic_id, cores_max);

	*crew = (struct crew){
		.context = cores,
		.count = cores->count,
		.alive = mp_alive,
		.run = mp_run,
		.run_all = mp_run_all,
	};
	if (cores->mp)
		scale_init(&cores->mp->scale, startup_tsc_rate(tsc));
	if (refusal) {
		struct text text;

		text_init(&text, cores->reason, sizeof(cores->reason));
		text_printf(&text, "The boot core alone was used: %s.", refusal);
	}
	return refusal == NULL && cores->count > 1;
}
