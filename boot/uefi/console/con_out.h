/*
 * The devices of the firmware's console: screens and serial terminals. The variable ConOut lists their device paths
 * (UEFI 2.10, 3.3: "the device path of the active output console").
 */
#ifndef BARETICK_CON_OUT_H
#define BARETICK_CON_OUT_H

#include "uefi/firmware/uefi.h"

struct con_out {
	uint8_t *paths;   /* all device paths of ConOut, one after the other; NULL if ConOut cannot be read */
	size_t size;
	bool has_serial;  /* true if a path contains a serial line */
	bool has_screen;  /* true if a path contains no serial line */
};

void con_out_read(struct con_out *con_out);
void con_out_free(struct con_out *con_out);

/* Returns true if DEVICE, or a device that is attached to it, is a part of the console. */
bool con_out_contains_device(const struct con_out *con_out, EFI_HANDLE device);

#endif
