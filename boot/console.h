/*
 * Where a person and a program read along: the screen, and the serial lines. The screen is the firmware's
 * text output on a graphics device; where there is none and no serial line either, its console. Everything
 * is ASCII; a machine may have neither, and then nothing is written.
 */
#ifndef BARETICK_CONSOLE_H
#define BARETICK_CONSOLE_H

#include "firmware.h"

#define CONSOLE_SERIALS_MAX 4
#define CONSOLE_LINE        80

struct console {
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen; /* NULL: none */
	size_t columns, rows;
	SERIAL_IO_INTERFACE *serials[CONSOLE_SERIALS_MAX]; /* one that no longer takes bytes is dropped */
	size_t serial_count;
};

/* Finds both, clears the screen in its 80x25 mode, switches the firmware's watchdog off. */
void console_open(struct console *console);

/* TEXT to the screen and the serial lines; newlines are \n. */
void console_put(struct console *console, const char *text);
void console_screen(struct console *console, const char *text);
void console_serial(struct console *console, const char *text);

/* The cursor back on, for whoever uses the screen next. */
void console_close(struct console *console);

void console_clear(struct console *console);
/* Writes TEXT over row ROW, clipped and padded to 79 columns; the cursor's place is kept. */
void console_row(struct console *console, size_t row, const char *text);

/* The next key (its Unicode character, or 0x100 + scan code), waited for without end: for a person only. */
unsigned console_key(void);

#endif
