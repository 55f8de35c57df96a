/* Reads a hypervisor's announcements of disruptions. See clock/signals.h. */
#ifndef BARETICK_READ_SIGNALS_H
#define BARETICK_READ_SIGNALS_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "clock/signals.h"

struct signal_places {
	const struct paravirtual *paravirtual;
	/* Physical addresses from ACPI of the VM Generation ID and of the page of vmclock; 0 if there is none. */
	uint64_t vmgenid, vmclock;
};

/*
 * Fills SIGNALS except for the field "changed". kvm-clock's flag is read only while baretick uses kvm-clock's page. If
 * CLEAR is true, the flag is cleared, because the hypervisor never clears it. Reads one MSR under GUARDED, which
 * catches exceptions.
 */
void signals_read(const struct signal_places *places, fault_guard *guarded, bool clear, struct signals *signals);

#endif
