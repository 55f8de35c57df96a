/*
 * A deadline that the firmware's timer measures, for a machine whose TSC stops. boot/uefi/firmware and
 * boot/bare/firmware implement it.
 */
#ifndef BARETICK_ALARM_H
#define BARETICK_ALARM_H

#include <stdbool.h>
#include <stdint.h>

struct alarm {
	void *event; /* NULL if the alarm is not set, or if there is no such timer */
};

/* Sets the alarm to ring after NS. Replaces an earlier setting. */
void alarm_set(struct alarm *alarm, uint64_t ns);

/* Returns true if the alarm has rung since the last call. */
bool alarm_rang(struct alarm *alarm);

void alarm_end(struct alarm *alarm);

#endif
