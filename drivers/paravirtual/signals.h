/* Reads the signals that a hypervisor offers. See clock/signals.h. */
#ifndef BARETICK_READ_SIGNALS_H
#define BARETICK_READ_SIGNALS_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "clock/signals.h"

struct signal_places {
	const struct paravirtual *paravirtual;
	/* Physical addresses by ACPI, 0 if there is none: the VM Generation ID, and vmclock's page. */
	uint64_t vmgenid, vmclock;
};

/*
 * Fills SIGNALS, without `changed`. kvm-clock's flag is a signal only while its page is in use. CLEAR clears the flag,
 * because a hypervisor sets it and only the guest clears it. Reads one MSR under GUARDED.
 */
void signals_read(const struct signal_places *places, fault_guard *guarded, bool clear, struct signals *signals);

#endif
