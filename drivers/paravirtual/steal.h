/* Reads a hypervisor's counter of stolen time. See clock/stolen.h. */
#ifndef BARETICK_STEAL_H
#define BARETICK_STEAL_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "clock/stolen.h"
#include "hw/cpu.h"

struct steal_counter {
	const char *id;     /* "kvm_steal", "xen_runstate", or NULL if no hypervisor offers a counter; static storage */
	const char *reason; /* why it cannot be used although it is offered, or NULL; static storage */
	bool is_xen;
	uint32_t base;      /* first CPUID leaf of Xen's interface; not used for KVM */
};

/*
 * Finds the counter in PARAVIRTUAL, and reads it once on the calling core. GUARDED catches exceptions; without it a
 * counter that faults is not detected.
 */
void steal_open(const struct cpu_facts *facts, const struct paravirtual *paravirtual, fault_guard *guarded,
		struct steal_counter *counter);

/* Counts stolen time with COUNTER, a struct steal_counter that can be used. */
stolen_count steal_count;

#endif
