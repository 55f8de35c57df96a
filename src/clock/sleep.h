/*
 * The interface of the sleep states that a core can enter. A state stops the core until an interrupt comes. Deeper
 * states may also stop the core's TSC, its local APIC's timer, or clocks of the chipset.
 */
#ifndef BARETICK_SLEEP_H
#define BARETICK_SLEEP_H

#include <stddef.h>
#include <stdint.h>

#include "clock/fault.h"

/* A state is this number, or the hint of MWAIT (the value of EAX), or this bit and an I/O port. The record has them. */
#define SLEEP_BY_HLT     UINT32_MAX
#define SLEEP_BY_PORT    (UINT32_C(1) << 16)

#define SLEEP_STATES_MAX 8u /* maximum number of deep states that are tested */
#define SLEEP_NAME_SIZE  16u
#define SLEEP_COUNTERS   4u  /* residency counters of a core: TSC ticks in C1, C3, C6 and C7 */
/*
 * Number of times that a core enters a state again which it left early. A core that leaves a state so often before it
 * is woken cannot enter it, and waits awake.
 */
#define SLEEP_EARLY_MAX  16u
/*
 * The offset of a core before or after a sleep is from ping-pongs in this time before the TSC reading of its entry in
 * the record. The core's drift moves the offset in this time.
 */
#define SLEEP_OFFSET_NS  UINT64_C(40000000)
/* A TSC that lost at least 1/SLEEP_LOST_SHARE of its sleep stopped in it, however much it drifts while it is awake. */
#define SLEEP_LOST_SHARE 2

struct timer_driver;

/*
 * Functions for the calling core. They are called in a job with interrupts masked, except list_deep_states(),
 * find_counters(), and enter() on the boot core, whose interrupts the firmware handles.
 */
struct sleep_driver {
	/*
	 * Fills STATES with the states that are deeper than HLT, the shallowest first. Returns their number. Reads MSRs by
	 * GUARDED (see survey_hooks), if it is not NULL.
	 */
	size_t (*list_deep_states)(uint32_t states[SLEEP_STATES_MAX], fault_guard *guarded);
	/*
	 * Enters STATE until an interrupt comes, and handles the interrupt. MWAIT watches LINE, a cache line that is never
	 * written. May return earlier.
	 */
	void (*enter)(uint32_t state, const void *line);
	void (*wake)(uint32_t apic_id); /* sends an interrupt to a core */
	/*
	 * Returns the set of the residency counters that the boot core has: bit I is set for counter I. Reads them by
	 * GUARDED. Returns 0 if GUARDED is NULL.
	 */
	uint32_t (*find_counters)(fault_guard *guarded);
	uint64_t (*read_counter)(size_t counter); /* must exist */
	/*
	 * The local APIC's timer as a counter, and its TSC deadline. They interrupt with VECTOR, which enter() handles.
	 * Their open() needs no platform.
	 */
	const struct timer_driver *counter, *deadline;
	uint32_t vector;
};

struct sleep_hooks {
	const struct sleep_driver *driver; /* the CPU's sleep states */
	/* Called before the tests of the sleep state NAME, so that the next run can leave it out. May be NULL. */
	void (*state_starts)(void *context, const char *name);
	void *context;
};

/* Writes the state's name to NAME: "halt", "mwait-20h" for the hint 20h, or "port-414h" for an I/O port. */
void sleep_print_name(char name[SLEEP_NAME_SIZE], uint32_t state);

#endif
