/* Reads the pages of KVM's and Xen's clocks. See pvclock.h. */
#include "clocks/pvclock.h"

#include "clocks/probe.h"

static struct pvclock_slot *
get_page_slot(const struct device *device, size_t i)
{
	return (struct pvclock_slot *)(uintptr_t)(device->address + i * PAGES_SIZE);
}

bool
pvclock_assign_pages(const struct platform *platform, struct device *device, struct clock *clock, bool use_upper_half)
{
	if (platform->cpu.memory_encrypted)
		return probe_set_state(clock, CLOCK_DISABLED, "The guest's memory is encrypted: the hypervisor can't write "
				       "the clock's pages.");
	/* too few for a page of one core and for the last page, which hv_page.c uses */
	if (platform->pages.count < 2)
		return probe_set_state(clock, CLOCK_DISABLED, "The firmware has no memory below 4 GiB for the clock's pages.");
	device->address = (uintptr_t)platform->pages.memory + (use_upper_half ? PVCLOCK_SLOT_SIZE : 0);
	device->saved[PVCLOCK_PAGES] = platform->pages.count - 1;
	return true;
}

struct pvclock_slot *
pvclock_find_slot_of_this_core(const struct device *device)
{
	uint32_t owner = cpu_read_apic_id() + 1;
	size_t count = device->saved[PVCLOCK_PAGES];

	for (size_t i = 0; i < count; i++) {
		struct pvclock_slot *slot = get_page_slot(device, (owner - 1 + i) % count);
		uint32_t nobody = 0;

		if (__atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE) == owner ||
		    __atomic_compare_exchange_n(&slot->owner, &nobody, owner, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    nobody == owner)
			return slot;
	}
	return NULL;
}

uint64_t
pvclock_read(void *context)
{
	struct pvclock_slot *slot = context;
	struct pvclock taken;
	uint64_t tsc;

	if (!slot)
		return 0;
	if (pvclock_copy(&slot->clock, hw_tsc_lfence, &taken, &tsc))
		slot->last_ns = pvclock_calculate_ns(&taken, tsc);
	else
		slot->torn++;
	return slot->last_ns;
}

bool
pvclock_copy_page(const struct clock *clock, struct pvclock *taken)
{
	const struct device *device = clock->device;
	struct pvclock_slot *slot = device->opened ? clock->paravirtual.get_core_device(clock->device) : NULL;
	uint64_t tsc;

	return slot && pvclock_copy(&slot->clock, hw_tsc_lfence, taken, &tsc);
}

uint64_t
pvclock_get_multiplier_at_open(const struct device *device)
{
	return device->saved[PVCLOCK_MULTIPLIER];
}

uint64_t
pvclock_count_cores_without_page(const struct device *device)
{
	return __atomic_load_n(&device->saved[PVCLOCK_REFUSALS], __ATOMIC_ACQUIRE);
}

uint64_t
pvclock_get_assumed_multiplier(void *context)
{
	const struct device *device = context;
	struct pvclock_slot *slot = pvclock_find_slot_of_this_core(device);
	struct pvclock taken;
	uint64_t tsc, multiplier;

	if (!slot || !pvclock_copy(&slot->clock, hw_tsc_lfence, &taken, &tsc))
		return 0;
	multiplier = pvclock_get_multiplier(&taken);
	return multiplier == pvclock_get_multiplier_at_open(device) ? multiplier : 0;
}

enum paravirtual_stable
pvclock_get_stability(void *context)
{
	const struct device *device = context;
	bool stable = device->saved[PVCLOCK_STABLE_KNOWN], unknown = pvclock_count_cores_without_page(device) != 0;

	for (size_t i = 0; i < device->saved[PVCLOCK_PAGES]; i++) {
		const struct pvclock_slot *slot = get_page_slot(device, i);

		stable &= !slot->on || ((const volatile struct pvclock *)&slot->clock)->flags & PVCLOCK_TSC_STABLE;
		unknown |= slot->torn != 0;
	}
	return !stable ? STABLE_NO : unknown ? STABLE_UNKNOWN : STABLE_YES;
}

bool
pvclock_test_page(struct pvclock_slot *slot, struct clock *clock, const char *page_owner)
{
	struct pvclock taken;
	uint64_t tsc;

	if (!pvclock_copy(&slot->clock, hw_tsc_lfence, &taken, &tsc))
		return probe_set_state(clock, CLOCK_BROKEN, "The page is always being updated: version %u stays odd in %u reads.",
				       taken.version, PAGES_TRIES);
	if (!pvclock_get_multiplier(&taken))
		return probe_set_state(clock, CLOCK_BROKEN, "%s left its page without a rate: multiplier %u, shift %d.",
				       page_owner, taken.tsc_to_system_mul, taken.tsc_shift);
	if (!probe_counter_moves(pvclock_read, (void *)slot))
		return probe_set_state(clock, CLOCK_STUCK, "The page and the TSC give the same time in every read.");
	((struct device *)clock->device)->saved[PVCLOCK_MULTIPLIER] = pvclock_get_multiplier(&taken);
	return true;
}

void
pvclock_append_stability_note(struct clock *clock)
{
	probe_append_note(clock, pvclock_get_stability(clock->device) == STABLE_YES ?
			  "The hypervisor sets TSC_STABLE: readings on different cores may be compared." :
			  "The hypervisor does not set TSC_STABLE: readings on different cores must not be compared.");
}
