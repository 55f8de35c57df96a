/* Runs jobs on the firmware's cores. See mp.h, and struct smp for the functions' contract. */
#include "uefi/mp/mp_internal.h"

#include "base/text.h"
#include "base/units.h"
#include "hw/cpu.h"
#include "hw/hw.h"
#include "smp/dispatch.h"

struct mp_batch {
	struct mp *mp;
	const uint32_t *list; /* numbers of the cores in the batch, as in dispatch_run_on_cores() */
	size_t count;
	bool has_boot_core;            /* true if the boot core is in the batch */
	size_t others;        /* number of usable cores in the batch, without the boot core */
};

static bool
mp_has_core_finished(const struct mp_core *core)
{
	return __atomic_load_n(&core->done, __ATOMIC_ACQUIRE) == core->posted;
}

static void
mp_call_job(void *context)
{
	struct mp_core *core = context;

	job_run(&core->mp->job, core->core);
}

size_t
mp_find_core(const struct cores *cores, uint32_t apic_id)
{
	size_t i = 0;

	while (i < cores->count && cores->records[i].apic_id != apic_id)
		i++;
	return i;
}

/* The firmware calls this on the core. Executes the job that was posted to the core. */
static VOID EFIAPI
mp_execute_job(VOID *context)
{
	struct mp_core *core = context;
	uint64_t interrupts = hw_interrupts_mask();
	bool back = guard_run_on_current_core(mp_call_job, core, &core->fault);

	hw_interrupts_restore(interrupts);
	if (back)
		__atomic_store_n(&core->done, core->posted, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&core->faulted, 1, __ATOMIC_RELEASE);
}

/*
 * The firmware calls this on all cores at once. Executes the job on cores of the batch, and returns at once on other
 * cores.
 */
static VOID EFIAPI
mp_execute_batch_job(VOID *context)
{
	struct mp *mp = context;
	size_t i = mp_find_core(mp->cores, cpu_read_apic_id());

	if (i && i < mp->cores->count && mp->core[i].usable && !mp_has_core_finished(&mp->core[i]))
		mp_execute_job(&mp->core[i]);
}

void
mp_mark_lost(struct mp_core *core, const char *reason, bool timed_out)
{
	struct core_record *record = &core->mp->cores->records[core->core];

	core->mp->usable -= core->usable;
	core->usable = false;
	struct text text = text_start(record->reason, CLOCK_REASON_SIZE);
	record->timed_out = timed_out && !__atomic_load_n(&core->faulted, __ATOMIC_ACQUIRE);
	if (!__atomic_load_n(&core->faulted, __ATOMIC_ACQUIRE)) {
		text_put(&text, reason);
		return;
	}
	text_printf(&text, "%s: ", startup_explanations[CORE_EXCEPTION]);
	fault_print(&text, &core->fault);
}

static void
mp_mark_busy_core_lost(struct mp_core *core)
{
	core->mp->held = true;
	mp_mark_lost(core, "the firmware's MP services did not end a job on this core", true);
}

static void
mp_mark_lost_by_status(struct mp_core *core, EFI_STATUS status)
{
	bool timed_out = status == EFI_SUCCESS || status == EFI_TIMEOUT;

	mp_mark_lost(core, timed_out ? "did not finish a job in time, so the firmware stopped the job" :
			   "the firmware's MP services refused to run a job on this core", timed_out);
}

bool
mp_is_core_alive(void *context, size_t core)
{
	const struct cores *cores = context;

	return core == 0 || (cores->mp && core < cores->count && cores->mp->core[core].usable);
}

/* Returns the firmware's time limit for BOUND_NS in us. It is at least 1, because 0 means no limit. */
static UINTN
mp_get_timeout_us(uint64_t bound_ns)
{
	return bound_ns / NS_PER_US + 1;
}

static void
mp_run_on_boot_core(const struct mp_batch *batch, struct job *job)
{
	if (!batch->has_boot_core)
		return;
	uint64_t interrupts = hw_interrupts_mask();

	job_run(job, 0);
	hw_interrupts_restore(interrupts);
}

/* Returns core I of the batch, or NULL for the boot core and for unusable cores. */
static struct mp_core *
mp_get_batch_core(const struct mp_batch *batch, size_t i)
{
	size_t core = dispatch_get_core(batch->list, i);
	struct mp *mp = batch->mp;

	return mp && core > 0 && core < mp->cores->count && mp->core[core].usable ?
		&mp->core[core] : NULL;
}

static struct mp_batch
mp_post_job(struct mp *mp, const uint32_t *list, size_t count, const struct job *job)
{
	struct mp_batch batch = { mp, list, count, false, 0 };

	if (mp)
		mp->job = *job;
	for (size_t i = 0; i < count; i++) {
		struct mp_core *core = mp_get_batch_core(&batch, i);

		batch.has_boot_core |= dispatch_get_core(list, i) == 0;
		if (!core)
			continue;
		core->posted++;
		batch.others++;
	}
	return batch;
}

/* Returns true if the firmware signals EVENT before WAIT ends. */
static bool
mp_await_signal(EFI_EVENT event, struct wait *wait)
{
	EFI_STATUS status;

	do
		status = firmware_boot->CheckEvent(event);
	while (status == EFI_NOT_READY && wait_has_time_left(wait));
	return status == EFI_SUCCESS;
}

bool
mp_await_core_release(struct mp_core *core)
{
	struct wait wait = wait_begin(&core->mp->scale, MP_PATIENCE_NS);

	if (core->busy)
		core->busy = !mp_await_signal(core->event, &wait);
	return !core->busy;
}

/*
 * Starts the batch's cores one by one. If the boot core is not in the batch, this function waits for the last core,
 * because EDK II otherwise needs up to 100 ms to notice a job's end. Returns false if the firmware runs jobs only while
 * the boot core waits. Firmware may have this limit after ReadyToBoot (PI 1.7, 13.4).
 */
static bool
mp_start_job_core_by_core(const struct mp_batch *batch, uint64_t bound_ns)
{
	struct mp_services *services = batch->mp->services;
	size_t left = batch->others;

	for (size_t i = 0; i < batch->count; i++) {
		struct mp_core *core = mp_get_batch_core(batch, i);

		if (!core)
			continue;
		bool blocks = --left == 0 && !batch->has_boot_core;

		if (!mp_await_core_release(core)) {
			mp_mark_busy_core_lost(core);
			continue;
		}
		EFI_STATUS status = services->startup_this(services, mp_execute_job, core->number,
							   blocks ? NULL : core->event,
							   mp_get_timeout_us(bound_ns), core, NULL);

		if (status == EFI_UNSUPPORTED && !blocks)
			return false;
		core->busy = status == EFI_SUCCESS && !blocks;
		if (!core->busy && !mp_has_core_finished(core))
			mp_mark_lost_by_status(core, status);
	}
	return true;
}

/* Starts all cores at once. If other cores can run only while the boot core waits, returns when they have finished. */
static void
mp_start_job_on_all_at_once(const struct mp_batch *batch, struct job *job, uint64_t bound_ns)
{
	struct mp *mp = batch->mp;
	struct mp_services *services = mp->services;
	struct wait wait = wait_begin(&mp->scale, bound_ns + MP_PATIENCE_NS);
	EFI_STATUS status = EFI_UNSUPPORTED;

	for (size_t i = 1; i < mp->cores->count; i++)
		if (mp->core[i].usable && !mp_await_core_release(&mp->core[i]))
			mp_mark_busy_core_lost(&mp->core[i]);
	if (!mp->alone)
		status = services->startup_all(services, mp_execute_batch_job, FALSE, mp->event,
					       mp_get_timeout_us(bound_ns), mp, NULL);
	mp->alone = status == EFI_UNSUPPORTED;
	if (mp->alone)
		status = services->startup_all(services, mp_execute_batch_job, FALSE, NULL,
					       mp_get_timeout_us(bound_ns), mp, NULL);
	mp_run_on_boot_core(batch, job);
	bool back = mp->alone || status != EFI_SUCCESS || mp_await_signal(mp->event, &wait);

	for (size_t i = 0; i < batch->count; i++) {
		struct mp_core *core = mp_get_batch_core(batch, i);

		if (core && !back)
			mp_mark_busy_core_lost(core);
		else if (core && !mp_has_core_finished(core))
			mp_mark_lost_by_status(core, status);
	}
}

/* Marks the cores that did not finish as lost. Returns the number of cores that finished. */
static size_t
mp_mark_unfinished_lost(const struct mp_batch *batch, uint64_t bound_ns)
{
	struct wait wait = wait_begin(&batch->mp->scale, bound_ns + MP_PATIENCE_NS);
	size_t finished = 0;

	for (size_t i = 0; i < batch->count; i++) {
		struct mp_core *core = mp_get_batch_core(batch, i);

		if (!core)
			continue;
		while (!mp_has_core_finished(core) && core->busy && wait_has_time_left(&wait))
			core->busy = firmware_boot->CheckEvent(core->event) == EFI_NOT_READY;
		if (mp_has_core_finished(core))
			finished++;
		else if (core->busy)
			mp_mark_busy_core_lost(core);
		else
			mp_mark_lost_by_status(core, EFI_TIMEOUT);
	}
	return finished;
}

size_t
mp_run_on_cores(void *context, const uint32_t *list, size_t count, smp_job *work, void *argument,
		uint64_t bound_ns)
{
	const struct cores *cores = context;
	struct mp *mp = cores->mp;
	struct job job = { .work = work, .argument = argument };
	struct mp_batch batch = mp_post_job(mp, list, count, &job);

	if (batch.others == 0) {
		mp_run_on_boot_core(&batch, &job);
		job_finish(&job);
		return batch.has_boot_core;
	}
	/*
	 * All cores are started by one call if possible. Starting them one by one takes 10 ms each, because EDK II
	 * sends INIT to each core.
	 */
	bool all = mp->alone || (batch.others > 1 && batch.others == mp->usable);

	if (!all && mp_start_job_core_by_core(&batch, bound_ns))
		mp_run_on_boot_core(&batch, &job);
	else
		mp_start_job_on_all_at_once(&batch, &job, bound_ns);
	size_t finished = batch.has_boot_core + mp_mark_unfinished_lost(&batch, bound_ns);

	job_finish(&job);
	return finished;
}

bool
mp_run_on_core(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t number = (uint32_t)core;

	return mp_run_on_cores(context, &number, 1, job, argument, bound_ns) == 1;
}

size_t
mp_run_on_all_cores(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	const struct cores *cores = context;

	return mp_run_on_cores(context, NULL, cores->count, job, argument, bound_ns);
}
