/*
 * The driver of Hyper-V's reference time, which is calculated from the TSC and from one page for all cores. While the
 * page's sequence is 0, readers must read an MSR with the same time instead. This driver also reads the MSR if the page
 * changes in all tries to read it.
 */
#include "clocks/paravirtual_clocks.h"
#include "clocks/probe.h"
#include "paravirtual/leaves.h"

#define MSR_ON   1u
#define MSR_KEPT UINT64_C(0xfff) /* reserved bits of MSR 40000021h; a write must keep them (TLFS, reference TSC page) */

/* Indices into device.saved: the value of MSR 40000021h before the run, and the number of reads that used the MSR. */
enum { HV_PAGE_FOUND, HV_PAGE_FALLBACKS };

static const volatile struct hv_tsc_page *
get_page(const struct device *device)
{
	return (const volatile struct hv_tsc_page *)(uintptr_t)device->address;
}

bool
hv_page_copy(const struct device *device, struct hv_tsc_page *taken, uint64_t *now_tsc)
{
	return device->opened && hv_tsc_page_copy(get_page(device), hw_tsc_lfence, taken, now_tsc);
}

uint64_t
hv_page_count_msr_fallbacks(const struct device *device)
{
	return device->saved[HV_PAGE_FALLBACKS];
}

/*
 * Counts the reads that used the MSR, without a lock. The count may be too low if several cores read at once, but it is
 * above 0 if any read used the MSR.
 */
static uint64_t
hv_page_read(void *context)
{
	struct device *device = context;
	struct hv_tsc_page taken;
	uint64_t tsc;

	if (hv_tsc_page_copy(get_page(device), hw_tsc_lfence, &taken, &tsc)) {
		if (taken.sequence)
			return hv_tsc_page_calculate_ticks(&taken, tsc);
		device->saved[HV_PAGE_FALLBACKS]++;
	}
	return hw_msr_read(MSR_HV_REFERENCE);
}

static void
hv_page_sample(void *device, struct sample *samples, size_t count)
{
	probe_sample(device, samples, count, hv_page_read, device);
}

/* TLFS, reference TSC page: while the sequence is not 0, the page is valid for the TSCs of all cores. */
static enum paravirtual_stable
hv_page_get_stability(void *device)
{
	return get_page(device)->sequence ? STABLE_YES : STABLE_NO;
}

static uint64_t
hv_page_get_assumed_multiplier(void *device)
{
	struct hv_tsc_page taken;
	uint64_t tsc;

	return hv_page_copy(device, &taken, &tsc) && taken.sequence ? hv_tsc_page_get_multiplier(&taken) : 0;
}

static const struct clock hv_page_row = {
	.id = "hv_page", .title = "Hyper-V's reference time, from its page and the TSC", .width_bits = 64,
	.wrap_ticks = UINT64_MAX, .claimed = { 10000000, 1 }, .rating = HYPERV_PAGE_RATING,
	.found_by = "Hyper-V's CPUID 40000003h", .sample = hv_page_sample, .by_tsc = true,
	.paravirtual = {
		.paged = true, .offered_by = PARAVIRTUAL_HYPERV, .get_stability = hv_page_get_stability,
		.assumed = hv_page_get_assumed_multiplier, .read = hv_page_read,
	},
};

static void
hv_page_close(struct device *device)
{
	if (device->opened)
		hw_msr_write(MSR_HV_REFERENCE_TSC, device->saved[HV_PAGE_FOUND]);
	device->opened = false;
	hyperv_clear_guest_os_id(device);
}

static bool
hv_page_test_page(struct device *device, struct clock *clock)
{
	struct hv_tsc_page taken;
	uint64_t tsc;

	if (!hv_page_copy(device, &taken, &tsc))
		return probe_set_state(clock, CLOCK_BROKEN, "The hypervisor changed the page during each of %u reads.",
				       PAGES_TRIES);
	if (!taken.sequence && (clock->paravirtual.falls_back = ++device->saved[HV_PAGE_FALLBACKS]))
		return probe_set_state(clock, CLOCK_DISABLED, "The page's sequence number is 0: readers must read the MSR "
				       "instead, as the clock hv_ref does.");
	if (!taken.scale)
		return probe_set_state(clock, CLOCK_BROKEN, "The hypervisor wrote no rate into the page.");
	if (!probe_counter_moves(hv_page_read, device))
		return probe_set_state(clock, CLOCK_STUCK, "The page and the TSC give the same time in every read.");
	return true;
}

static void
hv_page_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct paravirtual_interface *hyperv = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_HYPERV);

	if (!probe_initialize_clocks(platform, device, clocks, &hv_page_driver))
		return;
	clocks->unoffered = !hyperv || !(hyperv->features & HV_ACCESS_REFERENCE_TSC);
	if (clocks->unoffered) {
		probe_set_state(clocks, CLOCK_ABSENT, "%s", hyperv ? "CPUID 40000003h does not offer this clock." :
				"This clock needs Hyper-V's interface, which was not found.");
		return;
	}
	if (!(hyperv->features & HV_ACCESS_REFERENCE_COUNTER)) {
		probe_set_state(clocks, CLOCK_DISABLED, "CPUID 40000003h does not offer the MSR that readers need if "
				"the page is invalid.");
		return;
	}
	if (platform->cpu.memory_encrypted) {
		probe_set_state(clocks, CLOCK_DISABLED, "The guest's memory is encrypted: the hypervisor can't write "
				"the clock's page.");
		return;
	}
	if (!platform->pages.count) {
		probe_set_state(clocks, CLOCK_DISABLED, "The firmware has no memory below 4 GiB for the clock's page.");
		return;
	}
	/* Uses the last of the platform's pages, because each other page belongs to one core. */
	device->address = (uintptr_t)platform->pages.memory + (platform->pages.count - 1) * PAGES_SIZE;
	hyperv_write_guest_os_id(device, hyperv->features);
	device->saved[HV_PAGE_FOUND] = hw_msr_read(MSR_HV_REFERENCE_TSC);
	hw_msr_write(MSR_HV_REFERENCE_TSC, device->address | (device->saved[HV_PAGE_FOUND] & MSR_KEPT) | MSR_ON);
	device->opened = true;
	if (hyperv->features & HV_ACCESS_TSC_INVARIANT)
		clocks->rating = HYPERV_PAGE_RATING_INVARIANT;
	if (!hv_page_test_page(device, clocks)) {
		hv_page_close(device);
		return;
	}
	clocks->state = CLOCK_PRESENT;
}

const struct driver hv_page_driver = {
	.clock_count = 1,
	.rows = &hv_page_row,
	.open = hv_page_open,
	.close = hv_page_close,
};
