/* Jobs for started cores. See dispatch.h, and the legend in startup.h of who writes what. */
#include "dispatch.h"

#include "hw.h"
#include "wait.h"

/*
 * An interrupt to a core that has not begun its job is repeated after so long: one that got lost
 * costs 5 ms, not the run. Cores that have begun are left in peace, since an interrupt would be in
 * their figures.
 */
#define WAKE_AGAIN_NS    (5 * WAIT_NS_PER_MS)
#define ALL_BEGIN_NS     (250 * WAIT_NS_PER_MS) /* patience with the others in run_all */

enum stage { STAGE_TAKEN, STAGE_DONE };

static bool
slot_reached(const struct core_slot *slot, enum stage stage)
{
	const uint32_t *sequence = stage == STAGE_TAKEN ? &slot->taken : &slot->done;

	return __atomic_load_n(sequence, __ATOMIC_ACQUIRE) == slot->posted;
}

static uint32_t
slot_fault(const struct core_slot *slot)
{
	return __atomic_load_n(&slot->fault, __ATOMIC_ACQUIRE);
}

static void
slot_post(struct core_slot *slot, crew_job *job, void *argument)
{
	slot->job = job;
	slot->argument = argument;
	__atomic_store_n(&slot->posted, slot->posted + 1, __ATOMIC_RELEASE);
}

/* Wakes the living from FIRST to before END that have not begun. */
static void
dispatch_wake(const struct startup *startup, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct core_slot *slot = &startup->slots[i];

		if (slot->standing == CORE_ALIVE && !slot_reached(slot, STAGE_TAKEN))
			lapic_send_fixed(&startup->lapic, slot->apic_id, LAPIC_WAKE_VECTOR);
	}
}

static bool
dispatch_pending(const struct startup *startup, size_t first, size_t end, enum stage stage)
{
	for (size_t i = first; i < end; i++) {
		const struct core_slot *slot = &startup->slots[i];

		if (slot->standing == CORE_ALIVE && !slot_reached(slot, stage) &&
		    slot_fault(slot) == 0)
			return true;
	}
	return false;
}

static void
dispatch_await(const struct startup *startup, size_t first, size_t end, enum stage stage,
	       uint64_t bound_ns)
{
	struct wait wait = wait_begin(&startup->scale, bound_ns);
	struct wait again = wait_begin(&startup->scale, WAKE_AGAIN_NS);

	while (dispatch_pending(startup, first, end, stage) && wait_goes_on(&wait)) {
		if (wait_goes_on(&again))
			continue;
		dispatch_wake(startup, first, end);
		again = wait_begin(&startup->scale, WAKE_AGAIN_NS);
	}
}

/* Parts with those that did not finish; returns how many did. */
static size_t
dispatch_settle(const struct startup *startup, size_t first, size_t end)
{
	size_t finished = 0;
	bool lost = false;

	for (size_t i = first; i < end; i++) {
		struct core_slot *slot = &startup->slots[i];

		if (slot->standing != CORE_ALIVE)
			continue;
		if (slot_reached(slot, STAGE_DONE)) {
			finished++;
			continue;
		}
		slot->standing = CORE_ASKED; /* to be told from those that were lost before */
		lost = true;
	}
	if (!lost)
		return finished;
	startup_stop(startup, first, end, CORE_ASKED, CORE_LATE);
	for (size_t i = first; i < end; i++)
		if (startup->slots[i].standing == CORE_LATE && slot_fault(&startup->slots[i]) != 0)
			startup->slots[i].standing = CORE_FELL;
	return finished;
}

static void
dispatch_run_here(crew_job *job, void *argument)
{
	uint64_t interrupts = hw_interrupts_mask();

	job(argument, 0);
	hw_interrupts_restore(interrupts);
}

bool
dispatch_run(const struct startup *startup, size_t core, crew_job *job, void *argument,
	     uint64_t bound_ns)
{
	if (core == 0) {
		dispatch_run_here(job, argument);
		return true;
	}
	if (core >= startup->count || startup->slots[core].standing != CORE_ALIVE)
		return false;
	slot_post(&startup->slots[core], job, argument);
	dispatch_wake(startup, core, core + 1);
	dispatch_await(startup, core, core + 1, STAGE_DONE, bound_ns);
	return dispatch_settle(startup, core, core + 1) == 1;
}

size_t
dispatch_run_all(const struct startup *startup, crew_job *job, void *argument, uint64_t bound_ns)
{
	uint64_t begin_ns = bound_ns < ALL_BEGIN_NS ? bound_ns : ALL_BEGIN_NS;

	for (size_t i = 1; i < startup->count; i++)
		if (startup->slots[i].standing == CORE_ALIVE)
			slot_post(&startup->slots[i], job, argument);
	dispatch_wake(startup, 1, startup->count);
	/*
	 * The boot core can't repeat a lost interrupt while it runs the job itself: so others begin
	 * first.
	 */
	dispatch_await(startup, 1, startup->count, STAGE_TAKEN, begin_ns);
	dispatch_run_here(job, argument);
	dispatch_await(startup, 1, startup->count, STAGE_DONE, bound_ns);
	return 1 + dispatch_settle(startup, 1, startup->count);
}

void
dispatch_check_in(struct core_slot *slot)
{
	__atomic_store_n(&slot->arrived, 1, __ATOMIC_RELEASE);
}

bool
dispatch_work(struct core_slot *slot)
{
	uint32_t posted = __atomic_load_n(&slot->posted, __ATOMIC_ACQUIRE);

	if (posted == slot->done)
		return false;
	__atomic_store_n(&slot->taken, posted, __ATOMIC_RELEASE);
	slot->job(slot->argument, slot->number);
	__atomic_store_n(&slot->done, posted, __ATOMIC_RELEASE);
	return true;
}
