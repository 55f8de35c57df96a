/* Reads a hypervisor's counter of stolen time. See clock/stolen.h. */
#ifndef BARETICK_STEAL_H
#define BARETICK_STEAL_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "clock/stolen.h"
#include "hw/cpu.h"

/*
 * Finds the hypervisor's counter in PARAVIRTUAL, and tests it on the calling core, which must be the boot core. GUARDED
 * catches exceptions on this core, and RAISE raises them again. If GUARDED is NULL, a counter whose access faults is
 * not detected.
 */
struct stolen_counter steal_time_open_counter(const struct cpu_facts *facts, const struct paravirtual *paravirtual,
					      fault_guard *guarded, void (*raise)(const struct fault *fault));

#endif
