/* The table of all clock drivers. Reports list the clocks in this order. */
#include "clocks/drivers.h"

const struct driver *const drivers[] = {
	&tsc_driver, &hpet_driver, &acpi_pm_driver, &pit_driver, &rtc_driver, &kvmclock_driver, &hv_ref_driver,
	&hv_page_driver, &xen_driver, &null_driver, NULL,
};

void
drivers_list_clock_ids(const char **ids, size_t max)
{
	size_t count = 0;

	for (size_t d = 0; drivers[d]; d++)
		for (size_t i = 0; i < drivers[d]->clock_count && count < max; i++)
			ids[count++] = drivers[d]->rows[i].id;
	ids[count] = NULL;
}
