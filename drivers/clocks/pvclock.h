/*
 * The common part of KVM's and Xen's clocks. The hypervisor updates one page for each core; these functions assign
 * and read the pages. Each driver registers the page's address with the hypervisor in its own way.
 */
#ifndef BARETICK_PVCLOCK_H
#define BARETICK_PVCLOCK_H

#include "clocks/paravirtual_clocks.h"
#include "clocks/platform.h"

/*
 * Indices into device.saved: the number of pages, whether the flag TSC_STABLE is valid, the number of cores without
 * a page, and the first multiplier. The drivers' own entries start at PVCLOCK_SAVED.
 */
enum { PVCLOCK_PAGES, PVCLOCK_STABLE_KNOWN, PVCLOCK_REFUSED, PVCLOCK_MULTIPLIER, PVCLOCK_SAVED };

#define PVCLOCK_SLOT_SIZE (PAGES_SIZE / 2) /* a hypervisor may offer both clocks: each has half of a core's page */

/* The hypervisor's part, and behind it ours, which it leaves alone. */
struct pvclock_slot {
	struct pvclock clock;
	uint8_t reserved[PVCLOCK_SLOT_SIZE / 2 - sizeof(struct pvclock)];
	uint32_t owner; /* the APIC id of the page's core plus 1, or 0 if free */
	bool on, refused;
	uint64_t found;   /* in the register that says where it is */
	uint64_t last_ns, torn; /* its latest reading; reads in which the page was never whole */
	uint8_t rest[PVCLOCK_SLOT_SIZE / 2 - 32];
};
_Static_assert(sizeof(struct pvclock_slot) == PVCLOCK_SLOT_SIZE, "half a page each");

/*
 * Gives DEVICE its memory, in the lower or the upper half of each core's page. False: hypervisors can't write into any,
 * and CLOCK says why.
 */
bool pvclock_begin(const struct platform *platform, struct device *device, struct clock *clock, bool upper);

/* Returns the slot of the calling core, or assigns a free one. Returns NULL if none is left. */
struct pvclock_slot *pvclock_own(const struct device *device);

/*
 * Reads a struct pvclock_slot in ns. If the page changes in all tries the last value is returned again, and the core
 * is not compared with others.
 */
uint64_t pvclock_read(void *slot);

/* Returns true if SLOT gives a clock once hypervisor WHOSE knows its address, otherwise sets CLOCK's state. */
bool pvclock_try(struct pvclock_slot *slot, struct clock *clock, const char *whose);

/* Copies CLOCK's page of the calling core. Returns false if the page is off or changes in all tries. */
bool pvclock_look(const struct clock *clock, struct pvclock *taken);

/* Returns the multiplier that the page had at its first read, in ns per tick times 2^32. */
uint64_t pvclock_multiplier_at_first(const struct device *device);

/* Cores whose pages the hypervisor refused to write. */
uint64_t pvclock_refused(const struct device *device);

/*
 * Whether all that are in use say so, and the hypervisor that what they say counts: CLOCK's contract. Unknown where one
 * was not whole in some read, or was refused.
 */
enum paravirtual_stable pvclock_stable(void *device);

/* A sentence for a clock that is present. */
void pvclock_note_stable(struct clock *clock);

#endif
