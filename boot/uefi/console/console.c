/* Implements screen and serial lines with the firmware's protocols. See console.h. */
#include "console/console.h"

#include "console/com.h"
#include "uefi/console/serial_lines.h"
#include "uefi/firmware/uefi.h"

#define SCREEN_CHUNK 128
#define FIRST_ROW    2   /* row below the title, where console_print_screen() starts */
#define MODES_MAX    64  /* maximum number of text modes that are examined */
#define ROWS_MAX     64
#define COLUMNS_0    80  /* UEFI 2.10, 12.4.1: mode 0 has 80x25 characters, and every screen has it */
#define ROWS_0       25

/* GUID of EFI_CONSOLE_CONTROL_PROTOCOL, from Intel's framework before UEFI. EDK II no longer has this protocol. */
static const EFI_GUID guid_console_control = { 0xf42f7782, 0x012e, 0x4c12,
	{ 0x99, 0x56, 0x49, 0xf9, 0x43, 0x04, 0xf7, 0x21 } };

enum { CONTROL_TEXT, CONTROL_GRAPHICS };

struct console_control {
	EFI_STATUS (EFIAPI *GetMode)(struct console_control *this, int *mode, BOOLEAN *uga_exists, BOOLEAN *input_locked);
	EFI_STATUS (EFIAPI *SetMode)(struct console_control *this, int mode);
	EFI_STATUS (EFIAPI *LockStdIn)(struct console_control *this, CHAR16 *password);
};

static const UINTN attributes[INKS] = {
	[INK_PLAIN] = EFI_TEXT_ATTR(EFI_LIGHTGRAY, EFI_BLACK),
	[INK_PASS] = EFI_TEXT_ATTR(EFI_LIGHTGREEN, EFI_BLACK),
	[INK_WARN] = EFI_TEXT_ATTR(EFI_YELLOW, EFI_BLACK),
	[INK_FAIL] = EFI_TEXT_ATTR(EFI_LIGHTRED, EFI_BLACK),
	[INK_DIM] = EFI_TEXT_ATTR(EFI_CYAN, EFI_BLACK),
	[INK_HEADING] = EFI_TEXT_ATTR(EFI_WHITE, EFI_BLACK),
	[INK_BAR] = EFI_TEXT_ATTR(EFI_BLACK, EFI_LIGHTGRAY),
	[INK_BAR_HERE] = EFI_TEXT_ATTR(EFI_WHITE, EFI_BLUE),
	[INK_BAR_PASS] = EFI_TEXT_ATTR(EFI_WHITE, EFI_GREEN),
	[INK_BAR_WARN] = EFI_TEXT_ATTR(EFI_WHITE, EFI_BROWN),
	[INK_BAR_FAIL] = EFI_TEXT_ATTR(EFI_WHITE, EFI_RED),
};

/* Returns the largest mode with at most CONSOLE_COLUMNS_MAX columns and ROWS_MAX rows, or mode 0 if there is none. */
static UINTN
find_best_text_mode(SIMPLE_TEXT_OUTPUT_INTERFACE *screen)
{
	UINTN best = 0, cells = 0;

	for (INT32 i = 0; i < screen->Mode->MaxMode && i < MODES_MAX; i++) {
		UINTN columns, rows;

		if (EFI_ERROR(screen->QueryMode(screen, (UINTN)i, &columns, &rows)) || columns > CONSOLE_COLUMNS_MAX ||
		    rows > ROWS_MAX || columns < COLUMNS_0 || rows < ROWS_0 || columns * rows <= cells)
			continue;
		best = (UINTN)i;
		cells = columns * rows;
	}
	return best;
}

/*
 * Sets the largest mode. If the screen's text also goes over serial lines, sets mode 0 (80x25) instead, because a
 * terminal at the other end may not be larger.
 */
static void
set_best_text_mode(struct console *console)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = console->screen;
	UINTN mode = console->shared ? 0 : find_best_text_mode(screen), columns = 0, rows = 0;

	if (EFI_ERROR(screen->SetMode(screen, mode)) ||
	    EFI_ERROR(screen->QueryMode(screen, mode, &columns, &rows)) || !columns || !rows) {
		screen->SetMode(screen, 0);
		columns = COLUMNS_0;
		rows = ROWS_0;
	}
	console->columns = columns < CONSOLE_COLUMNS_MAX ? columns : CONSOLE_COLUMNS_MAX;
	console->rows = rows;
}

/*
 * Returns the text output of a graphics device, or NULL if no graphics device has its own text output. If CON_OUT is
 * not NULL, the device must be in CON_OUT. Sets COUNT to the number of graphics devices.
 */
static SIMPLE_TEXT_OUTPUT_INTERFACE *
find_text_output(const struct con_out *con_out, size_t *count)
{
	EFI_HANDLE *handles = firmware_handles(&guid_graphics_output, count);
	SIMPLE_TEXT_OUTPUT_INTERFACE *output = NULL;

	for (size_t i = 0; i < *count && !output; i++)
		if (handles[i] != firmware_system->ConsoleOutHandle &&
		    (!con_out || con_out_contains_device(con_out, handles[i])))
			output = firmware_find_protocol(handles[i], &guid_text_output);
	if (handles)
		firmware_boot->FreePool(handles);
	return output;
}

/*
 * Chooses the text output that pages are drawn on. Pages on a serial line would disturb programs that read the line.
 * Therefore a console that includes serial lines is chosen only if the display has no text output of its own. If the
 * console's devices are not known, each serial line counts as one of them.
 */
static void
find_screen(struct console *console, const struct con_out *con_out)
{
	size_t graphics;
	SIMPLE_TEXT_OUTPUT_INTERFACE *own = find_text_output(con_out->has_screen ? con_out : NULL, &graphics);
	bool known = con_out->paths != NULL, displayed = known ? con_out->has_screen : graphics > 0;

	console->shared = known ? con_out->has_serial : console->serial.count > 0;
	if (console->shared && own) {
		console->screen = own;
		console->shared = false;
	} else if (!console->shared || displayed || !console->serial.count) {
		console->screen = firmware_system->ConOut;
	}
}

/*
 * Switches the display to text. Some firmware (Apple, older Aptio) starts applications in graphics mode, which hides
 * text.
 */
static void
switch_to_text_mode(struct console *console)
{
	struct console_control *control = firmware_find_protocol(NULL, &guid_console_control);
	BOOLEAN uga, locked;
	int mode = CONTROL_TEXT;

	if (!control || EFI_ERROR(control->GetMode(control, &mode, &uga, &locked)) || mode == CONTROL_TEXT)
		return;
	console->was_graphics = !EFI_ERROR(control->SetMode(control, CONTROL_TEXT));
}

static void
open_screen(struct console *console)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = console->screen;
	switch_to_text_mode(console);
	console->saved_mode = screen->Mode->Mode;
	console->saved_attribute = screen->Mode->Attribute;
	console->saved_cursor = screen->Mode->CursorVisible;
	set_best_text_mode(console);
	screen->EnableCursor(screen, FALSE);
	screen->SetAttribute(screen, attributes[INK_PLAIN]);
	screen->ClearScreen(screen);
	screen->SetCursorPosition(screen, 0, FIRST_ROW);
}

void
console_open(struct console *console)
{
	struct con_out con_out;

	*console = (struct console){ .screen = NULL };
	con_out_read(&con_out);
	serial_lines_open(&console->serial, &con_out);
	find_screen(console, &con_out);
	con_out_free(&con_out);
	if (console->screen)
		open_screen(console);
}

void
console_add_port(struct console *console, uint16_t port)
{
	if (console->serial.count || (port && serial_lines_add_port(&console->serial, port)) || port == COM1_PORT)
		return;
	(void)serial_lines_add_port(&console->serial, COM1_PORT);
}

void
console_print_screen(struct console *console, const char *text)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = console->screen;
	CHAR16 wide[SCREEN_CHUNK + 2];
	size_t used = 0;

	if (!screen)
		return;
	for (;; text++) {
		if (*text == '\0' || used >= SCREEN_CHUNK - 1) {
			wide[used] = 0;
			screen->OutputString(screen, wide);
			used = 0;
		}
		if (*text == '\0')
			return;
		if (*text == '\n')
			wide[used++] = '\r';
		wide[used++] = (unsigned char)*text;
	}
}

void
console_print(struct console *console, const char *text)
{
	console_print_screen(console, text);
	console_print_serial(console, text);
}

static void
switch_to_graphics_mode(void)
{
	struct console_control *control = firmware_find_protocol(NULL, &guid_console_control);

	if (control)
		control->SetMode(control, CONTROL_GRAPHICS);
}

void
console_close(struct console *console)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = console->screen;
	UINTN mode = (UINTN)console->saved_mode, columns, rows;

	serial_lines_close();
	if (!screen)
		return;
	screen->SetAttribute(screen, (UINTN)console->saved_attribute);
	bool is_back = !EFI_ERROR(screen->SetMode(screen, mode)); /* SetMode() also clears the screen */

	if (!is_back)
		screen->ClearScreen(screen);
	screen->EnableCursor(screen, console->saved_cursor);
	if (console->was_graphics)
		switch_to_graphics_mode();
	if (!is_back || EFI_ERROR(screen->QueryMode(screen, mode, &columns, &rows)))
		return;
	console->columns = columns;
	console->rows = rows;
}

/*
 * Writes the next characters that have the same colour as the first, as many as one call can write. Returns their
 * number.
 */
static size_t
write_cells_of_one_colour(SIMPLE_TEXT_OUTPUT_INTERFACE *screen, const char *bytes, const uint8_t *inks, size_t columns)
{
	CHAR16 wide[SCREEN_CHUNK + 1];
	size_t length = 0;

	while (length < columns && length < SCREEN_CHUNK && inks[length] == inks[0]) {
		wide[length] = (unsigned char)bytes[length];
		length++;
	}
	wide[length] = 0;
	screen->SetAttribute(screen, attributes[inks[0]]);
	screen->OutputString(screen, wide);
	return length;
}

void
console_draw_cells(struct console *console, size_t row, const char *bytes, const uint8_t *inks)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = console->screen;
	size_t columns = console->columns;

	if (!screen || !columns)
		return;
	columns -= row + 1 == console->rows;
	screen->SetCursorPosition(screen, 0, row);
	for (size_t i = 0; i < columns;)
		i += write_cells_of_one_colour(screen, bytes + i, inks + i, columns - i);
	screen->SetAttribute(screen, attributes[INK_PLAIN]);
}

void
console_draw_row(struct console *console, size_t row, enum text_ink ink, const char *text)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *screen = console->screen;
	char bytes[CONSOLE_COLUMNS_MAX];
	uint8_t inks[CONSOLE_COLUMNS_MAX];

	if (!screen || row >= console->rows)
		return;
	for (size_t i = 0; i < console->columns; i++) {
		bytes[i] = *text ? *text++ : ' ';
		inks[i] = (uint8_t)ink;
	}

	INT32 column = screen->Mode->CursorColumn, back = screen->Mode->CursorRow;

	console_draw_cells(console, row, bytes, inks);
	screen->SetCursorPosition(screen, (UINTN)column, (UINTN)back);
}
