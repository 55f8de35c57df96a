/* The PM timer as the clock of alarms. */
#ifndef BARETICK_PM_ALARM_H
#define BARETICK_PM_ALARM_H

#include <stdint.h>

/* Before an alarm is set: the timer's PORT, and MASK of its width. Without this call no alarm rings. */
void pm_alarm_use(uint16_t port, uint32_t mask);

#endif
