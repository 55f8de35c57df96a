/* Reset, power-off, return, QEMU's exit device, or the reader's key. See leave.h. */
#include "leave.h"

#include "hw.h"
#include "text.h"

#define DEBUG_EXIT_PORT 0x501 /* QEMU isa-debug-exit at iobase=0x501; written only when told to */
#define GONE_US         1000000 /* a machine that was told to go has gone by then */
#define KEY_UP          0x101u
#define KEY_DOWN        0x102u
#define KEY_HOME        0x105u
#define KEY_PAGE_UP     0x109u
#define KEY_PAGE_DOWN   0x10au
#define KEY_ESCAPE      0x117u

enum leave_result
leave_result_of(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_PASS:
	case VERDICT_WARN:
		return LEAVE_PASS;
	case VERDICT_FAIL:
		return LEAVE_FAIL;
	default:
		return LEAVE_INCOMPLETE;
	}
}

static void
reset(EFI_RESET_TYPE type)
{
	firmware_system->RuntimeServices->ResetSystem(type, EFI_SUCCESS, 0, NULL);
	firmware_boot->Stall(GONE_US);
}

/* The start of line FIRST + COUNT of TEXT when TEXT is at line FIRST; its end where there are fewer. */
static const char *
skip_lines(const char *text, size_t count)
{
	while (count > 0 && *text)
		if (*text++ == '\n')
			count--;
	return text;
}

static size_t
count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void
show_page(struct console *console, const char *text, const char *status, size_t line, size_t rows,
	  bool can_return)
{
	char bytes[CONSOLE_LINE];
	struct text bar;
	const char *at = skip_lines(text, line);

	console_clear(console);
	for (size_t row = 0; row < rows && *at; row++) {
		size_t used = 0;

		for (; *at && *at != '\n'; at++)
			if (used + 1 < sizeof(bytes))
				bytes[used++] = *at;
		at += *at == '\n';
		bytes[used] = '\0';
		console_row(console, row, bytes);
	}
	text_init(&bar, bytes, sizeof(bytes));
	text_printf(&bar, " Line %zu of %zu   [Space] next   [B] back   [R] restart   [P] power off%s",
		    line + 1, count_lines(text), can_return ? "   [Q] quit" : "");
	console_row(console, rows, bytes);
	if (status[0])
		console_row(console, rows + 1, status);
}

/* Lets the reader page until a way out is chosen. Without a screen or a keyboard it waits, as was asked for. */
static enum options_exit
ask(struct console *console, bool can_return, const char *text, const char *status)
{
	size_t rows = console->rows > 2 ? console->rows - 2 : 1;
	size_t lines = count_lines(text), line = 0;

	for (;;) {
		show_page(console, text, status, line, rows, can_return);
		switch (console_key()) {
		case 'r': case 'R':
			return EXIT_REBOOT;
		case 'p': case 'P':
			return EXIT_POWEROFF;
		case 'q': case 'Q': case KEY_ESCAPE:
			if (can_return)
				return EXIT_RETURN;
			break;
		case 'b': case 'B': case KEY_PAGE_UP:
			line = line > rows ? line - rows : 0;
			break;
		case KEY_UP:
			line -= line > 0;
			break;
		case KEY_DOWN:
			line += line + 1 < lines;
			break;
		case KEY_HOME:
			line = 0;
			break;
		case ' ': case '\r': case KEY_PAGE_DOWN:
			line = line + rows < lines ? line + rows : line;
			break;
		default:
			break;
		}
	}
}

void
leave(struct console *console, enum options_exit how, enum leave_result result, bool can_return,
      const char *pages, const char *status)
{
	if (how == EXIT_ASK)
		how = ask(console, can_return, pages, status);
	if (how == EXIT_DEBUG) {
		hw_out8(DEBUG_EXIT_PORT, result);
		firmware_boot->Stall(GONE_US);
		console_put(console, "exit=debug-exit: no exit device at port 501h; powering off.\n");
	}
	if (how == EXIT_RETURN && can_return)
		return;
	if (how == EXIT_RETURN)
		how = EXIT_REBOOT;
	if (how != EXIT_REBOOT)
		reset(EfiResetShutdown);
	reset(EfiResetCold);
	reset(EfiResetWarm);
	console_put(console, "The firmware does not reset this machine: switch it off by hand.\n");
	for (;;)
		firmware_boot->Stall(GONE_US);
}
