/*
 * A firmware for boot/ on the host: handles with interfaces, memory, events, a volume, screens and serial lines.
 * Each can fail in known ways. There is only one firmware, which firmware_sim_reset() resets.
 */
#ifndef BARETICK_FIRMWARE_SIM_H
#define BARETICK_FIRMWARE_SIM_H

#include "uefi/firmware/uefi.h"

/* Resets the firmware: a system table without handles, variables and keys, no screen, no volume. */
void firmware_sim_reset(void);

/*
 * Makes a handle. firmware_sim_install() adds an interface to it, which can be found by its GUID. A handle may have
 * several interfaces.
 */
EFI_HANDLE firmware_sim_handle(void);
void firmware_sim_install(EFI_HANDLE handle, const EFI_GUID *guid, void *interface);

/*
 * Sets the variable NAME to the SIZE bytes at DATA, which the caller keeps. After console_sim_open() these variables
 * are hidden.
 */
void firmware_sim_variable(const char *name, const void *data, size_t size);

/*
 * Time in seconds until the firmware resets the machine; 0 if its watchdog is off. When an application starts, it is
 * 300 s.
 */
extern UINTN firmware_sim_watchdog_s;

/*
 * Number of allocated pages below 4 GiB, whose initial contents are random. Number of reserved pages among them. Number
 * of pages that AllocatePages can still allocate.
 */
extern size_t firmware_sim_low_taken, firmware_sim_low_reserved, firmware_sim_low_left;

#endif
