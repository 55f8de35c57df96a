/* Displays, serial lines and a keyboard, and the console that a firmware makes of them. */
#ifndef BARETICK_CONSOLE_SIM_H
#define BARETICK_CONSOLE_SIM_H

#include "firmware_sim.h"

#define CONSOLE_SIM_SAID 65536

struct display_sim {
	SIMPLE_TEXT_OUTPUT_INTERFACE interface;
	SIMPLE_TEXT_OUTPUT_MODE mode;
	size_t written; /* characters */
};

struct line_sim {
	SERIAL_IO_INTERFACE interface;
	char said[CONSOLE_SIM_SAID]; /* as much as fits, and a 0 */
	size_t length;
	size_t takes;                /* bytes; then each Write fails */
};

/* ConOut, on no device yet, and no key: to be called behind firmware_sim_reset(). */
struct display_sim *console_sim_open(void);

/* Makes the handle of a display or line at the device path of CARD, a number. ON_CONSOLE: ConOut lists it. */
EFI_HANDLE console_sim_display(struct display_sim *display, unsigned card, bool on_console);
EFI_HANDLE console_sim_line(struct line_sim *line, unsigned card, bool on_console);

/* The variable ConOut has so many bytes less; how many it has. */
size_t console_sim_shorten(size_t by);

/* The variable ConOut is not there at all. */
void console_sim_forget(void);

/* KEY is pressed once the keyboard was asked so often after the key before it; at most 4 keys a test. */
void console_sim_press(CHAR16 key, unsigned after);

/* The firmware has the console control protocol and is in its graphics mode; what it is in now. */
void console_sim_graphics(void);
extern int console_sim_mode;

#endif
