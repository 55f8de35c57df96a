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
	char said[CONSOLE_SIM_SAID]; /* the printed text, cut at this size, and a final 0 */
	size_t length;
	/* number of bytes that the line accepts from now on; a Write that is longer fails */
	size_t takes;
};

/*
 * Creates the firmware's console without a device, and discards the pressed keys. Must be called after
 * firmware_sim_reset().
 */
struct display_sim *console_sim_open(void);

/*
 * Makes the handle of a display or a serial line, whose device path has CARD as its PCI device number. If ON_CONSOLE
 * is true, the variable ConOut lists the device.
 */
EFI_HANDLE console_sim_display(struct display_sim *display, unsigned card, bool on_console);
EFI_HANDLE console_sim_line(struct line_sim *line, unsigned card, bool on_console);

/* Cuts BY bytes off the end of the variable ConOut. Returns its remaining size in bytes. */
size_t console_sim_shorten_con_out_variable(size_t by);

/* Removes the variable ConOut. */
void console_sim_remove_con_out_variable(void);

/*
 * Presses KEY as soon as the keyboard was polled AFTER times since the previous key. A test can press at most 4 keys.
 */
void console_sim_press_key(CHAR16 key, unsigned after);

/* Gives the firmware EFI's console control protocol, in graphics mode. console_sim_mode is the present mode. */
void console_sim_start_in_graphics(void);
extern int console_sim_mode;

#endif
