/*
 * What the clocks of KVM and Xen share: for each core a page that the hypervisor keeps up to date for it, and how one
 * is had and read. How the hypervisor is told where it is, each driver knows.
 */
#ifndef BARETICK_PVCLOCK_H
#define BARETICK_PVCLOCK_H

#include "clocks/paravirtual_clocks.h"
#include "clocks/platform.h"

/*
 * device.saved: how many pages; the flag TSC_STABLE counts; cores that were refused one; the multiplier of the page at
 * first; from here the driver's own.
 */
enum { PVCLOCK_PAGES, PVCLOCK_STABLE_KNOWN, PVCLOCK_REFUSED, PVCLOCK_MULTIPLIER, PVCLOCK_SAVED };

#define PVCLOCK_SLOT_SIZE (PAGES_SIZE / 2) /* a hypervisor may offer both clocks: each has half of a core's page */

/* The hypervisor's part, and behind it ours, which it leaves alone. */
struct pvclock_slot {
	struct pvclock clock;
	uint8_t reserved[PVCLOCK_SLOT_SIZE / 2 - sizeof(struct pvclock)];
	uint32_t owner; /* APIC id of the core whose it is, and 1; 0: nobody's yet */
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

/* That of the core that calls; NULL: there is none left. */
struct pvclock_slot *pvclock_own(const struct device *device);

/* ns by a struct pvclock_slot; one that is never whole stands still: then its core can't be compared with others. */
uint64_t pvclock_read(void *slot);

/* Whether a clock can be read from SLOT, which WHOSE hypervisor has been told of; else CLOCK says why not. */
bool pvclock_try(struct pvclock_slot *slot, struct clock *clock, const char *whose);

/* CLOCK's page of the core that calls, as it is now; false: it is not on, or is never whole. */
bool pvclock_look(const struct clock *clock, struct pvclock *taken);

/* What its page had, in ns per tick times 2^32, when it was first read. */
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
