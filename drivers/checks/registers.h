/* Reads the device registers that a run may change. They are compared before and after a run: see as_found.h. */
#ifndef BARETICK_REGISTERS_H
#define BARETICK_REGISTERS_H

#include "clock/as_found.h"
#include "clock/fault.h"
#include "clocks/platform.h"

/*
 * Empties REGISTERS, and adds the HPET's configuration, port 61h (its writable bits), the mode of PIT channel 2, RTC
 * registers A and B, and both PIC masks. Also adds the hypervisor's clock MSRs. They are read under GUARDED, which
 * catches exceptions; an MSR that faults is left out. The RTC's index is 0Dh afterwards, and its NMI bit is kept, as in
 * rtc.c.
 */
void registers_read(struct as_found *registers, const struct platform *platform, fault_guard *guarded);

#endif
