/*
 * A simulated firmware for the tests of boot/ on the host: handles with interfaces, memory, events, a volume, screens
 * and serial lines. Each can fail in a way that the test sets. A test program has one simulated firmware.
 */
#ifndef BARETICK_FIRMWARE_SIM_H
#define BARETICK_FIRMWARE_SIM_H

#include "uefi/firmware/uefi.h"

/* Resets the firmware to a system table without handles, variables, keys, screen and volume. */
void firmware_sim_reset(void);

/*
 * Makes a handle. firmware_sim_install_protocol() adds an interface to a handle, which can then be found by the
 * interface's GUID. A handle may have several interfaces.
 */
EFI_HANDLE firmware_sim_handle(void);
void firmware_sim_install_protocol(EFI_HANDLE handle, const EFI_GUID *guid, void *interface);

/*
 * Sets the variable NAME to the SIZE bytes at DATA, which must stay valid. After console_sim_open(), GetVariable does
 * not find NAME, because the console replaces GetVariable.
 */
void firmware_sim_set_variable(const char *name, const void *data, size_t size);

/*
 * Pages below 4 GiB. low_taken: number of allocated pages. low_reserved: number of pages allocated as
 * EfiReservedMemoryType. low_left: largest number of pages that one call of AllocatePages can allocate.
 */
extern size_t firmware_sim_low_taken, firmware_sim_low_reserved, firmware_sim_low_left;

/* State of the events. */
struct firmware_sim_events {
	unsigned open;           /* number of events that were created and not closed */
	unsigned checks;         /* calls of CheckEvent since SetTimer */
	unsigned expires_after;  /* number of these calls after which a timer has expired */
	EFI_EVENT_NOTIFY notify; /* function of the event that was created last */
	void *argument;          /* argument of this function */
};

extern struct firmware_sim_events firmware_sim_events;

/*
 * Installs CreateEvent() to Stall(). A timer event has expired after EXPIRES_AFTER calls of CheckEvent(). Each timer is
 * the event FIRMWARE_SIM_TIMER. Any other event is a second event. Stall() returns at once.
 */
void firmware_sim_offer_events(unsigned expires_after);
#define FIRMWARE_SIM_TIMER ((EFI_EVENT)&firmware_sim_events)

#endif
