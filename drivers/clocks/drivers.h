/* The table of all clock drivers. */
#ifndef BARETICK_DRIVERS_H
#define BARETICK_DRIVERS_H

#include "clock/driver.h"

/* All drivers, in the order in which reports list the clocks. Ends with NULL. */
extern const struct driver *const drivers[];

/* Sets IDS, which has MAX + 1 elements, to the ids of the first MAX clocks of all drivers, followed by NULL. */
void drivers_list_clock_ids(const char **ids, size_t max);

extern const struct driver tsc_driver, hpet_driver, acpi_pm_driver, pit_driver, rtc_driver, kvmclock_driver,
	hv_ref_driver, hv_page_driver, xen_driver, null_driver;

#endif
