/* The table of interrupt sources. See timers.h. */
#include "timers/timers.h"

const struct timer_driver *const timer_drivers[] = {
	&timer_self, &timer_lapic, &timer_deadline, &timer_hyperv, &timer_xen,
	&timer_hpet[0], &timer_hpet[1], &timer_hpet[2], &timer_hpet[3], &timer_hpet[4], &timer_hpet[5], &timer_hpet[6],
	&timer_hpet[7], &timer_hpet[8], &timer_hpet[9],
	&timer_pit[0], &timer_pit[1], &timer_rtc[0], &timer_rtc[1], &timer_rtc[2], &timer_rtc[3],
	&timer_acpi_pm[0], &timer_acpi_pm[1], NULL,
};
