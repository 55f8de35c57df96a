/* The table of all clock drivers. Reports list the clocks in this order. */
#include "clocks/drivers.h"

const struct driver *const drivers[] = {
	&tsc_driver, &hpet_driver, &acpi_pm_driver, &pit_driver, &rtc_driver, &kvmclock_driver, &hv_ref_driver,
	&hv_page_driver, &xen_driver, &null_driver, NULL,
};
