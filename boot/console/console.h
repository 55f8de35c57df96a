/*
 * The screen for a person and the serial lines for programs. boot/uefi/console implements it with UEFI's protocols,
 * boot/bare/console for a machine with serial lines only. With UEFI the screen is the firmware's console, which is on
 * all displays. If the console also goes over serial lines, the screen is the text output of one of its displays. If
 * the console goes over serial lines only, the screen is the text output of any display. All text is ASCII. Without
 * screen and serial lines nothing is written.
 */
#ifndef BARETICK_CONSOLE_H
#define BARETICK_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "console/serial.h"

#define CONSOLE_COLUMNS_MAX 172 /* the widest mode that is chosen; smaller letters are hard to read */
#define CONSOLE_LINE        128 /* size of one line with its final 0 */

struct console {
	void *screen;       /* private to the boot; NULL if there is no screen */
	size_t columns, rows;
	int32_t found_mode, found_attribute; /* mode and attribute to restore */
	bool found_cursor;                   /* is shown */
	bool shared;        /* text on the screen also goes over serial lines */
	bool was_graphics;  /* the firmware's console was not in its text mode */
	struct serial serial;
};

/*
 * Finds both, clears the screen in the largest of its modes that people can still read, switches the firmware's
 * watchdog off.
 */
void console_open(struct console *console);

/*
 * Takes a 16550 that answers if there is no serial line so far: at PORT, which ACPI names, else COM1. PORT is 0 if ACPI
 * names no port. With UEFI a port that the firmware's console writes to is not taken, because it has the screen's text.
 * Called before serial_speak().
 */
void console_take_port(struct console *console, uint16_t port);

/* TEXT to the screen and the serial lines; newlines are \n. */
void console_put(struct console *console, const char *text);
void console_screen(struct console *console, const char *text);
void console_serial(struct console *console, const char *text);

/* The screen's mode, colours and cursor as they were found, and nothing on it. */
void console_close(struct console *console);

/*
 * Writes over row ROW what BYTES say in INKS, COLUMNS of them. All but the last cell of the last row: to write there
 * would scroll the screen.
 */
void console_cells(struct console *console, size_t row, const char *bytes, const uint8_t *inks);

/* Likewise TEXT in INK, clipped and padded to the row; the cursor's place is kept. */
void console_row(struct console *console, size_t row, enum text_ink ink, const char *text);

#endif
