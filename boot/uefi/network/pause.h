/* Bounded waits. The firmware's timer measures the time. If it is dead, the number of turns bounds the wait. */
#ifndef BARETICK_PAUSE_H
#define BARETICK_PAUSE_H

#include "uefi/firmware/uefi.h"

struct pause {
	EFI_EVENT over;
	unsigned turns; /* remaining turns */
};


/* Starts a pause of MS. Returns false if the firmware cannot create a timer event; then pause_end() is not needed. */
bool pause_begin(struct pause *pause, unsigned ms);
bool pause_is_over(const struct pause *pause);
bool pause_goes_on(struct pause *pause);            /* waits for one turn; returns false when the time is over */
void pause_end(struct pause *pause);

#endif
