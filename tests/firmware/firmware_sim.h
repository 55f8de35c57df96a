/*
 * A firmware for boot/ to call, on the host: handles with interfaces, memory, events; a volume, screens and serial
 * lines of which each can fail in the ways that firmware is known to. One at a time: firmware_sim_reset() makes it
 * anew.
 */
#ifndef BARETICK_FIRMWARE_SIM_H
#define BARETICK_FIRMWARE_SIM_H

#include "uefi/firmware/uefi.h"

/* As firmware that has just started: a system table without handles, variables or keys; no screen, no volume. */
void firmware_sim_reset(void);

/* A handle, on which an interface can be found by GUID; the same handle may have several. */
EFI_HANDLE firmware_sim_handle(void);
void firmware_sim_install(EFI_HANDLE handle, const EFI_GUID *guid, void *interface);

/*
 * Pages below 4 GiB that are taken and not given back, each full of rubbish at first; how many of those taken are
 * reserved memory; how many AllocatePages may still give.
 */
extern size_t firmware_sim_low_taken, firmware_sim_low_reserved, firmware_sim_low_left;

#endif
