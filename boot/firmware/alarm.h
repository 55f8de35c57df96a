/*
 * A deadline that does not depend on the TSC, because the TSC may stop. boot/uefi/firmware measures it with a timer
 * event of the firmware, boot/bare/firmware with the PM timer.
 */
#ifndef BARETICK_ALARM_H
#define BARETICK_ALARM_H

#include <stdbool.h>
#include <stdint.h>

struct alarm {
	void *event; /* NULL if the alarm is not set, or if there is no timer for it */
};

/* Sets the alarm to ring after NS. Replaces an earlier setting. */
void alarm_set(struct alarm *alarm, uint64_t ns);

/* Returns true if the alarm's time is over. With UEFI, only the first call after that returns true. */
bool alarm_has_expired(struct alarm *alarm);

void alarm_cancel(struct alarm *alarm);

#endif
