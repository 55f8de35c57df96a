/* Simulated displays, serial lines and a keyboard, and the firmware's console that uses them. */
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
	char said[CONSOLE_SIM_SAID]; /* the text that was printed, cut at this size, and a final 0 */
	size_t length;
	size_t takes;                /* number of bytes that the line still accepts; a longer Write fails */
};

/* Creates ConOut without a device, and clears the keys. Must be called after firmware_sim_reset(). */
struct display_sim *console_sim_open(void);

/*
 * Makes the handle of a display or a serial line. Its device path has card number CARD. If ON_CONSOLE is true, ConOut
 * lists the device.
 */
EFI_HANDLE console_sim_display(struct display_sim *display, unsigned card, bool on_console);
EFI_HANDLE console_sim_line(struct line_sim *line, unsigned card, bool on_console);

/* Cuts BY bytes off the variable ConOut. Returns the remaining number of bytes. */
size_t console_sim_shorten(size_t by);

/* Removes the variable ConOut. */
void console_sim_forget(void);

/* Presses KEY when the keyboard was polled AFTER times since the previous key. A test can press at most 4 keys. */
void console_sim_press(CHAR16 key, unsigned after);

/* Gives the firmware the console control protocol, in graphics mode. console_sim_mode is the present mode. */
void console_sim_graphics(void);
extern int console_sim_mode;

#endif
