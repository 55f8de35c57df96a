/* The table of devices with checks. */
#include "checks/checks.h"

#include "clocks/drivers.h"

/*
 * The pages of hypervisors come first, because their checks take only milliseconds. A device whose accesses exit to the
 * hypervisor may use up the time.
 */
const struct device_check device_checks[] = {
	{ .driver = &kvmclock_driver, .look = pvclock_check },
	{ .driver = &hv_page_driver, .look = hv_page_check },
	{ .driver = &xen_driver, .look = pvclock_check },
	{ .driver = &hpet_driver, .look = hpet_check, .sets_counter = true },
	{ .driver = &acpi_pm_driver, .look = acpi_pm_check, .sets_counter = true },
	{ .driver = &pit_driver, .look = pit_check, .sets_counter = true },
	{ .driver = &rtc_driver, .look = rtc_check, .needs_seconds = true },
	{ .driver = NULL },
};
