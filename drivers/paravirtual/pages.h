/*
 * The pages in which hypervisors publish the time to their guests, and functions that calculate a time from a page and
 * the TSC.
 */
#ifndef BARETICK_PAGES_H
#define BARETICK_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/sample.h"
#include "hw/hw.h"

#define PAGES_SIZE  4096u
#define PAGES_TRIES 1024u /* number of tries to read a page; a hypervisor's update takes less than a microsecond */

/* Memory for the pages that a hypervisor writes: zeroed, below 4 GiB, page-aligned, and never freed. */
struct pages {
	uint8_t *memory;
	size_t count; /* number of cores plus 1, for a page of each core and a page for all cores; 0 if there is no memory */
};

/* Layout of KVM's and Xen's page: Linux Documentation/virt/kvm/x86/msr.rst, MSR_KVM_SYSTEM_TIME_NEW */
struct pvclock {
	uint32_t version; /* odd while the page is updated */
	uint32_t pad0;
	uint64_t tsc_timestamp; /* TSC at the time of system_time */
	uint64_t system_time;   /* time in ns at tsc_timestamp */
	uint32_t tsc_to_system_mul;
	int8_t tsc_shift;
	uint8_t flags;
	uint8_t pad[2];
};
_Static_assert(sizeof(struct pvclock) == 32, "layout of the hypervisor");

#define PVCLOCK_TSC_STABLE 1u /* flag: readings on different cores can be compared */
#define PVCLOCK_GUEST_STOPPED 2u /* flag: the host stopped the guest. The host sets it, and only the guest clears it. */

/* Layout of Hyper-V's page: Hyper-V Top Level Functional Specification, reference TSC page */
struct hv_tsc_page {
	uint32_t sequence; /* changes with each update; 0 while the page must not be used */
	uint32_t reserved;
	uint64_t scale;
	int64_t offset;
};

/* Linux include/uapi/linux/vmclock-abi.h, struct vmclock_abi: offsets in the page of vmclock */
#define VMCLOCK_MAGIC      0x4b4c4356u
#define VMCLOCK_COUNTER    8u   /* bits 23:16: 1 if the counter is the TSC, FFh if the page has no time */
#define VMCLOCK_SEQUENCE   12u  /* odd while the page is updated */
#define VMCLOCK_DISRUPTION 16u
#define VMCLOCK_FLAGS      24u
#define VMCLOCK_SHIFT      36u  /* bits 31:24 are SHIFT: the period and its error have the unit 2^-(64 + SHIFT) s */
#define VMCLOCK_PERIOD     48u
#define VMCLOCK_MAX_ERROR  64u  /* the period's maximum error; valid if bit 4 of the flags is set */
#define VMCLOCK_GENERATION 104u
#define VMCLOCK_SIZE       112u

/* Returns PAGE's time in ns for the TSC value TSC. The product has 128 bits, so it does not overflow. */
static inline uint64_t
pvclock_calculate_ns(const struct pvclock *page, uint64_t tsc)
{
	unsigned __int128 delta = tsc - page->tsc_timestamp;

	delta = page->tsc_shift < 0 ? delta >> -page->tsc_shift : delta << page->tsc_shift;
	return page->system_time + (uint64_t)(delta * page->tsc_to_system_mul >> 32);
}

/* Returns PAGE's time in units of 100 ns for the TSC value TSC. */
static inline uint64_t
hv_tsc_page_calculate_ticks(const struct hv_tsc_page *page, uint64_t tsc)
{
	return (uint64_t)((unsigned __int128)tsc * page->scale >> 64) + (uint64_t)page->offset;
}

/* Prevents the compiler from reordering two reads of memory that a hypervisor writes. */
static inline void
pages_fence(void)
{
	__asm__ volatile("" : : : "memory");
}

/*
 * Copies PAGE to TAKEN, and reads the TSC between two reads of the page's version. Returns false if the page changed in
 * all tries.
 */
static inline __attribute__((always_inline)) bool
pvclock_copy(const volatile struct pvclock *page, sample_bracket *tsc, struct pvclock *taken, uint64_t *now_tsc)
{
	for (unsigned i = 0; i < PAGES_TRIES; i++) {
		taken->version = page->version;
		pages_fence();
		taken->tsc_timestamp = page->tsc_timestamp;
		taken->system_time = page->system_time;
		taken->tsc_to_system_mul = page->tsc_to_system_mul;
		taken->tsc_shift = page->tsc_shift;
		taken->flags = page->flags;
		*now_tsc = tsc();
		pages_fence();
		if (!(taken->version & 1) && taken->version == page->version)
			return true;
	}
	return false;
}

/* Copies Hyper-V's page like pvclock_copy(). Also copies a page with sequence 0, although its time is invalid. */
static inline __attribute__((always_inline)) bool
hv_tsc_page_copy(const volatile struct hv_tsc_page *page, sample_bracket *tsc, struct hv_tsc_page *taken,
		 uint64_t *now_tsc)
{
	for (unsigned i = 0; i < PAGES_TRIES; i++) {
		taken->sequence = page->sequence;
		pages_fence();
		taken->scale = page->scale;
		taken->offset = page->offset;
		*now_tsc = tsc();
		pages_fence();
		if (taken->sequence == page->sequence)
			return true;
	}
	return false;
}

/*
 * Returns the TSC rate that a page states, in ns per tick times 2^32 as in struct scale. Returns 0 if the page states
 * no rate.
 */
uint64_t pvclock_get_multiplier(const struct pvclock *page);
uint64_t hv_tsc_page_get_multiplier(const struct hv_tsc_page *page);

#endif
