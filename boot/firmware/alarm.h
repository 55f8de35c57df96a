/*
 * A deadline by the firmware's timer, for a machine whose TSC stops. boot/uefi/firmware and boot/bare/firmware
 * implement it.
 */
#ifndef BARETICK_ALARM_H
#define BARETICK_ALARM_H

#include <stdbool.h>
#include <stdint.h>

struct alarm {
	void *event; /* NULL: not set, or there is no such timer */
};

/* Rings in NS, and no longer when it was set to before. */
void alarm_set(struct alarm *alarm, uint64_t ns);

/* Whether it has rung since the last call. */
bool alarm_rang(struct alarm *alarm);

void alarm_end(struct alarm *alarm);

#endif
