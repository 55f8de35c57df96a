/* Finds serial lines with the firmware's Serial I/O protocol. See serial_lines.h. */
#include "uefi/console/serial_lines.h"

#include "console/com.h"

static struct com added_port;
static bool has_added_port;

static bool
write_to_firmware_serial_line(void *device, const char *bytes, size_t size)
{
	SERIAL_IO_INTERFACE *line = device;
	UINTN written = size;

	return !EFI_ERROR(line->Write(line, &written, (void *)bytes)) && written == size;
}

static void
add_firmware_serial_line(struct serial *serial, SERIAL_IO_INTERFACE *line)
{
	serial_add_line(serial, (struct serial_line){ write_to_firmware_serial_line, line });
}

void
serial_lines_open(struct serial *serial, const struct con_out *con_out)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_serial_io, &count);
	SERIAL_IO_INTERFACE *first = NULL;

	*serial = (struct serial){ .count = 0 };
	for (size_t i = 0; i < count; i++) {
		SERIAL_IO_INTERFACE *line = firmware_find_protocol(handles[i], &guid_serial_io);

		if (!first)
			first = line;
		if (line && con_out_contains_device(con_out, handles[i]))
			add_firmware_serial_line(serial, line);
	}
	if (first && !serial->count)
		add_firmware_serial_line(serial, first);
	firmware_free(handles);
}

/*
 * Returns true if the firmware's console writes to COM, which is in loop-back mode. Tests this with a carriage return,
 * which only moves the cursor of the console's other devices.
 */
static bool
is_written_by_firmware(const struct com *com)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = firmware_system->ConOut;

	return screen && !EFI_ERROR(screen->OutputString(screen, (CHAR16 *)L"\r")) && com_wait_for_received_byte(com);
}

/*
 * Returns true if COM works, and the firmware's console does not write to it. Tests both in loop-back mode, in which no
 * byte leaves the port.
 */
static bool
is_port_usable(struct com *com)
{
	com_set_loopback(com, true);
	bool usable = com_write(com, "\r", 1) && com_wait_for_received_byte(com) && !is_written_by_firmware(com);

	com_set_loopback(com, false);
	return usable;
}

bool
serial_lines_add_port(struct serial *serial, uint16_t port)
{
	if (!com_open(&added_port, port))
		return false;
	has_added_port = is_port_usable(&added_port);
	if (has_added_port)
		serial_add_line(serial, (struct serial_line){ com_write, &added_port });
	else
		com_close(&added_port);
	return has_added_port;
}

void
serial_lines_close(void)
{
	if (has_added_port)
		com_close(&added_port);
	has_added_port = false;
}
