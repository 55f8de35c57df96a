/* The table of devices with checks, and the function that checks each device. */
#ifndef BARETICK_CHECKS_H
#define BARETICK_CHECKS_H

#include "clock/as_found.h"
#include "clock/driver.h"
#include "clock/fault.h"
#include "clocks/platform.h"

/* The devices in the order in which they are checked. The table ends with a NULL driver. */
extern const struct device_check device_checks[];

/* Functions for the member RUN of struct device_check. */
void pvclock_check(const struct checking *checking, struct behaviours *behaviours);
void hv_page_check(const struct checking *checking, struct behaviours *behaviours);
void hpet_check(const struct checking *checking, struct behaviours *behaviours);
void acpi_pm_check(const struct checking *checking, struct behaviours *behaviours);
void pit_check(const struct checking *checking, struct behaviours *behaviours);
void rtc_check(const struct checking *checking, struct behaviours *behaviours);

/*
 * Fills REGISTERS with the HPET's configuration, the writable bits of port 61h, the mode of PIT channel 2, RTC
 * registers A and B, and both PIC masks. Adds the hypervisor's clock MSRs. MSRs are read under GUARDED, which catches
 * exceptions, and an MSR that faults is omitted. The RTC's index is 0Dh afterwards. Its NMI bit is not changed.
 */
void registers_read_from_clocks(struct as_found *registers, const struct platform *platform, fault_guard *guarded);

#endif
