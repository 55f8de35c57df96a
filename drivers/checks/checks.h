/* The one table of the devices' checks, and how each device looks. */
#ifndef BARETICK_CHECKS_H
#define BARETICK_CHECKS_H

#include "clock/driver.h"

/* In the order in which they are played; ends with a NULL driver. */
extern const struct device_check device_checks[];

/* A look of struct device_check each. */
void pvclock_check(const struct checking *checking, struct behaviours *behaviours);
void hv_page_check(const struct checking *checking, struct behaviours *behaviours);
void hpet_check(const struct checking *checking, struct behaviours *behaviours);
void acpi_pm_check(const struct checking *checking, struct behaviours *behaviours);
void pit_check(const struct checking *checking, struct behaviours *behaviours);
void rtc_check(const struct checking *checking, struct behaviours *behaviours);

#endif
