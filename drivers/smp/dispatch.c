/*
 * Runs jobs on started cores. See dispatch.h. The comments of struct core_slot in startup.h state which core writes
 * which field.
 */
#include "smp/dispatch.h"

#include "hw/hw.h"
#include "hw/wait.h"

/*
 * After this time another interrupt is sent to each core that has not started its job. A lost interrupt then delays the
 * core by 5 ms. Without another interrupt, the core would not run the job at all. Cores that have started their job get
 * no interrupt, because it would disturb their measurements.
 */
#define WAKE_AGAIN_NS   (5 * WAIT_NS_PER_MS)
#define REST_NS         (20 * WAIT_NS_PER_MS)
/* maximum time that the boot core waits for the other cores to start the job, before it starts the job itself */
#define OTHERS_BEGIN_NS (250 * WAIT_NS_PER_MS)

/* maximum number of looks at the TSC while a core waits for its next job, in case the TSC has stopped */
#define AWAKE_LOOKS_MAX (1u << 9)
/*
 * Number of times that a waiting core checks a slot between two looks at the TSC. It takes 7 us and more. In an
 * emulator, reading the TSC takes a lock, so a core that only polls its TSC slows the reads of all other cores.
 */
#define CHECKS_PER_LOOK 2000u
/*
 * number of checks between two looks while the core has not started its job, because a lost interrupt must be noticed
 */
#define CHECKS_BEFORE_START 64u

enum stage { STAGE_STARTED, STAGE_DONE };

struct batch {
	const struct startup *startup;
	const uint32_t *cores; /* numbers of the cores, as in dispatch_run_on_cores() */
	size_t count;
};

/* Returns the slot of core I of the batch (the cores that run a job), or NULL if this is the boot core or not alive. */
static struct core_slot *
get_batch_slot(const struct batch *batch, size_t i)
{
	size_t core = dispatch_get_core(batch->cores, i);
	struct core_slot *slots = batch->startup->slots;

	if (core == 0 || core >= batch->startup->count || slots[core].state != CORE_ALIVE)
		return NULL;
	return &slots[core];
}

static bool
has_slot_reached_stage(const struct core_slot *slot, enum stage stage)
{
	const uint32_t *sequence = stage == STAGE_STARTED ? &slot->started : &slot->done;

	return __atomic_load_n(sequence, __ATOMIC_ACQUIRE) == slot->posted;
}

static uint32_t
read_slot_fault(const struct core_slot *slot)
{
	return __atomic_load_n(&slot->fault, __ATOMIC_ACQUIRE);
}

/* Posts JOB into the slots of the batch. Returns true if the boot core is in the batch. */
static bool
batch_post_job(const struct batch *batch, smp_job *job, void *argument)
{
	bool here = false;

	for (size_t i = 0; i < batch->count; i++) {
		struct core_slot *slot = get_batch_slot(batch, i);

		here |= dispatch_get_core(batch->cores, i) == 0;
		if (!slot)
			continue;
		slot->job = job;
		slot->argument = argument;
		__atomic_store_n(&slot->posted, slot->posted + 1, __ATOMIC_RELEASE);
	}
	return here;
}

/* Sends an interrupt to each core, from index FIRST on, that has not started its job. */
static void
batch_wake_cores(const struct batch *batch, size_t first)
{
	for (size_t i = first; i < batch->count; i++) {
		const struct core_slot *slot = get_batch_slot(batch, i);

		if (slot && !has_slot_reached_stage(slot, STAGE_STARTED))
			lapic_send_interrupt(&batch->startup->lapic, slot->apic_id, LAPIC_WAKE_VECTOR);
	}
}

/*
 * Returns the lowest index, from FIRST on, of a core that has not reached STAGE. Returns the batch's count if there is
 * no such core.
 */
static size_t
batch_find_pending_core(const struct batch *batch, size_t first, enum stage stage)
{
	for (; first < batch->count; first++) {
		const struct core_slot *slot = get_batch_slot(batch, first);

		if (slot && !has_slot_reached_stage(slot, stage) && read_slot_fault(slot) == 0)
			break;
	}
	return first;
}

/*
 * Waits some time for core FIRST of the batch, but ends as soon as this core has reached STAGE or taken an exception.
 * Neither reads the TSC nor writes memory, so it does not disturb measurements on other cores. The slot's cache line
 * changes only when the core starts or ends a job. Returns the number of checks.
 */
static unsigned
batch_check_until_stage(const struct batch *batch, size_t first, enum stage stage)
{
	const struct core_slot *slot = get_batch_slot(batch, first);
	unsigned most, checks = 0, per_pause = batch->startup->checks_per_pause;

	if (!slot) /* never: a pending core has a slot, but the compiler cannot see this */
		return 0;
	most = has_slot_reached_stage(slot, STAGE_STARTED) ? CHECKS_PER_LOOK : CHECKS_BEFORE_START;
	for (; checks < most && !has_slot_reached_stage(slot, stage) && !read_slot_fault(slot); checks++)
		if (!per_pause || checks % per_pause == 0)
			hw_pause();
	return checks;
}

/*
 * Waits until all cores of the batch have reached STAGE, but at most for BOUND_NS. After each WAKE_AGAIN_NS,
 * sends the interrupt again to cores that have not started their job. Cores before the first pending core are not
 * checked again, because a core never leaves a stage.
 */
static void
batch_await_stage(const struct batch *batch, enum stage stage, uint64_t bound_ns)
{
	const struct scale *scale = &batch->startup->scale;
	struct wait wait = wait_begin(scale, bound_ns);
	struct wait again = wait_begin(scale, WAKE_AGAIN_NS);
	size_t first = 0;

	while ((first = batch_find_pending_core(batch, first, stage)) < batch->count && wait_has_time_left(&wait)) {
		wait_count_pauses(&wait, batch_check_until_stage(batch, first, stage));
		if (wait_has_time_left(&again))
			continue;
		batch_wake_cores(batch, first);
		again = wait_begin(scale, WAKE_AGAIN_NS);
	}
}

/* Stops the cores that did not finish their job. Returns the number of cores that finished. */
static size_t
batch_stop_unfinished_cores(const struct batch *batch)
{
	const struct startup *startup = batch->startup;
	size_t finished = 0;
	bool lost = false;

	for (size_t i = 0; i < batch->count; i++) {
		struct core_slot *slot = get_batch_slot(batch, i);

		if (!slot)
			continue;
		if (has_slot_reached_stage(slot, STAGE_DONE)) {
			finished++;
			continue;
		}
		slot->state = CORE_REQUESTED; /* marks the core for startup_stop_cores() below */
		lost = true;
	}
	if (!lost)
		return finished;
	startup_stop_cores(startup, 1, startup->count, CORE_REQUESTED, CORE_LATE);
	for (size_t i = 1; i < startup->count; i++)
		if (startup->slots[i].state == CORE_LATE && read_slot_fault(&startup->slots[i]) != 0)
			startup->slots[i].state = CORE_EXCEPTION;
	return finished;
}

static void
dispatch_run_on_boot_core(smp_job *job, void *argument)
{
	uint64_t interrupts = hw_interrupts_mask();

	job(argument, 0);
	hw_interrupts_restore(interrupts);
}

size_t
dispatch_run_on_cores(const struct startup *startup, const uint32_t *cores, size_t count,
		      smp_job *job, void *argument, uint64_t bound_ns)
{
	const struct batch batch = { startup, cores, count };
	bool here = batch_post_job(&batch, job, argument);

	batch_wake_cores(&batch, 0);
	if (here) {
		/*
		 * While the boot core runs its own job, it cannot send a lost interrupt again. It therefore first waits
		 * until the other cores have started.
		 */
		batch_await_stage(&batch, STAGE_STARTED, bound_ns < OTHERS_BEGIN_NS ? bound_ns : OTHERS_BEGIN_NS);
		dispatch_run_on_boot_core(job, argument);
	}
	batch_await_stage(&batch, STAGE_DONE, bound_ns);
	return here + batch_stop_unfinished_cores(&batch);
}

void
dispatch_mark_core_running(struct core_slot *slot)
{
	__atomic_store_n(&slot->arrived, 1, __ATOMIC_RELEASE);
}

enum dispatch_turn
dispatch_run_pending_job(struct core_slot *slot)
{
	uint32_t posted = __atomic_load_n(&slot->posted, __ATOMIC_ACQUIRE);
	smp_job *job = slot->job;

	if (posted == slot->done)
		return DISPATCH_IDLE;
	__atomic_store_n(&slot->started, posted, __ATOMIC_RELEASE);
	if (job)
		job(slot->argument, slot->number);
	__atomic_store_n(&slot->done, posted, __ATOMIC_RELEASE);
	return job ? DISPATCH_WORKED : DISPATCH_HALT;
}

bool
dispatch_poll_for_job(const struct core_slot *slot)
{
	uint64_t begin = hw_tsc();

	for (uint32_t looks = 0; looks < AWAKE_LOOKS_MAX && hw_tsc() - begin < slot->awake_ticks; looks++) {
		for (unsigned i = 0; i < CHECKS_PER_LOOK; i++) {
			if (__atomic_load_n(&slot->posted, __ATOMIC_ACQUIRE) != slot->done)
				return true;
			hw_pause();
		}
	}
	return false;
}

void
dispatch_halt_all_cores(const struct startup *startup)
{
	const struct batch batch = { startup, NULL, startup->count };

	batch_post_job(&batch, NULL, NULL);
	batch_wake_cores(&batch, 0);
	batch_await_stage(&batch, STAGE_DONE, REST_NS);
	for (size_t i = 1; i < startup->count; i++) {
		struct core_slot *slot = get_batch_slot(&batch, i);

		if (slot && has_slot_reached_stage(slot, STAGE_DONE))
			slot->state = CORE_STOPPED;
	}
	startup_stop_cores(startup, 1, startup->count, CORE_ALIVE, CORE_STOPPED);
}
