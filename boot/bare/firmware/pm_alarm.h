/* Lets alarms use the PM timer as their clock. */
#ifndef BARETICK_PM_ALARM_H
#define BARETICK_PM_ALARM_H

#include <stdint.h>

/*
 * Sets the PM timer's I/O PORT and the MASK of its width. Call this before alarm_set(), which otherwise sets no alarm.
 */
void pm_alarm_use(uint16_t port, uint32_t mask);

#endif
