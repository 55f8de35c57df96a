/*
 * The driver of Hyper-V's partition reference counter, which is read from an MSR. Hyper-V requires that guests first
 * write an identity, which this file also does.
 */
#include "clocks/paravirtual_clocks.h"
#include "clocks/probe.h"
#include "paravirtual/leaves.h"

/*
 * TLFS, guest OS identity: bit 63 marks an open source system. Bits 62 to 56 are the system's number. They are 0,
 * because baretick has no number.
 */
#define GUEST_OS_ID (UINT64_C(1) << 63 | 1)

void
hyperv_write_guest_os_id(struct device *device, uint32_t features)
{
	if (!(features & HV_ACCESS_HYPERCALL_MSRS) || hw_msr_read(MSR_HV_GUEST_OS_ID) != 0)
		return;
	hw_msr_write(MSR_HV_GUEST_OS_ID, GUEST_OS_ID);
	device->saved[HYPERV_IDENTITY_WRITTEN] = true;
}

void
hyperv_clear_guest_os_id(struct device *device)
{
	if (device->saved[HYPERV_IDENTITY_WRITTEN])
		hw_msr_write(MSR_HV_GUEST_OS_ID, 0);
	device->saved[HYPERV_IDENTITY_WRITTEN] = false;
}

static uint64_t
hv_ref_read(void *)
{
	return hw_msr_read(MSR_HV_REFERENCE);
}

DRIVER_SAMPLE(hv_ref, hv_ref_read)

/*
 * There is no .get_stability function, because this clock never goes back, not even between cores (TLFS, partition
 * reference time).
 */
static const struct clock hv_ref_row = {
	.id = "hv_ref", .title = "Hyper-V's reference counter, MSR 40000020h", .width_bits = 64,
	.wrap_ticks = UINT64_MAX, .claimed = { 10000000, 1 }, .rating = HYPERV_MSR_RATING,
	.found_by = "Hyper-V's CPUID 40000003h", .sample = hv_ref_sample, .by_tsc = true,
	.paravirtual = { .offered_by = PARAVIRTUAL_HYPERV, .read = hv_ref_read },
};

static void
hv_ref_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct paravirtual_interface *hyperv = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_HYPERV);

	if (!probe_initialize_clocks(platform, device, clocks, &hv_ref_driver))
		return;
	clocks->unoffered = !hyperv || !(hyperv->features & HV_ACCESS_REFERENCE_COUNTER);
	if (clocks->unoffered) {
		probe_set_state(clocks, CLOCK_ABSENT, "%s", hyperv ? "CPUID 40000003h does not offer this clock." :
				"This clock needs Hyper-V's interface, which was not found.");
		return;
	}
	hyperv_write_guest_os_id(device, hyperv->features);
	if (hyperv->features & HV_ACCESS_TSC_INVARIANT)
		clocks->rating = HYPERV_MSR_RATING_INVARIANT;
	if (probe_counter_moves(hv_ref_read, device)) {
		clocks->state = CLOCK_PRESENT;
		return;
	}
	probe_set_state(clocks, CLOCK_STUCK, "The MSR reads the same every time.");
	hyperv_clear_guest_os_id(device);
}

const struct driver hv_ref_driver = {
	.clock_count = 1,
	.rows = &hv_ref_row,
	.open = hv_ref_open,
	.close = hyperv_clear_guest_os_id,
};
