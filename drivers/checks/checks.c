/* The one table of the devices' checks. */
#include "checks.h"

const struct device_check device_checks[] = {
	{ .driver = "hpet", .look = hpet_check },
	{ .driver = "acpi_pm", .look = acpi_pm_check },
	{ .driver = "pit", .look = pit_check },
	{ .driver = "rtc", .look = rtc_check, .needs_seconds = true },
	{ .driver = NULL },
};
