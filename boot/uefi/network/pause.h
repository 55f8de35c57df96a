/*
 * Waits with a time limit, which the firmware's timer measures. If the timer has stopped, a maximum number of polls,
 * called turns, ends the wait.
 */
#ifndef BARETICK_PAUSE_H
#define BARETICK_PAUSE_H

#include "uefi/firmware/uefi.h"

struct pause {
	EFI_EVENT over;
	unsigned turns; /* number of remaining turns */
};


/*
 * Starts a pause of MS milliseconds. If the firmware cannot create a timer event, returns false, and pause_end() is not
 * needed.
 */
bool pause_begin(struct pause *pause, unsigned ms);
bool pause_is_over(const struct pause *pause);
bool pause_goes_on(struct pause *pause);            /* waits for one turn; returns false when the time is over */
void pause_end(struct pause *pause);

#endif
