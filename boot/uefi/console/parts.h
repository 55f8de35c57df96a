/*
 * The devices of the firmware's console: screens and serial terminals. The variable ConOut lists their device paths
 * (UEFI 2.10, 3.3: "the device path of the active output console").
 */
#ifndef BARETICK_PARTS_H
#define BARETICK_PARTS_H

#include "uefi/firmware/uefi.h"

struct parts {
	uint8_t *paths;   /* all device paths of ConOut, one after the other; NULL if ConOut cannot be read */
	size_t size;
	bool has_serial;  /* true if a path contains a serial line */
	bool has_screen;  /* true if a path contains no serial line */
};

void parts_read_con_out(struct parts *parts);
void parts_free(struct parts *parts);

/* Returns true if DEVICE, or a device that is attached to it, is a part of the console. */
bool parts_contain_device(const struct parts *parts, EFI_HANDLE device);

#endif
