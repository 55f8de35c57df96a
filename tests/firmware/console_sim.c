/*
 * Simulated displays, serial lines and keyboard. See console_sim.h. The device path of a device is
 * PciRoot(0)/Pci(CARD,0). For a serial line, a UART node follows, and in the variable ConOut also a terminal node.
 */
#include "console_sim.h"

#include <string.h>

#define PATH_MAX_BYTES 64
#define HANDLES_MAX    8
#define STROKES_MAX    4

int console_sim_mode;

static struct display_sim console;
static uint8_t paths[HANDLES_MAX][PATH_MAX_BYTES], con_out[HANDLES_MAX * PATH_MAX_BYTES];
static size_t path_count, con_out_size;
static bool has_variable;
static struct stroke { CHAR16 key; unsigned after; } strokes[STROKES_MAX];
static size_t stroke_count, stroke_next;

static EFI_STATUS EFIAPI
print_text(SIMPLE_TEXT_OUTPUT_INTERFACE *this, CHAR16 *text)
{
	while (*text++)
		((struct display_sim *)this)->written++;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
query_mode(SIMPLE_TEXT_OUTPUT_INTERFACE *this, UINTN mode, UINTN *columns, UINTN *rows)
{
	*columns = mode ? 100 : 80;
	*rows = mode ? 31 : 25;
	return mode > 1 ? EFI_UNSUPPORTED : EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_mode(SIMPLE_TEXT_OUTPUT_INTERFACE *this, UINTN mode)
{
	this->Mode->Mode = (INT32)mode;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_attribute(SIMPLE_TEXT_OUTPUT_INTERFACE *this, UINTN attribute)
{
	this->Mode->Attribute = (INT32)attribute;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
clear_screen(SIMPLE_TEXT_OUTPUT_INTERFACE *this)
{
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_cursor(SIMPLE_TEXT_OUTPUT_INTERFACE *this, UINTN column, UINTN row)
{
	this->Mode->CursorColumn = (INT32)column;
	this->Mode->CursorRow = (INT32)row;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
enable_cursor(SIMPLE_TEXT_OUTPUT_INTERFACE *this, BOOLEAN visible)
{
	this->Mode->CursorVisible = visible;
	return EFI_SUCCESS;
}

static void
make_display(struct display_sim *display)
{
	*display = (struct display_sim){ .interface = {
		.OutputString = print_text, .QueryMode = query_mode, .SetMode = set_mode, .SetAttribute = set_attribute,
		.ClearScreen = clear_screen, .SetCursorPosition = set_cursor, .EnableCursor = enable_cursor,
	} };
	display->mode.MaxMode = 2;
	display->interface.Mode = &display->mode;
}

static EFI_STATUS EFIAPI
write_line(SERIAL_IO_INTERFACE *this, UINTN *size, void *bytes)
{
	struct line_sim *line = (struct line_sim *)this;

	if (*size > line->takes || line->length + *size >= CONSOLE_SIM_SAID)
		return EFI_TIMEOUT;
	memcpy(line->said + line->length, bytes, *size);
	line->length += *size;
	line->takes -= *size;
	return EFI_SUCCESS;
}

/* Writes a device path's node to TO. Returns the address of the next node. */
static uint8_t *
put_path_node(uint8_t *to, uint8_t type, uint8_t subtype, const void *data, size_t size)
{
	to[0] = type;
	to[1] = subtype;
	to[2] = (uint8_t)(size + 4);
	to[3] = 0;
	memcpy(to + 4, data, size);
	return to + 4 + size;
}

/*
 * Writes the device path of a device. BAUD may differ from the baud rate in ConOut, as after a change of the firmware's
 * set-up.
 */
static uint8_t *
put_device_path(uint8_t *to, unsigned card, bool serial, uint8_t baud)
{
	const uint8_t root[8] = { 0xd0, 0x41, 0x03, 0x0a }, pci[2] = { 0, (uint8_t)card };
	const uint8_t uart[15] = { 0, 0, 0, 0, baud };

	to = put_path_node(to, 2, 1, root, sizeof(root));
	to = put_path_node(to, 1, 1, pci, sizeof(pci));
	return serial ? put_path_node(to, 3, 14, uart, sizeof(uart)) : to;
}

static EFI_HANDLE
make_handle(unsigned card, bool serial, bool on_console)
{
	static const EFI_GUID guid_path = DEVICE_PATH_PROTOCOL;
	const uint8_t terminal[16] = { 0x65 };
	EFI_HANDLE handle = firmware_sim_handle();
	uint8_t *to;

	put_path_node(put_device_path(paths[path_count], card, serial, 1), 0x7f, 0xff, "", 0);
	firmware_sim_install_protocol(handle, &guid_path, paths[path_count++]);
	if (!on_console)
		return handle;
	if (con_out_size)
		/* makes the previous path's end node the end of an instance (subtype 1): another path follows */
		con_out[con_out_size - 3] = 1;
	to = put_device_path(con_out + con_out_size, card, serial, 2);
	if (serial)
		to = put_path_node(to, 3, 10, terminal, sizeof(terminal));
	to = put_path_node(to, 0x7f, 0xff, "", 0);
	con_out_size = (size_t)(to - con_out);
	return handle;
}

EFI_HANDLE
console_sim_display(struct display_sim *display, unsigned card, bool on_console)
{
	static int graphics;
	EFI_HANDLE handle = make_handle(card, false, on_console);

	make_display(display);
	firmware_sim_install_protocol(handle, &guid_graphics_output, &graphics);
	firmware_sim_install_protocol(handle, &guid_text_output, display);
	return handle;
}

EFI_HANDLE
console_sim_line(struct line_sim *line, unsigned card, bool on_console)
{
	EFI_HANDLE handle = make_handle(card, true, on_console);

	memset(line, 0, sizeof(*line));
	line->interface.Write = write_line;
	line->takes = CONSOLE_SIM_SAID;
	firmware_sim_install_protocol(handle, &guid_serial_io, line);
	return handle;
}

static EFI_STATUS EFIAPI
get_variable(CHAR16 *name, EFI_GUID *guid, UINT32 *attributes, UINTN *size, void *data)
{
	char ascii[16];

	firmware_convert_to_ascii(name, ascii, sizeof(ascii));
	if (!has_variable || strcmp(ascii, "ConOut") != 0)
		return EFI_NOT_FOUND;
	if (*size < con_out_size)
		return EFI_BUFFER_TOO_SMALL;
	memcpy(data, con_out, con_out_size);
	*size = con_out_size;
	return EFI_SUCCESS;
}

size_t
console_sim_shorten_con_out_variable(size_t by)
{
	con_out_size -= by;
	return con_out_size;
}

void
console_sim_remove_con_out_variable(void)
{
	has_variable = false;
}

static EFI_STATUS EFIAPI
read_next_key(SIMPLE_INPUT_INTERFACE *this, EFI_INPUT_KEY *key)
{
	if (stroke_next == stroke_count || strokes[stroke_next].after-- > 0)
		return EFI_NOT_READY;
	*key = (EFI_INPUT_KEY){ .UnicodeChar = strokes[stroke_next++].key };
	return EFI_SUCCESS;
}

void
console_sim_press_key(CHAR16 key, unsigned after)
{
	strokes[stroke_count++] = (struct stroke){ key, after };
}

struct control {
	EFI_STATUS (EFIAPI *get)(struct control *, int *, BOOLEAN *, BOOLEAN *);
	EFI_STATUS (EFIAPI *set)(struct control *, int);
};

static EFI_STATUS EFIAPI
get_console_mode(struct control *this, int *mode, BOOLEAN *uga, BOOLEAN *locked)
{
	*mode = console_sim_mode;
	*uga = *locked = FALSE;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_console_mode(struct control *this, int mode)
{
	console_sim_mode = mode;
	return EFI_SUCCESS;
}

void
console_sim_start_in_graphics(void)
{
	static const EFI_GUID guid = { 0xf42f7782, 0x012e, 0x4c12, { 0x99, 0x56, 0x49, 0xf9, 0x43, 0x04, 0xf7, 0x21 } };
	static struct control control = { get_console_mode, set_console_mode };

	console_sim_mode = 1;
	firmware_sim_install_protocol(firmware_sim_handle(), &guid, &control);
}

static EFI_STATUS EFIAPI
create_event(UINT32 type, EFI_TPL tpl, EFI_EVENT_NOTIFY notify, void *context, EFI_EVENT *event)
{
	*event = event;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_timer(EFI_EVENT event, EFI_TIMER_DELAY type, UINT64 time)
{
	return EFI_SUCCESS;
}

/* Replaces CloseEvent and CheckEvent, and does nothing. Therefore each timer seems to have expired. */
static EFI_STATUS EFIAPI
return_success(EFI_EVENT event)
{
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
wait_for_event(UINTN count, EFI_EVENT *events, UINTN *index)
{
	return EFI_SUCCESS;
}

struct display_sim *
console_sim_open(void)
{
	static SIMPLE_INPUT_INTERFACE input = { .ReadKeyStroke = read_next_key };

	make_display(&console);
	path_count = con_out_size = 0;
	has_variable = true;
	stroke_count = stroke_next = 0;
	firmware_system->ConOut = &console.interface;
	firmware_system->ConsoleOutHandle = firmware_sim_handle();
	firmware_system->ConIn = &input;
	firmware_system->RuntimeServices->GetVariable = get_variable;
	firmware_boot->CreateEvent = create_event;
	firmware_boot->SetTimer = set_timer;
	firmware_boot->CheckEvent = firmware_boot->CloseEvent = return_success;
	firmware_boot->WaitForEvent = wait_for_event;
	return &console;
}
