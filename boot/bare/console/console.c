/* Implements the console with a serial line only. See console.h. */
#include "console/console.h"

#include "console/com.h"
#include "bare/console/com1.h"

static struct com com1;
static bool is_open;

static void
open_port(struct console *console, uint16_t port)
{
	is_open = com_open(&com1, port);
	if (is_open)
		serial_add(&console->serial, (struct serial_line){ com_write, &com1 });
}

void
console_open(struct console *console)
{
	*console = (struct console){ .screen = NULL };
	open_port(console, COM1_PORT);
}

/* Uses PORT if COM1 did not answer in console_open(). */
void
console_take_port(struct console *console, uint16_t port)
{
	if (!is_open && port)
		open_port(console, port);
}

bool
com1_read(uint8_t *byte)
{
	return is_open && com_read(&com1, byte);
}

void
com1_drain(void)
{
	if (is_open)
		(void)com_drain(&com1);
}

void
console_put(struct console *console, const char *text)
{
	serial_put(&console->serial, text);
}

void
console_serial(struct console *console, const char *text)
{
	serial_put(&console->serial, text);
}

void
console_screen(struct console *console, const char *text)
{
	(void)console;
	(void)text;
}

void
console_close(struct console *console)
{
	(void)console;
}

void
console_cells(struct console *console, size_t row, const char *bytes, const uint8_t *inks)
{
	(void)console;
	(void)row;
	(void)bytes;
	(void)inks;
}

void
console_row(struct console *console, size_t row, enum text_ink ink, const char *text)
{
	(void)console;
	(void)row;
	(void)ink;
	(void)text;
}
