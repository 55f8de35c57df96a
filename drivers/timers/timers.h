/* The sources of timer interrupts, in the order in which people see them. */
#ifndef BARETICK_TIMERS_H
#define BARETICK_TIMERS_H

#include "timer.h"

extern const struct timer_driver timer_lapic, timer_hpet;
extern const struct timer_driver *const timer_drivers[]; /* ends with NULL */

#endif
