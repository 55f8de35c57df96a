/* The table of devices with checks, and the function that checks each device. */
#ifndef BARETICK_CHECKS_H
#define BARETICK_CHECKS_H

#include "clock/driver.h"

/* The devices in the order in which they are checked. The table ends with a NULL driver. */
extern const struct device_check device_checks[];

/* Each function is the "run" function of a struct device_check. */
void pvclock_check(const struct checking *checking, struct behaviours *behaviours);
void hv_page_check(const struct checking *checking, struct behaviours *behaviours);
void hpet_check(const struct checking *checking, struct behaviours *behaviours);
void acpi_pm_check(const struct checking *checking, struct behaviours *behaviours);
void pit_check(const struct checking *checking, struct behaviours *behaviours);
void rtc_check(const struct checking *checking, struct behaviours *behaviours);

#endif
