/* The table of devices with checks. */
#include "checks/checks.h"

#include "clocks/drivers.h"

/*
 * Hypervisors' pages are checked first, because this takes only milliseconds. The checks of devices may use up all the
 * time if each access exits to the hypervisor.
 */
const struct device_check device_checks[] = {
	{ .driver = &kvmclock_driver, .run = pvclock_check },
	{ .driver = &hv_page_driver, .run = hv_page_check },
	{ .driver = &xen_driver, .run = pvclock_check },
	{ .driver = &hpet_driver, .run = hpet_check, .sets_counter = true },
	{ .driver = &acpi_pm_driver, .run = acpi_pm_check, .sets_counter = true },
	{ .driver = &pit_driver, .run = pit_check, .sets_counter = true },
	{ .driver = &rtc_driver, .run = rtc_check, .needs_seconds = true },
	{ .driver = NULL },
};
