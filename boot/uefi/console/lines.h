/* The serial lines that UEFI has: EFI_SERIAL_IO_PROTOCOL. */
#ifndef BARETICK_LINES_H
#define BARETICK_LINES_H

#include "console/serial.h"
#include "uefi/console/parts.h"

/* Makes SERIAL of the lines that are part of the firmware's console, by PARTS; where none is, of the first line. */
void lines_open(struct serial *serial, const struct parts *parts);

#endif
