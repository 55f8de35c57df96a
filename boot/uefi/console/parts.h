/*
 * The parts of the firmware's console: screens and serial terminals. The variable ConOut lists their device paths
 * (UEFI 2.10, 3.3: "the device path of the active output console").
 */
#ifndef BARETICK_PARTS_H
#define BARETICK_PARTS_H

#include "uefi/firmware/uefi.h"

struct parts {
	uint8_t *paths;   /* ConOut: all paths in sequence, NULL if not known */
	size_t size;
	bool has_serial;  /* true if a path contains a serial line */
	bool has_screen;  /* true if a path contains no serial line */
};

void parts_open(struct parts *parts);
void parts_close(struct parts *parts);

/* Returns true if DEVICE, or a device on it, is a part of the console. */
bool parts_have(const struct parts *parts, EFI_HANDLE device);

#endif
