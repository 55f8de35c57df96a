/*
 * The firmware's timer tick (PI 1.7, volume 2, 12.13: EFI_TIMER_ARCH_PROTOCOL). While it is stopped, no timer event
 * occurs: time-outs of the firmware's drivers do not end, and no key is read.
 */
#ifndef BARETICK_TICK_H
#define BARETICK_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick {
	uint64_t period_100ns; /* the tick's period, saved when tick_set_stopped() or tick_pause() stopped it; else 0 */
};

/*
 * Stops the tick, unless it is stopped already. tick_set_stopped(TICK, false) restarts it. Returns false if the
 * firmware lacks EFI_TIMER_ARCH_PROTOCOL, or if the protocol returns an error.
 */
bool tick_pause(struct tick *tick);

/*
 * Stops the tick if STOPPED is true, otherwise restarts it with the saved period. Returns false if nothing was changed.
 * Reasons are that the tick already was in this state, that the firmware lacks EFI_TIMER_ARCH_PROTOCOL, or that the
 * protocol returned an error.
 */
bool tick_set_stopped(struct tick *tick, bool stopped);

/* Returns the period of the firmware's tick in ns, or 0 if the firmware does not state it. */
uint64_t tick_get_period_ns(void);

/*
 * Returns true if a timer event's callback is called within BOUND ticks of TSC. Returns false if not, or if no event
 * can be created.
 */
bool tick_is_alive(uint64_t (*tsc)(void), uint64_t bound);

#endif
