/* The registers of the devices that a run may touch: see as_found.h. */
#ifndef BARETICK_REGISTERS_H
#define BARETICK_REGISTERS_H

#include "clock/as_found.h"
#include "clock/fault.h"
#include "clocks/platform.h"

/*
 * Reads the devices' registers: HPET configuration, port 61h (its writable bits), the mode of PIT channel 2,
 * RTC A and B, both PIC masks. Leaves the RTC's index at 0Dh and its NMI bit as it reads, as rtc.c does. REGISTERS is
 * emptied first. Hypervisors' MSRs are read under GUARDED; one that takes an exception is left out.
 */
void registers_read(struct as_found *registers, const struct platform *platform, fault_guard *guarded);

#endif
