/* The table of sources. See timers.h. */
#include "timers.h"

const struct timer_driver *const timer_drivers[] = { &timer_lapic, &timer_hpet, NULL };
