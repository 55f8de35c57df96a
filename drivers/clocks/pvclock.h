/*
 * Common functions of KVM's and Xen's clocks. The hypervisor updates one page for each core. These functions assign
 * pages to cores and read them. Each driver passes the page's address to its hypervisor by a different interface.
 */
#ifndef BARETICK_PVCLOCK_H
#define BARETICK_PVCLOCK_H

#include "clocks/paravirtual_clocks.h"
#include "clocks/platform.h"

/*
 * Indices into device.saved: the number of pages, true if the page's flag TSC_STABLE is valid, the number of cores
 * whose page the hypervisor refused, and the multiplier that pvclock_test_page() read. The drivers' own entries start
 * at PVCLOCK_SAVED.
 */
enum { PVCLOCK_PAGES, PVCLOCK_STABLE_KNOWN, PVCLOCK_REFUSALS, PVCLOCK_MULTIPLIER, PVCLOCK_SAVED };

/* A core's page has two slots, because a hypervisor may offer KVM's and Xen's clock at the same time. */
#define PVCLOCK_SLOT_SIZE (PAGES_SIZE / 2)

/* Half a page of one core. The hypervisor writes the first half of the slot, and the driver writes its second half. */
struct pvclock_slot {
	struct pvclock clock;
	uint8_t reserved[PVCLOCK_SLOT_SIZE / 2 - sizeof(struct pvclock)];
	uint32_t owner; /* APIC id of the core plus 1; 0 if the slot is free */
	bool on, refused;
	uint64_t found;   /* value, before the run, of the MSR that gets the page's address */
	uint64_t last_ns, torn; /* the last reading, and the number of reads in which all tries failed */
	uint8_t rest[PVCLOCK_SLOT_SIZE / 2 - 32];
};
_Static_assert(sizeof(struct pvclock_slot) == PVCLOCK_SLOT_SIZE, "half a page");

/*
 * Assigns the lower or the UPPER half of each core's page to DEVICE. Returns false, and sets CLOCK's state, if there is
 * no memory that the hypervisor can write.
 */
bool pvclock_assign_pages(const struct platform *platform, struct device *device, struct clock *clock, bool upper);

/* Returns the slot of the calling core, or assigns a free slot. Returns NULL if no slot is free. */
struct pvclock_slot *pvclock_find_slot_of_this_core(const struct device *device);

/*
 * Reads the clock of a struct pvclock_slot in ns. If the page changes in all tries, returns the last reading again; the
 * clock is then not compared between cores.
 */
uint64_t pvclock_read(void *slot);

/*
 * Returns true if SLOT's page works as a clock, otherwise sets CLOCK's state. Call it after the hypervisor received the
 * page's address. WHOSE is the hypervisor's name.
 */
bool pvclock_test_page(struct pvclock_slot *slot, struct clock *clock, const char *whose);

/* Copies the calling core's page of CLOCK to TAKEN. Returns false if the page is off, or changes in all tries. */
bool pvclock_copy_page(const struct clock *clock, struct pvclock *taken);

/* Returns the multiplier that pvclock_test_page() read from the page, in ns per TSC tick times 2^32. */
uint64_t pvclock_get_multiplier_at_open(const struct device *device);

/* Returns the number of cores whose pages the hypervisor refused to write. */
uint64_t pvclock_count_cores_without_page(const struct device *device);

/*
 * Returns STABLE_YES if the hypervisor supports the flag TSC_STABLE and it is set in all pages in use. The clock may
 * then be compared between cores. Returns STABLE_NO if a page in use lacks the flag. Returns STABLE_UNKNOWN if the
 * hypervisor wrote no page for a core, or if a page changed in all tries of a read.
 */
enum paravirtual_stable pvclock_get_stability(void *device);

/*
 * Returns the calling core's multiplier (ns per TSC tick times 2^32), for the function pointer ASSUMED of struct clock.
 * Returns 0 if the multiplier has changed since pvclock_test_page().
 */
uint64_t pvclock_get_assumed_multiplier(void *device);

/* Adds a sentence about the flag TSC_STABLE to a clock that is present. */
void pvclock_append_stability_note(struct clock *clock);

#endif
