/*
 * A child of one of the firmware's network services, an event for its tokens, and waits that end: by the firmware's
 * timer, and where that is dead by the number of turns.
 */
#ifndef BARETICK_CHILD_H
#define BARETICK_CHILD_H

#include "protocols.h"

struct pause { /* a wait with a bound */
	EFI_EVENT over;
	unsigned turns; /* that are left */
};

bool pause_begin(struct pause *pause, unsigned ms); /* false: the firmware has no event, and nothing is held */
bool pause_is_over(const struct pause *pause);
bool pause_goes_on(struct pause *pause);            /* a turn later; false: the time is over */
void pause_end(struct pause *pause);

struct child {
	struct service_binding *binding;
	EFI_HANDLE handle;
	EFI_EVENT event; /* for one token at a time */
};

/* The protocol GUID of a new child of HANDLE's service; NULL, and nothing is held: there is none. */
void *child_open(struct child *child, EFI_HANDLE handle, const EFI_GUID *service, const EFI_GUID *guid);

/* After whatever ends the tokens that are under way. */
void child_close(struct child *child);

/* Until the child's event is signalled; POLL of INTERFACE is what moves its packets. False: not within MS. */
bool child_wait(struct child *child, EFI_STATUS (EFIAPI *poll)(void *interface), void *interface, unsigned ms);

#endif
