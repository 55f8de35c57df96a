/* A hypervisor's own counter of stolen time: time in which a core was ready to run, but did not run. */
#ifndef BARETICK_STOLEN_H
#define BARETICK_STOLEN_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/fault.h"

struct stolen {
	uint64_t ns;    /* stolen time that the hypervisor counted between two readings of its counter */
	uint64_t ticks; /* TSC ticks from just before the first reading to just after the second */
};

struct stolen_counter;

/*
 * Runs WORK between two readings of the calling core's counter, and fills STOLEN. Returns false if the counter could
 * not be read. The hypervisor's registers are restored before it returns, and before the boot core raises an exception
 * of WORK again.
 */
typedef bool stolen_count(const struct stolen_counter *counter, void (*work)(void *argument), void *argument,
			  struct stolen *stolen);

struct stolen_counter {
	/* id of the counter, "kvm_steal" or "xen_runstate", in static storage. NULL if no hypervisor offers a counter. */
	const char *id;
	const char *reason;  /* reason why the counter cannot be used although it is offered, or NULL; static storage */
	stolen_count *count; /* function that counts; NULL if the counter cannot be used */

	/* true if the firmware lends the other cores, on which KVM's counter is then not read; set by boot/machine.c */
	bool are_others_lent;

	/* The following fields belong to drivers/paravirtual/steal.c. */
	uint32_t boot_apic_id;
	fault_guard *guarded;                    /* catches exceptions on the boot core, or NULL */
	void (*raise)(const struct fault *fault); /* passes a caught exception to the next outer guard */
	uint32_t xen_base;                       /* first CPUID leaf of Xen's interface; 0 for KVM */
};

#endif
