/* Waits that end: by the firmware's timer, and where that is dead by the number of turns. */
#ifndef BARETICK_PAUSE_H
#define BARETICK_PAUSE_H

#include "uefi/firmware/uefi.h"

struct pause {
	EFI_EVENT over;
	unsigned turns; /* that are left */
};

bool pause_begin(struct pause *pause, unsigned ms); /* false: the firmware has no event, and nothing is held */
bool pause_is_over(const struct pause *pause);
bool pause_goes_on(struct pause *pause);            /* waits for one turn; returns false when the time is over */
void pause_end(struct pause *pause);

#endif
