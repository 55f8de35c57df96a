/* Screen and serial lines by the firmware's protocols. See console.h. */
#include "console.h"

#define SERIAL_CHUNK 64 /* bytes in one call: a line that is stuck costs one time-out, not one a byte */
#define SCREEN_CHUNK 128
#define KEY_SCAN     0x100u
#define KEY_POLL_US  20000

static void
find_screen(struct console *console)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_graphics_output, &count);

	for (size_t i = 0; i < count && !console->screen; i++)
		console->screen = handles[i] == firmware_system->ConsoleOutHandle ?
			NULL : firmware_protocol(handles[i], &guid_text_output);
	if (handles)
		firmware_boot->FreePool(handles);
	/* Where a graphics device has no text output of its own, the console is the way to it; without a graphics
	 * device the console would only say again what the serial lines say. */
	if (!console->screen && (count > 0 || !console->serial_count))
		console->screen = firmware_system->ConOut;
	if (!console->screen)
		return;

	UINTN columns = 80, rows = 25;

	console->screen->SetMode(console->screen, 0); /* UEFI 2.10, 12.4.3: mode 0 is 80x25 */
	console->screen->QueryMode(console->screen, 0, &columns, &rows);
	console->columns = columns;
	console->rows = rows;
	console->screen->EnableCursor(console->screen, FALSE);
	console->screen->ClearScreen(console->screen);
}

static void
find_serials(struct console *console)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_serial_io, &count);

	for (size_t i = 0; i < count && console->serial_count < CONSOLE_SERIALS_MAX; i++) {
		SERIAL_IO_INTERFACE *serial = firmware_protocol(handles[i], &guid_serial_io);

		if (serial)
			console->serials[console->serial_count++] = serial;
	}
	if (handles)
		firmware_boot->FreePool(handles);
}

void
console_open(struct console *console)
{
	*console = (struct console){ .screen = NULL };
	firmware_boot->SetWatchdogTimer(0, 0, 0, NULL);
	find_serials(console);
	find_screen(console);
}

void
console_screen(struct console *console, const char *text)
{
	CHAR16 wide[SCREEN_CHUNK + 2];
	size_t used = 0;

	if (!console->screen)
		return;
	for (;; text++) {
		if (*text == '\0' || used >= SCREEN_CHUNK - 1) {
			wide[used] = 0;
			console->screen->OutputString(console->screen, wide);
			used = 0;
		}
		if (*text == '\0')
			return;
		if (*text == '\n')
			wide[used++] = '\r';
		wide[used++] = (unsigned char)*text;
	}
}

/* Drops the line when it does not take all. */
static void
serial_write(struct console *console, size_t which, const char *bytes, UINTN size)
{
	SERIAL_IO_INTERFACE *serial = console->serials[which];
	UINTN written = size;

	if (!serial)
		return;
	if (EFI_ERROR(serial->Write(serial, &written, (void *)bytes)) || written != size)
		console->serials[which] = NULL;
}

void
console_serial(struct console *console, const char *text)
{
	char chunk[SERIAL_CHUNK];
	size_t used = 0;

	for (;; text++) {
		if (*text == '\0' || used >= SERIAL_CHUNK - 1) {
			for (size_t i = 0; used && i < console->serial_count; i++)
				serial_write(console, i, chunk, used);
			used = 0;
		}
		if (*text == '\0')
			return;
		if (*text == '\n')
			chunk[used++] = '\r';
		chunk[used++] = *text;
	}
}

void
console_put(struct console *console, const char *text)
{
	console_screen(console, text);
	console_serial(console, text);
}

void
console_close(struct console *console)
{
	if (console->screen)
		console->screen->EnableCursor(console->screen, TRUE);
}

void
console_clear(struct console *console)
{
	if (console->screen)
		console->screen->ClearScreen(console->screen);
}

void
console_row(struct console *console, size_t row, const char *text)
{
	char line[CONSOLE_LINE];
	size_t i = 0;

	if (!console->screen)
		return;
	for (; text[i] != '\0' && i < CONSOLE_LINE - 1; i++)
		line[i] = text[i];
	for (; i < CONSOLE_LINE - 1; i++)
		line[i] = ' ';
	line[i] = '\0';

	INT32 column = console->screen->Mode->CursorColumn, back = console->screen->Mode->CursorRow;

	console->screen->SetCursorPosition(console->screen, 0, row);
	console_screen(console, line);
	console->screen->SetCursorPosition(console->screen, (UINTN)column, (UINTN)back);
}

unsigned
console_key(void)
{
	SIMPLE_INPUT_INTERFACE *input = firmware_system->ConIn;
	EFI_INPUT_KEY key;

	for (;;) {
		if (input && !EFI_ERROR(input->ReadKeyStroke(input, &key)))
			return key.UnicodeChar ? key.UnicodeChar : KEY_SCAN + key.ScanCode;
		firmware_boot->Stall(KEY_POLL_US);
	}
}
