/*
 * The screen, which a person reads, and the serial lines, which programs read. boot/uefi/console implements them with
 * UEFI's protocols. boot/bare/console implements serial lines only.
 *
 * With UEFI the screen is usually the firmware's console, which appears on all displays. If the firmware's console also
 * uses serial lines, its text would disturb the programs that read them. In this case the screen is the text output of
 * one of the console's displays, or of any display if the console has none. All text is ASCII. Without screen and
 * serial lines nothing is written.
 */
#ifndef BARETICK_CONSOLE_H
#define BARETICK_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "console/serial.h"

#define CONSOLE_COLUMNS_MAX 172 /* number of columns of the widest mode that is chosen; wider modes are hard to read */
#define CONSOLE_LINE        128 /* size of one line with its final 0 */

struct console {
	void *screen;       /* owned by boot/uefi/console; NULL if there is no screen */
	size_t columns, rows;
	int32_t saved_mode, saved_attribute; /* text mode and colours before the run, which are restored */
	bool saved_cursor;                   /* true if the cursor was shown before the run */
	bool shared;        /* true if the screen's text also appears on serial lines */
	bool was_graphics;  /* true if the firmware's console was in graphics mode */
	struct serial serial;
};

/* Finds the screen and the serial lines. Clears the screen in the largest mode that people can still read. */
void console_open(struct console *console);

/*
 * If no serial line was found, uses the 16550 at PORT, or else at COM1. PORT comes from ACPI, and is 0 if ACPI names no
 * port. With UEFI a port that the firmware's console writes to is not used, because the screen's text goes there. Call
 * this before serial_enable().
 */
void console_add_port(struct console *console, uint16_t port);

/*
 * Write TEXT: the first function to the screen and the serial lines, the others to only one of them. Lines end
 * with \n.
 */
void console_print(struct console *console, const char *text);
void console_print_screen(struct console *console, const char *text);
static inline void
console_print_serial(struct console *console, const char *text)
{
	serial_print(&console->serial, text);
}

/* Restores the screen's mode, colours and cursor, and clears the screen. */
void console_close(struct console *console);

/*
 * Draws row ROW. BYTES are the row's console->columns characters, and INKS are their colours. Omits the last cell of
 * the last row, because writing there would scroll the screen.
 */
void console_draw_cells(struct console *console, size_t row, const char *bytes, const uint8_t *inks);

/* Draws TEXT in the colour INK as row ROW, cut or padded to the row's width. Keeps the cursor's position. */
void console_draw_row(struct console *console, size_t row, enum text_ink ink, const char *text);

#endif
