/* Reads a hypervisor's counter of stolen time. See clock/stolen.h. */
#ifndef BARETICK_STEAL_H
#define BARETICK_STEAL_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "clock/stolen.h"
#include "hw/cpu.h"

/*
 * Finds the counter in PARAVIRTUAL, and reads it once on the calling core, the boot core. GUARDED catches exceptions
 * there, and RAISE raises them again; without GUARDED a counter that faults is not detected.
 */
struct stolen_counter steal_open(const struct cpu_facts *facts, const struct paravirtual *paravirtual,
				 fault_guard *guarded, void (*raise)(const struct fault *fault));

#endif
