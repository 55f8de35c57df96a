/*
 * A firmware for boot/ on the host: handles with interfaces, memory, events, a volume, screens and serial lines.
 * Each can fail in known ways. There is only one firmware, which firmware_sim_reset() resets.
 */
#ifndef BARETICK_FIRMWARE_SIM_H
#define BARETICK_FIRMWARE_SIM_H

#include "uefi/firmware/uefi.h"

/* Resets the firmware: a system table without handles, variables and keys, no screen, no volume. */
void firmware_sim_reset(void);

/* A handle, on which an interface can be found by GUID; the same handle may have several. */
EFI_HANDLE firmware_sim_handle(void);
void firmware_sim_install(EFI_HANDLE handle, const EFI_GUID *guid, void *interface);

/* Sets the variable NAME to the SIZE bytes at DATA, which stay the caller's. console_sim_open() hides them. */
void firmware_sim_variable(const char *name, const void *data, size_t size);

/* The time until the firmware resets the machine, or 0 if its watchdog is off. An application is started with 300 s. */
extern UINTN firmware_sim_watchdog_s;

/*
 * The number of allocated pages below 4 GiB (filled with rubbish at first), the number of reserved ones among them, and
 * the number that AllocatePages may still give.
 */
extern size_t firmware_sim_low_taken, firmware_sim_low_reserved, firmware_sim_low_left;

#endif
