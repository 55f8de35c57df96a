/*
 * Finds serial lines: the firmware's lines (EFI_SERIAL_IO_PROTOCOL), or else a port for which the firmware has no
 * driver.
 */
#ifndef BARETICK_SERIAL_LINES_H
#define BARETICK_SERIAL_LINES_H

#include "console/serial.h"
#include "uefi/console/con_out.h"

/*
 * Adds to SERIAL the lines that belong to the firmware's console according to CON_OUT. If no line belongs to the
 * console, adds the firmware's first line.
 */
void serial_lines_open(struct serial *serial, const struct con_out *con_out);

/*
 * Adds the 16550 at PORT to SERIAL. Call it only if SERIAL has no line. Returns false and restores the port if no 16550
 * answers there, if its loop-back mode does not work, or if the firmware's console writes to it.
 */
bool serial_lines_add_port(struct serial *serial, uint16_t port);

/* Restores the registers of the port that was added. */
void serial_lines_close(void);

#endif
