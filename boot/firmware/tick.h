/*
 * The firmware's timer tick (PI 1.7, volume 2, 12.13: EFI_TIMER_ARCH_PROTOCOL). While it is quiet no timer event
 * comes: no time-out of a driver of the firmware ends, and no key is read.
 */
#ifndef BARETICK_TICK_H
#define BARETICK_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick {
	uint64_t period_100ns; /* the saved period while the tick is stopped, otherwise 0 */
};

/*
 * Stops it for a moment, unless it is quiet already; tick_quiet(TICK, false) ends that. False: the firmware has no such
 * protocol or refuses.
 */
bool tick_pause(struct tick *tick);

/* Stops it, or lets it go on as found. False: nothing was changed, for the firmware has no such protocol or refuses. */
bool tick_quiet(struct tick *tick, bool quiet);

/* Whether a timer event's callback comes within BOUND of TSC's ticks. False, too, where no event can be had. */
bool tick_is_alive(uint64_t (*tsc)(void), uint64_t bound);

#endif
