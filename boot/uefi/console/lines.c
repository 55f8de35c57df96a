/* Serial lines by the firmware's Serial I/O protocol. See lines.h. */
#include "uefi/console/lines.h"

static bool
write_line(void *device, const char *bytes, size_t size)
{
	SERIAL_IO_INTERFACE *line = device;
	UINTN written = size;

	return !EFI_ERROR(line->Write(line, &written, (void *)bytes)) && written == size;
}

static void
add(struct serial *serial, SERIAL_IO_INTERFACE *line)
{
	serial_add(serial, (struct serial_line){ write_line, line });
}

void
lines_open(struct serial *serial, const struct parts *parts)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_serial_io, &count);
	SERIAL_IO_INTERFACE *first = NULL;

	*serial = (struct serial){ .count = 0 };
	for (size_t i = 0; i < count; i++) {
		SERIAL_IO_INTERFACE *line = firmware_protocol(handles[i], &guid_serial_io);

		if (!first)
			first = line;
		if (line && parts_have(parts, handles[i]))
			add(serial, line);
	}
	if (first && !serial->count)
		add(serial, first);
	firmware_free(handles);
}
