/* Provides the firmware's cores as a struct smp. See mp.h. The functions that run jobs are in mp_run.c. */
#include "uefi/mp/mp_internal.h"

#include "base/text.h"

static const char *
mp_explain_unused_core(UINT32 status, size_t used, size_t started_max)
{
	if (!(status & MP_IS_ENABLED))
		return "disabled in the firmware's MP services";
	if (!(status & MP_IS_HEALTHY))
		return "reported as unhealthy by the firmware's MP services";
	if (used >= started_max)
		return startup_explanations[CORE_NOT_REQUESTED];
	return NULL;
}

/* Adds PROCESSOR to the table of cores. Its number in the firmware is NUMBER. */
static void
mp_add_core(struct mp *mp, UINTN number, const struct mp_processor *processor, size_t started_max)
{
	struct cores *cores = mp->cores;
	struct mp_core *core = &mp->core[cores->count];
	const char *refusal = mp_explain_unused_core(processor->status, mp->usable + 1, started_max);

	*core = (struct mp_core){ .mp = mp, .core = cores->count, .number = number };
	cores->records[cores->count].apic_id = (uint32_t)processor->id;
	if (!refusal && EFI_ERROR(firmware_boot->CreateEvent(0, TPL_NOTIFY, NULL, NULL, &core->event)))
		refusal = "left out: no memory for this core";
	cores->records[cores->count++].started = refusal == NULL;
	core->usable = refusal == NULL;
	mp->usable += core->usable;
	if (refusal)
		mp_mark_lost(core, refusal, false);
}

/*
 * Fills a record for each of the firmware's COUNT processors, within LIMITS. A processor whose APIC id was listed
 * before is left out, because cores are found by their ids.
 */
static void
mp_list_cores(struct mp *mp, UINTN count, struct cores_limits limits)
{
	struct cores *cores = mp->cores;

	cores->count = 1;
	cores->records[0] = cores->boot_record;
	for (UINTN number = 0; number < count && cores->count < limits.listed; number++) {
		struct mp_processor processor = { 0 };

		if (!EFI_ERROR(mp->services->get_processor_info(mp->services, number, &processor)) &&
		    !(processor.status & MP_IS_BOOT_CORE) && mp_find_core(cores, (uint32_t)processor.id) == cores->count)
			mp_add_core(mp, number, &processor, limits.started);
	}
}

void
mp_stop_cores(struct cores *cores)
{
	struct mp *mp = cores->mp;

	cores->mp = NULL;
	if (!mp)
		return;
	for (size_t i = 1; i < cores->count; i++)
		if (!mp_await_core_release(&mp->core[i]))
			mp->held = true;
	if (mp->held) {
		cores->firmware_lost_cores = true; /* the run must not return to the firmware, because a core still runs our code */
		return;
	}
	for (size_t i = 1; i < cores->count; i++)
		if (mp->core[i].event)
			firmware_boot->CloseEvent(mp->core[i].event);
	firmware_boot->CloseEvent(mp->event);
	firmware_boot->FreePool(mp);
}

/*
 * Returns the firmware's MP services, and sets COUNT to the number of their processors. Without MP services it returns
 * NULL and sets COUNT to 1.
 */
static struct mp_services *
mp_find_services(size_t *count)
{
	static const EFI_GUID guid = MP_SERVICES_GUID;
	struct mp_services *services = firmware_find_protocol(NULL, &guid);
	UINTN enabled;

	if (!services || EFI_ERROR(services->get_number_of_processors(services, count, &enabled))) {
		*count = 1;
		return NULL;
	}
	return services;
}

size_t
mp_count_listed_cores(void)
{
	size_t count;

	mp_find_services(&count);
	return count;
}

/*
 * Prepares the firmware's cores. Returns NULL, or the reason why they are not available. After a failure no memory
 * stays allocated.
 */
static const char *
mp_prepare_cores(struct cores *cores, struct cores_limits limits, struct rate tsc)
{
	size_t count;
	struct mp_services *services = mp_find_services(&count);

	if (!services)
		return "the firmware has no MP services";
	struct mp *mp = firmware_allocate(sizeof(*mp) + (count + 1) * sizeof(*mp->core));
	struct core_record *records = firmware_allocate((count + 1) * sizeof(*records));

	if (!mp || !records ||
	    EFI_ERROR(firmware_boot->CreateEvent(0, TPL_NOTIFY, NULL, NULL, &mp->event))) {
		if (mp)
			firmware_boot->FreePool(mp);
		if (records)
			firmware_boot->FreePool(records);
		return "the firmware has too little memory for the other cores";
	}
	mp->services = services;
	mp->cores = cores;
	scale_init(&mp->scale, startup_get_tsc_rate_or_default(tsc));
	cores->mp = mp;
	cores->records = records;
	mp_list_cores(mp, count, limits);
	return mp->usable == 0 && cores->count > 1 ?
		"the firmware's MP services list no other core" : NULL;
}

static void
do_nothing(void *, size_t)
{
}

/* Returns true if a core can run a job while the boot core continues. Tests this with the first usable core. */
static bool
mp_can_cores_run_concurrently(struct cores *cores)
{
	uint32_t pair[] = { 0, 1 };

	while (pair[1] < cores->count && !mp_is_core_alive(cores, pair[1]))
		pair[1]++;
	mp_run_on_cores(cores, pair, 2, do_nothing, NULL, MP_PATIENCE_NS);
	return !cores->mp->alone;
}

bool
mp_start_cores(struct cores *cores, uint32_t own_apic_id, struct cores_limits limits, struct rate tsc,
	       struct smp *smp)
{
	cores_use_boot_core_only(cores, own_apic_id, smp);
	const char *refusal = mp_prepare_cores(cores, limits, tsc);

	*smp = (struct smp){
		.context = cores,
		.count = cores->count,
		.alive = mp_is_core_alive,
		.run = mp_run_on_core,
		.run_all = mp_run_on_all_cores,
		.run_some = mp_run_on_cores,
	};
	struct text text = text_start(cores->reason, sizeof(cores->reason));
	if (refusal)
		text_printf(&text, "The boot core alone was used: %s.", refusal);
	else if (cores->mp->usable > 0 && !mp_can_cores_run_concurrently(cores))
		text_put(&text, "The firmware's MP services cannot run a core at the same time as the boot core, "
			 "so no pair of cores exchanges ping-pongs.");
	return refusal == NULL && cores->count > 1;
}
