/* Starts the machine's cores by INIT-SIPI-SIPI, and provides them as a struct smp. See cores.h. */
#include "cores/cores.h"

#include "base/scale.h"
#include "base/text.h"
#include "cores/cores_memory.h"
#include "cores/cores_setup.h"
#include "cores/job.h"
#include "hw/cpu.h"
#include "smp/dispatch.h"

static bool
cores_is_core_alive(void *context, size_t core)
{
	const struct cores *cores = context;

	return core == 0 ||
	       (core < cores->startup.count && cores->startup.slots[core].state == CORE_ALIVE);
}

/* Copies the state of CORE's slot into its record. Called after each change of slot->state. */
static void
cores_copy_slot_state_to_record(struct cores *cores, size_t core)
{
	const struct core_slot *slot = &cores->startup.slots[core];
	struct core_record *record = &cores->records[core];

	record->started = slot->arrived != 0 && slot->state != CORE_SILENT;
	record->timed_out = slot->state == CORE_SILENT || slot->state == CORE_LATE;
	struct text text = text_start(record->reason, sizeof(record->reason));
	text_put(&text, startup_explanations[slot->state]);
	if (slot->state != CORE_EXCEPTION)
		return;
	struct fault fault = guard_describe_fault(slot->fault & ~CORE_FAULTED, slot->fault_at, slot->fault_error,
						  slot->fault_address);

	text_put(&text, ": ");
	fault_print(&text, &fault);
}

static size_t
cores_run_on_cores(void *context, const uint32_t *list, size_t count, smp_job *work, void *argument,
		   uint64_t bound_ns)
{
	struct cores *cores = context;
	const struct startup *startup = &cores->startup;
	struct job job = { .work = work, .argument = argument };
	size_t finished = dispatch_run_on_cores(startup, list, count, job_run, &job, bound_ns);

	for (size_t i = 0; i < count; i++) {
		size_t core = dispatch_get_core(list, i);

		if (core > 0 && core < startup->count && startup->slots[core].state != CORE_ALIVE)
			cores_copy_slot_state_to_record(cores, core);
	}
	job_finish(&job);
	return finished;
}

static bool
cores_run_on_core(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t number = (uint32_t)core;

	return cores_run_on_cores(context, &number, 1, job, argument, bound_ns) == 1;
}

static size_t
cores_run_on_all_cores(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	const struct cores *cores = context;

	return cores_run_on_cores(context, NULL, cores->startup.count, job, argument, bound_ns);
}

void
cores_use_boot_core_only(struct cores *cores, uint32_t own_apic_id, struct smp *smp)
{
	*cores = (struct cores){
		.count = 1,
		.records = &cores->boot_record,
		.boot_record = { .apic_id = own_apic_id, .started = true },
		.startup = { .count = 1 },
	};
	*smp = (struct smp){
		.context = cores,
		.count = 1,
		.alive = cores_is_core_alive,
		.run = cores_run_on_core,
		.run_all = cores_run_on_all_cores,
		.run_some = cores_run_on_cores,
	};
}

/*
 * Fills records and slots from MADT. The boot core gets number 0, even if MADT lists it later. The other cores are
 * numbered in MADT's order.
 */
static void
cores_assign_core_numbers(struct cores *cores, const struct acpi_madt *madt, uint32_t own_apic_id, size_t wanted,
			  uint32_t *ids)
{
	size_t core = 1;

	cores->records[0] = (struct core_record){ .apic_id = own_apic_id, .started = true };
	cores->startup.slots[0].apic_id = own_apic_id;
	ids[0] = own_apic_id;
	for (size_t i = 0; i < madt->core_count && core < cores->count; i++) {
		uint32_t apic_id = madt->apic_ids[i];

		if (apic_id == own_apic_id)
			continue;
		cores->records[core].apic_id = apic_id;
		if (core < cores->startup.count) {
			cores->startup.slots[core].apic_id = apic_id;
			cores->startup.slots[core].state = CORE_REQUESTED;
			ids[core] = apic_id;
		} else {
			text_copy(cores->records[core].reason, CLOCK_REASON_SIZE,
				  core < wanted ? "left out: no memory for this core" :
						  startup_explanations[CORE_NOT_REQUESTED]);
		}
		core++;
	}
}

size_t
cores_count_listed_in_madt(const struct acpi_madt *madt, uint32_t own_apic_id)
{
	size_t listed = 1;

	for (size_t i = 0; i < madt->core_count; i++)
		listed += madt->apic_ids[i] != own_apic_id;
	return listed;
}

/*
 * Allocates memory for as many cores as possible: tries half the number after each failure. Returns false if the memory
 * is not even enough for the boot core and one other core.
 */
static bool
cores_allocate_memory(struct cores *cores, size_t listed, size_t wanted, uint32_t **ids)
{
	size_t working = wanted;
	struct text text = text_start(cores->reason, sizeof(cores->reason));

	while (!cores_memory_allocate(cores, listed, working, ids)) {
		working /= 2;
		if (working < 2) {
			text_put(&text, "There is too little memory to start cores, or none below 1 MiB.");
			return false;
		}
	}
	if (working < wanted)
		text_printf(&text, "There was memory for %zu of %zu cores only.", working, wanted);
	return true;
}

/*
 * Replaces cores->reason by a sentence about started cores whose LAPIC id the MADT does not list. These cores halt with
 * interrupts masked.
 */
static void
report_core_missing_in_madt(struct cores *cores)
{
	struct text text;

	if (!__atomic_load_n(&cores->setup->unlisted, __ATOMIC_ACQUIRE))
		return;
	text_init(&text, cores->reason, sizeof(cores->reason)); /* overwrites cores_allocate_memory()'s sentence */
	startup_print_unlisted_apic_id(&text, &cores->unlisted_id);
}

size_t
cores_find_by_broadcast(uint32_t *ids, size_t space)
{
	struct cores cores = { .count = 1 };
	uint32_t *own_ids;

	if (lapic_open(&cores.startup.lapic) || !cores_memory_allocate(&cores, 1, 1, &own_ids))
		return 0;
	startup_clear_apic_ids(ids, space);
	cores.setup->unlisted_ids = ids;
	cores.setup->unlisted_space = (uint32_t)space;
	scale_init(&cores.startup.scale, startup_get_tsc_rate_or_default((struct rate){ 0, 0 }));
	startup_start_by_broadcast(&cores.startup, &cores.setup->unlisted, cpu_count_threads() - 1);

	size_t arrived = __atomic_load_n(&cores.setup->unlisted, __ATOMIC_ACQUIRE);

	return startup_compact_apic_ids(ids, arrived < space ? arrived : space);
}

bool
cores_start(struct cores *cores, const struct acpi_madt *madt, uint32_t own_apic_id,
	    struct cores_limits limits, struct rate tsc, struct smp *smp)
{
	size_t in_table = cores_count_listed_in_madt(madt, own_apic_id);
	size_t listed = in_table < limits.listed ? in_table : limits.listed;
	size_t wanted = listed < limits.started ? listed : limits.started;
	uint32_t *ids;

	cores_use_boot_core_only(cores, own_apic_id, smp);
	if (wanted < 2)
		return false;
	if (!acpi_madt_lists_core(madt, own_apic_id)) {
		text_format(cores->reason, sizeof(cores->reason),
			    "The MADT does not list the boot core's APIC id %u, so a core in its list may be "
			    "the boot core: no core was sent INIT.", own_apic_id);
		return false;
	}
	const char *refusal = lapic_open(&cores->startup.lapic);
	if (refusal) {
		text_format(cores->reason, sizeof(cores->reason), "No core was started: %s.", refusal);
		return false;
	}
	if (!cores_allocate_memory(cores, listed, wanted, &ids))
		return false;
	cores->count = listed;
	smp->count = listed;
	cores_assign_core_numbers(cores, madt, own_apic_id, wanted, ids);
	scale_init(&cores->startup.scale, startup_get_tsc_rate_or_default(tsc));
	cores->startup.checks_per_pause = limits.checks_per_pause;
	for (size_t i = 1; i < cores->startup.count; i++)
		cores->startup.slots[i].awake_ticks = scale_ns_to_ticks(&cores->startup.scale, limits.awake_ns);

	startup_clear_apic_ids(&cores->unlisted_id, 1);
	cores->setup->unlisted_ids = &cores->unlisted_id;
	cores->setup->unlisted_space = 1;

	size_t alive = startup_start_cores(&cores->startup);

	cores->firmware_lost_cores = true;
	report_core_missing_in_madt(cores);
	for (size_t i = 1; i < cores->startup.count; i++)
		cores_copy_slot_state_to_record(cores, i);
	return alive > 0;
}

void
cores_stop(struct cores *cores)
{
	dispatch_halt_all_cores(&cores->startup);
}

/*
 * Halts until an interrupt occurs. Interrupts are enabled only during the halt. STI enables them after the next
 * instruction, HLT, so an interrupt between the two instructions still wakes the core.
 */
static void
sleep_until_interrupt(void)
{
	__asm__ volatile("sti; hlt; cli" : : : "memory");
}

/*
 * Halts until the machine's reset. An SMI or NMI wakes the core, which then executes this loop again. The memory of its
 * code and stack is therefore never freed.
 */
static __attribute__((noreturn)) void
halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" : : : "memory");
}

void
core_main(struct core_slot *slot)
{
	lapic_enable(slot->lapic);
	dispatch_mark_core_running(slot);
	for (;;) {
		switch (dispatch_run_pending_job(slot)) {
		case DISPATCH_IDLE:
			sleep_until_interrupt();
			break;
		case DISPATCH_WORKED:
			dispatch_poll_for_job(slot);
			break;
		case DISPATCH_HALT:
			halt_forever();
		}
	}
}
