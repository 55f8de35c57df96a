/* Finds serial lines: UEFI's lines (EFI_SERIAL_IO_PROTOCOL), or else a port without a driver in the firmware. */
#ifndef BARETICK_LINES_H
#define BARETICK_LINES_H

#include "console/serial.h"
#include "uefi/console/parts.h"

/*
 * Adds to SERIAL the lines that are parts of the firmware's console according to PARTS. If no line is a part of it,
 * adds the first line.
 */
void lines_open(struct serial *serial, const struct parts *parts);

/*
 * Adds the 16550 at PORT to SERIAL. Call it only if SERIAL has no line. Returns false and restores the port if no 16550
 * answers there, if its loop-back mode does not work, or if the firmware's console writes to it.
 */
bool lines_add_port(struct serial *serial, uint16_t port);

/* Restores the registers of the port that was added. */
void lines_close(void);

#endif
