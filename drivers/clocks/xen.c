/*
 * The driver of Xen's clock. For each vCPU, baretick registers an address in baretick's memory, where Xen writes the
 * vCPU's time until the registration is removed. Xen's shared page is not used, because it can be mapped only once, and
 * the firmware may have mapped it. The area vcpu_info is not used either, because its registration cannot be undone.
 */
#include "clocks/probe.h"
#include "clocks/pvclock.h"
#include "paravirtual/leaves.h"

/* Constants from Xen's headers xen.h, version.h and features.h in xen/include/public. */
#define XEN_VERSION_OP         17u
#define XEN_GET_FEATURES       6u
#define XEN_SAFE_PVCLOCK       (1u << 9) /* feature of HVM guests: the clock is based on the guest's TSC */

enum { XEN_BASE = PVCLOCK_SAVED }; /* index into device.saved: number of Xen's first CPUID leaf */

struct xen_features {
	uint32_t index, features; /* INDEX is set by the caller, FEATURES is set by Xen */
};

struct xen_time_area {
	uint64_t address; /* address of the area for the vCPU's time; 0 removes the registration */
};

/* Registers ADDRESS with Xen. Returns 0, or Xen's error, a negative number. */
static int64_t
xen_register_time_area(const struct device *device, uint64_t address)
{
	struct xen_time_area area = { address };
	struct hw_cpuid vcpu = hw_cpuid((uint32_t)device->saved[XEN_BASE] + LEAF_XEN_HVM, 0);

	return hw_xen_hypercall(XEN_VCPU_OP, XEN_REGISTER_TIME_AREA, vcpu.ebx, (uintptr_t)&area);
}

static int64_t
xen_register_slot(const struct device *device, struct pvclock_slot *slot)
{
	int64_t answer = xen_register_time_area(device, (uintptr_t)&slot->clock);

	slot->on = answer == 0;
	slot->refused = !slot->on;
	return answer;
}

static void *
xen_get_device_of_this_core(void *context)
{
	struct device *device = context;
	struct pvclock_slot *slot = pvclock_find_slot_of_this_core(device);

	if (slot && !slot->on && !slot->refused && xen_register_slot(device, slot))
		__atomic_add_fetch(&device->saved[PVCLOCK_REFUSALS], 1, __ATOMIC_ACQ_REL);
	return slot;
}

static void
xen_sample(void *device, struct sample *samples, size_t count)
{
	probe_sample(device, samples, count, pvclock_read, xen_get_device_of_this_core(device));
}

/*
 * Removes the registration. If the firmware had registered an address before, that address is lost, because it cannot
 * be read. Firmware does not need this registration.
 */
static bool
xen_remove_page(struct device *device)
{
	struct pvclock_slot *slot = device->opened ? pvclock_find_slot_of_this_core(device) : NULL;

	if (!slot || !slot->on)
		return true;
	slot->on = false;
	return xen_register_time_area(device, 0) == 0;
}

static void
xen_close(struct device *device)
{
	(void)xen_remove_page(device);
	device->opened = false;
}

static const struct clock xen_row = {
	.id = "xen", .title = "Xen's clock, from this core's page and the TSC", .width_bits = 64,
	.wrap_ticks = UINT64_MAX, .claimed = { 1000000000, 1 }, .claimed_within_ppb = 1, .rating = 400,
	.found_by = "Xen's features, by hypercall", .sample = xen_sample, .by_tsc = true,
	.paravirtual = {
		.paged = true, .offered_by = PARAVIRTUAL_XEN, .get_stability = pvclock_get_stability,
		.assumed = pvclock_get_assumed_multiplier, .get_core_device = xen_get_device_of_this_core,
		.read = pvclock_read,
	},
};

/*
 * Rating if the TSC is invariant and Xen never emulates it. Linux then prefers the TSC, whose rating is 300
 * (arch/x86/xen/time.c, xen_tsc_safe_clocksource()).
 */
#define RATING_BELOW_TSC 299

/* Returns the reason why the clock is not offered, or NULL if it is offered. */
static const char *
xen_explain_absence(const struct paravirtual_interface *xen)
{
	struct xen_features query = { 0, 0 };

	if (!xen)
		return "This clock needs Xen, which was not found.";
	if (xen->leaf_max < xen->base + LEAF_XEN_HVM ||
	    !(hw_cpuid(xen->base + LEAF_XEN_HVM, 0).eax & XEN_VCPU_ID_PRESENT))
		return "Xen's CPUID leaves do not state the vCPU number of a core.";
	if (hw_xen_hypercall(XEN_VERSION_OP, XEN_GET_FEATURES, (uintptr_t)&query, 0) ||
	    !(query.features & XEN_SAFE_PVCLOCK))
		return "Xen's features do not offer this clock to guests like this one.";
	return NULL;
}

static void
xen_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct paravirtual_interface *xen = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_XEN);

	if (!probe_initialize_clocks(platform, device, clocks, &xen_driver))
		return;
	const char *missing = xen_explain_absence(xen);
	clocks->unoffered = missing != NULL;
	if (missing) {
		probe_set_state(clocks, CLOCK_ABSENT, "%s", missing);
		return;
	}
	if (!pvclock_assign_pages(platform, device, clocks, true))
		return;
	if (platform->cpu.tsc_is_invariant && xen->features == XEN_TSC_NEVER_EMULATED)
		clocks->rating = RATING_BELOW_TSC;
	device->saved[XEN_BASE] = xen->base;
	device->saved[PVCLOCK_STABLE_KNOWN] = true;
	device->opened = true;
	int64_t answer = xen_register_slot(device, pvclock_find_slot_of_this_core(device));
	if (answer)
		probe_set_state(clocks, CLOCK_DISABLED, "Xen refused to write its page: error %d.", (int)-answer);
	if (answer || !pvclock_test_page(pvclock_find_slot_of_this_core(device), clocks, "Xen")) {
		xen_close(device);
		return;
	}
	clocks->state = CLOCK_PRESENT;
	pvclock_append_stability_note(clocks);
}

const struct driver xen_driver = {
	.clock_count = 1,
	.rows = &xen_row,
	.open = xen_open,
	.close = xen_close,
	.restore_core = xen_remove_page,
};
