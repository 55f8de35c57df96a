/* Reads a hypervisor's signals that time was disrupted, for example by a snapshot. See clock/signals.h. */
#ifndef BARETICK_READ_SIGNALS_H
#define BARETICK_READ_SIGNALS_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "clock/signals.h"

struct signal_places {
	const struct paravirtual *paravirtual;
	/* Physical addresses of the VM Generation ID and of vmclock's page, from ACPI; 0 if there is none. */
	uint64_t vmgenid, vmclock;
};

/*
 * Fills SIGNALS except for the member CHANGED. kvm-clock's flag GUEST_STOPPED is read only while baretick uses
 * kvm-clock's page. If CLEAR is true, the flag is cleared before it is read, because the hypervisor never clears it.
 * Reads one MSR under GUARDED, which catches exceptions.
 */
void signals_read_disruption_markers(const struct signal_places *places, fault_guard *guarded, bool clear,
				     struct signals *signals);

#endif
