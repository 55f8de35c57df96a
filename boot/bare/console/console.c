/*
 * Implements the console with a single serial line: a 16550, or Xen's console in a guest without a 16550. See
 * console.h.
 */
#include "console/console.h"

#include "console/com.h"
#include "bare/console/serial_line.h"
#include "bare/console/xen_console.h"

static struct com com;
static struct xen_console xen;
static enum { NO_LINE, COM_LINE, XEN_LINE } used;

static void
open_port(struct console *console, uint16_t port)
{
	if (!com_open(&com, port))
		return;
	used = COM_LINE;
	serial_add_line(&console->serial, (struct serial_line){ com_write, &com });
}

void
console_open(struct console *console)
{
	*console = (struct console){ .screen = NULL };
	used = NO_LINE;
	open_port(console, COM1_PORT);
	if (used == NO_LINE && xen_console_open(&xen)) {
		used = XEN_LINE;
		serial_add_line(&console->serial, (struct serial_line){ xen_console_write, &xen });
	}
}

/* Uses the 16550 at PORT if console_open() found no serial line. */
void
console_add_port(struct console *console, uint16_t port)
{
	if (used == NO_LINE && port)
		open_port(console, port);
}

bool
serial_line_read_byte(uint8_t *byte)
{
	return used == XEN_LINE ? xen_console_read(&xen, byte) : used == COM_LINE && com_read(&com, byte);
}

void
serial_line_flush(void)
{
	if (used == COM_LINE)
		(void)com_flush(&com);
	else if (used == XEN_LINE)
		(void)xen_console_flush(&xen);
}

const char *
serial_line_get_name(void)
{
	return used == XEN_LINE ? "Xen's console" : "the serial line";
}

void
console_print(struct console *console, const char *text)
{
	serial_print(&console->serial, text);
}

void
console_print_screen(struct console *, const char *)
{
}

void
console_close(struct console *)
{
}

void
console_draw_cells(struct console *, size_t, const char *, const uint8_t *)
{
}

void
console_draw_row(struct console *, size_t, enum text_ink, const char *)
{
}
