/*
 * A hypervisor's counter of stolen time: the time in which a virtual core was ready to run, but the hypervisor did
 * not run it.
 */
#ifndef BARETICK_STOLEN_H
#define BARETICK_STOLEN_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/fault.h"

struct stolen {
	uint64_t ns;    /* stolen time between the first and the second reading of the hypervisor's counter */
	uint64_t ticks; /* TSC ticks from just before the first reading to just after the second reading */
};

struct stolen_counter;

/*
 * Runs WORK between two readings of the calling core's counter, and stores the difference in STOLEN. Returns false if
 * the counter could not be read. With KVM, this function changes an MSR, and restores the MSR before it returns. If
 * WORK causes an exception on the boot core, the MSR is restored before the exception is passed on.
 */
typedef bool stolen_count(const struct stolen_counter *counter, void (*work)(void *argument), void *argument,
			  struct stolen *stolen);

struct stolen_counter {
	/* "kvm_steal" or "xen_runstate", in static storage; NULL if no hypervisor offers a counter */
	const char *id;
	const char *reason;  /* why the counter cannot be used although it is offered, or NULL; in static storage */
	stolen_count *count; /* NULL if the counter cannot be used */

	/*
	 * True if the other cores belong to the firmware (cores=mp), so that KVM's counter is not read on them.
	 * boot/machine.c sets this.
	 */
	bool are_others_lent;

	/* Only drivers/paravirtual/steal.c uses the following fields. */
	uint32_t boot_apic_id;
	fault_guard *guarded;                    /* catches exceptions on the boot core, or NULL */
	/* passes a caught exception on to the guard around the call of COUNT */
	void (*raise)(const struct fault *fault);
	uint32_t xen_base;                       /* first CPUID leaf of Xen's interface; 0 if the hypervisor is KVM */
};

#endif
