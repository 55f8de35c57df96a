/*
 * What the firmware's console consists of: screens, serial terminals, each by its device path, as the variable
 * ConOut has them (UEFI 2.10, 3.3: "the device path of the active output console").
 */
#ifndef BARETICK_PARTS_H
#define BARETICK_PARTS_H

#include "uefi/firmware/uefi.h"

struct parts {
	uint8_t *paths;   /* one behind the other; NULL: not known */
	size_t size;
	bool has_serial;  /* one of them leads over a serial line, */
	bool has_screen;  /* one does not */
};

void parts_open(struct parts *parts);
void parts_close(struct parts *parts);

/* Whether DEVICE, or something on it, is one of them. */
bool parts_have(const struct parts *parts, EFI_HANDLE device);

#endif
