/*
 * KVM's clock: a page for each core, which KVM keeps up to date while that core's MSR says where it is. A core's
 * page is asked for when it first takes samples; its MSR is put back before the core is stopped, for KVM goes on
 * writing.
 */
#include "leaves.h"
#include "paravirtual_clocks.h"
#include "probe.h"

#define MSR_ON 1u

/* device.saved: the MSR's number; how many pages; KVM says that the flag counts. */
enum { KVMCLOCK_MSR, KVMCLOCK_PAGES, KVMCLOCK_STABLE_KNOWN };

/* A page: the hypervisor's part, and behind it ours, which it leaves alone. */
struct slot {
	struct pvclock clock;
	uint8_t reserved[2048 - sizeof(struct pvclock)];
	uint32_t owner; /* APIC id of the core whose it is, and 1; 0: nobody's yet */
	bool on;
	uint64_t found; /* in its MSR */
	uint64_t last_ns, torn; /* its latest reading; reads in which the page was never whole */
	uint8_t rest[2048 - 32];
};
_Static_assert(sizeof(struct slot) == PAGES_SIZE, "a page each");

static struct slot *
kvmclock_slots(const struct device *device)
{
	return (struct slot *)(uintptr_t)device->address;
}

/* The page of the core that calls; NULL: there is none left. */
static struct slot *
kvmclock_own(const struct device *device)
{
	uint32_t owner = cpu_apic_id() + 1;
	size_t count = device->saved[KVMCLOCK_PAGES];

	for (size_t i = 0; i < count; i++) {
		struct slot *slot = &kvmclock_slots(device)[(owner - 1 + i) % count];
		uint32_t nobody = 0;

		if (__atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE) == owner ||
		    __atomic_compare_exchange_n(&slot->owner, &nobody, owner, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    nobody == owner)
			return slot;
	}
	return NULL;
}

static void *
kvmclock_here(void *context)
{
	const struct device *device = context;
	struct slot *slot = kvmclock_own(device);

	if (!slot || slot->on)
		return slot;
	slot->found = hw_msr_read((uint32_t)device->saved[KVMCLOCK_MSR]);
	hw_msr_write((uint32_t)device->saved[KVMCLOCK_MSR], (uint64_t)(uintptr_t)&slot->clock | MSR_ON);
	slot->on = true;
	return slot;
}

/* A page that is never whole stands still: then its core can't be compared with others. */
static uint64_t
kvmclock_read(void *context)
{
	struct slot *slot = context;
	struct pvclock taken;
	uint64_t tsc;

	if (!slot)
		return 0;
	if (pvclock_take(&slot->clock, hw_tsc_lfence, &taken, &tsc))
		slot->last_ns = pvclock_ns(&taken, tsc);
	else
		slot->torn++;
	return slot->last_ns;
}

static void
kvmclock_sample(void *device, struct sample *samples, size_t count)
{
	paravirtual_sample(device, samples, count, kvmclock_read, kvmclock_here(device));
}

bool
kvmclock_look(struct device *device, struct pvclock *taken)
{
	struct slot *slot = device->opened ? kvmclock_here(device) : NULL;
	uint64_t tsc;

	return slot && pvclock_take(&slot->clock, hw_tsc_lfence, taken, &tsc);
}

/* All pages that are in use say so, and KVM that what they say counts. Unknown where one was not whole in some read. */
static enum paravirtual_stable
kvmclock_stable(void *context)
{
	const struct device *device = context;
	bool stable = device->saved[KVMCLOCK_STABLE_KNOWN], torn = false;

	for (size_t i = 0; i < device->saved[KVMCLOCK_PAGES]; i++) {
		const struct slot *slot = &kvmclock_slots(device)[i];

		stable &= !slot->on || ((const volatile struct pvclock *)&slot->clock)->flags & PVCLOCK_TSC_STABLE;
		torn |= slot->torn != 0;
	}
	return !stable ? STABLE_NO : torn ? STABLE_UNKNOWN : STABLE_YES;
}

static bool
kvmclock_leave(struct device *device)
{
	struct slot *slot = device->opened ? kvmclock_own(device) : NULL;

	if (!slot || !slot->on)
		return true;
	slot->on = false;
	hw_msr_write((uint32_t)device->saved[KVMCLOCK_MSR], slot->found);
	return hw_msr_read((uint32_t)device->saved[KVMCLOCK_MSR]) == slot->found;
}

static void
kvmclock_close(struct device *device)
{
	(void)kvmclock_leave(device);
	device->opened = false;
}

static const struct clock kvmclock_row = {
	.id = "kvmclock", .title = "KVM's clock, from this core's page and the TSC", .width_bits = 64,
	.wrap_ticks = UINT64_MAX, .claimed = { 1000000000, 1 }, .claimed_within_ppb = 1, .by_tsc = true, .paged = true,
	.offered_by = PARAVIRTUAL_KVM, .rating = 400, .found_by = "KVM's CPUID 40000001h",
	.sample = kvmclock_sample, .stable = kvmclock_stable, .here = kvmclock_here, .read = kvmclock_read,
};

/* Whether this core's page is one that a clock can be read from. */
static bool
kvmclock_try(struct device *device, struct clock *clock)
{
	struct slot *slot = kvmclock_here(device);
	struct pvclock taken;
	uint64_t tsc;

	if (!pvclock_take(&slot->clock, hw_tsc_lfence, &taken, &tsc))
		probe_state(clock, CLOCK_BROKEN, "Its page is never whole: version %u stays odd in %u reads.", taken.version,
			    PAGES_TRIES);
	else if (!pvclock_multiplier(&taken))
		probe_state(clock, CLOCK_BROKEN, "KVM left its page without a rate: multiplier %u, shift %d.",
			    taken.tsc_to_system_mul, taken.tsc_shift);
	else if (!probe_moves(kvmclock_read, (void *)slot))
		probe_state(clock, CLOCK_STUCK, "Its page and the TSC give the same reading every time.");
	else
		return true;
	return false;
}

/* Linux arch/x86/kernel/kvmclock.c: where the TSC is invariant, that comes first. */
#define RATING_BELOW_TSC 299

static void
kvmclock_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct paravirtual_interface *kvm = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_KVM);
	uint32_t features = kvm ? kvm->features : 0;

	if (!probe_begin(platform, device, clocks, &kvmclock_driver))
		return;
	clocks->unoffered = !(features & (KVM_CLOCKSOURCE2 | KVM_CLOCKSOURCE));
	if (clocks->unoffered) {
		probe_state(clocks, CLOCK_ABSENT, "%s", kvm ? "KVM's CPUID leaf of features does not offer it." :
			    "There is no KVM, which would offer it.");
		return;
	}
	if (platform->cpu.memory_encrypted) {
		probe_state(clocks, CLOCK_DISABLED, "The guest's memory is encrypted: the hypervisor can't write its pages.");
		return;
	}
	if (!platform->pages.count) {
		probe_state(clocks, CLOCK_DISABLED, "The firmware has no memory below 4 GiB for its pages.");
		return;
	}
	if (platform->cpu.tsc_is_invariant)
		clocks->rating = RATING_BELOW_TSC;
	device->address = (uintptr_t)platform->pages.memory;
	device->saved[KVMCLOCK_PAGES] = platform->pages.count - 1; /* the last is for all cores: see hv_page.c */
	device->saved[KVMCLOCK_MSR] = features & KVM_CLOCKSOURCE2 ? MSR_KVM_SYSTEM_TIME_NEW : MSR_KVM_SYSTEM_TIME;
	device->saved[KVMCLOCK_STABLE_KNOWN] = (features & KVM_CLOCKSOURCE_STABLE) != 0;
	device->opened = true;
	if (!kvmclock_try(device, clocks)) {
		kvmclock_close(device);
		return;
	}
	clocks->state = CLOCK_PRESENT;
	probe_note(clocks, "By MSR %xh.", (uint32_t)device->saved[KVMCLOCK_MSR]);
	probe_note(clocks, kvmclock_stable(device) == STABLE_YES ? "Its page says TSC_STABLE: cores may be compared." :
		   "Its page does not say TSC_STABLE: cores are not to be compared.");
}

const struct driver kvmclock_driver = {
	.clock_count = 1,
	.rows = &kvmclock_row,
	.open = kvmclock_open,
	.close = kvmclock_close,
	.leave = kvmclock_leave,
};
