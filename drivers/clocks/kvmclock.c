/*
 * The driver of KVM's clock. Each core has a page that KVM updates, and an MSR with the page's address. The address is
 * written when the core first takes samples. The MSR is restored before the core is stopped, because KVM would
 * otherwise continue to write to the page.
 */
#include "clocks/probe.h"
#include "clocks/pvclock.h"
#include "paravirtual/leaves.h"

#define MSR_ON 1u

enum { KVMCLOCK_MSR = PVCLOCK_SAVED }; /* index into device.saved: the MSR's number, which depends on KVM's version */

static void *
kvmclock_get_device_of_this_core(void *context)
{
	const struct device *device = context;
	struct pvclock_slot *slot = pvclock_find_slot_of_this_core(device);

	if (!slot || slot->on)
		return slot;
	slot->found = hw_msr_read((uint32_t)device->saved[KVMCLOCK_MSR]);
	hw_msr_write((uint32_t)device->saved[KVMCLOCK_MSR], (uint64_t)(uintptr_t)&slot->clock | MSR_ON);
	slot->on = true;
	return slot;
}

static void
kvmclock_sample(void *device, struct sample *samples, size_t count)
{
	probe_sample(device, samples, count, pvclock_read, kvmclock_get_device_of_this_core(device));
}

static bool
kvmclock_restore_msr(struct device *device)
{
	struct pvclock_slot *slot = device->opened ? pvclock_find_slot_of_this_core(device) : NULL;

	if (!slot || !slot->on)
		return true;
	slot->on = false;
	hw_msr_write((uint32_t)device->saved[KVMCLOCK_MSR], slot->found);
	return hw_msr_read((uint32_t)device->saved[KVMCLOCK_MSR]) == slot->found;
}

static void
kvmclock_close(struct device *device)
{
	(void)kvmclock_restore_msr(device);
	device->opened = false;
}

static const struct clock kvmclock_row = {
	.id = "kvmclock", .title = "KVM's clock, from this core's page and the TSC", .width_bits = 64,
	.wrap_ticks = UINT64_MAX, .claimed = { 1000000000, 1 }, .claimed_within_ppb = 1, .rating = 400,
	.found_by = "KVM's CPUID 40000001h", .sample = kvmclock_sample, .by_tsc = true,
	.paravirtual = {
		.paged = true, .offered_by = PARAVIRTUAL_KVM, .get_stability = pvclock_get_stability,
		.assumed = pvclock_get_assumed_multiplier, .get_core_device = kvmclock_get_device_of_this_core,
		.read = pvclock_read,
	},
};

/* Rating if the TSC is invariant: Linux then prefers the TSC, whose rating is 300 (arch/x86/kernel/kvmclock.c). */
#define RATING_BELOW_TSC 299

static void
kvmclock_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct paravirtual_interface *kvm = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_KVM);
	uint32_t features = kvm ? kvm->features : 0;

	if (!probe_initialize_clocks(platform, device, clocks, &kvmclock_driver))
		return;
	clocks->unoffered = !(features & (KVM_CLOCKSOURCE2 | KVM_CLOCKSOURCE));
	if (clocks->unoffered) {
		probe_set_state(clocks, CLOCK_ABSENT, "%s", kvm ? "KVM's CPUID leaf of features does not offer this clock." :
				"This clock needs KVM, which was not found.");
		return;
	}
	if (!pvclock_assign_pages(platform, device, clocks, false))
		return;
	if (platform->cpu.tsc_is_invariant)
		clocks->rating = RATING_BELOW_TSC;
	device->saved[KVMCLOCK_MSR] = features & KVM_CLOCKSOURCE2 ? MSR_KVM_SYSTEM_TIME_NEW : MSR_KVM_SYSTEM_TIME;
	device->saved[PVCLOCK_STABLE_KNOWN] = (features & KVM_CLOCKSOURCE_STABLE) != 0;
	device->opened = true;
	if (!pvclock_test_page(kvmclock_get_device_of_this_core(device), clocks, "KVM")) {
		kvmclock_close(device);
		return;
	}
	clocks->state = CLOCK_PRESENT;
	probe_append_note(clocks, "By MSR %xh.", (uint32_t)device->saved[KVMCLOCK_MSR]);
	pvclock_append_stability_note(clocks);
}

const struct driver kvmclock_driver = {
	.clock_count = 1,
	.rows = &kvmclock_row,
	.open = kvmclock_open,
	.close = kvmclock_close,
	.restore_core = kvmclock_restore_msr,
};
