/* Draws changed rows, and waits for keys. See pager.h. */
#include "uefi/console/pager.h"

#include "console/keys.h"
#include "firmware/firmware.h"

#define KEYS_AT_ONCE 64 /* maximum number of keys between two drawings; a held key must not delay the drawing */
#define PRINT_COLUMNS 100 /* maximum width of the printed page in columns, so that it has one pane */
#define PROMPT_LINES 4    /* number of lines that a shell prints after baretick has ended */
#define WAITING           "Waiting for a key: P powers off, R restarts\n"
#define WAITING_OR_SHELL  "Waiting for a key: P powers off, R restarts, Q returns to the shell\n"
/*
 * Bytes of the buffer for each byte of a document. Each of two panes needs a byte for the character and a byte for its
 * colour. Wrapped lines may need twice as much.
 */
#define BUFFER_PER_BYTE 8

static bool
is_row_shown(const struct pager *pager, size_t index, const struct screen_row *row)
{
	size_t columns = pager->console->columns;

	return pager->shown && __builtin_memcmp(pager->shown[index].bytes, row->bytes, columns) == 0 &&
	       __builtin_memcmp(pager->shown[index].inks, row->inks, columns) == 0;
}

/* Draws the rows that changed. The screen is not cleared before, so that it does not flicker. */
static void
draw_changed_rows(struct pager *pager)
{
	struct screen_row row;

	for (size_t i = 0; i < pager->console->rows; i++) {
		screen_render_row(&pager->screen, i, &row);
		if (is_row_shown(pager, i, &row))
			continue;
		console_draw_cells(pager->console, i, row.bytes, row.inks);
		if (pager->shown)
			pager->shown[i] = row;
	}
}

static void
show_first_page(struct pager *pager, struct console *console)
{
	struct screen *screen = &pager->screen;

	/* Discards keys that were pressed before the first page was shown. They cannot be meant for this page. */
	if (!pager->console)
		keys_discard_all();
	pager->console = console;
	screen->version = VERSION;
	screen->columns = console->columns;
	screen->rows = console->rows;
	screen_open(screen);
	if (!pager->shown && console->rows)
		pager->shown = firmware_allocate(console->rows * sizeof(pager->shown[0]));
	draw_changed_rows(pager);
}

void
pager_show_report(struct pager *pager, struct console *console, const struct report *report, const char *saved,
		  struct text buffer)
{
	text_format(pager->saved, sizeof(pager->saved), "%s%s", saved, pager->patience ? " " PAGER_ALONE : "");
	pager->screen = (struct screen){
		.report = report, .saved = pager->saved, .buffer = buffer.bytes, .buffer_size = buffer.size
	};
	show_first_page(pager, console);
}

void
pager_set_saved_sentence(struct pager *pager, const char *saved)
{
	text_copy(pager->saved, sizeof(pager->saved), saved);
	screen_open(&pager->screen);
	draw_changed_rows(pager);
}

void
pager_show_document(struct pager *pager, struct console *console, const char *title, const char *document)
{
	size_t size = BUFFER_PER_BYTE * (text_length(document) + 1);

	firmware_free(pager->document_bytes);
	pager->document_bytes = firmware_allocate(size);
	pager->screen = (struct screen){
		.title = title, .document = document,
		.buffer = pager->document_bytes ? pager->document_bytes : pager->scrap,
		.buffer_size = pager->document_bytes ? size : sizeof(pager->scrap),
	};
	show_first_page(pager, console);
}

static enum screen_action
handle_keys(struct pager *pager)
{
	enum screen_action action = SCREEN_STAY;
	size_t count = 0;
	unsigned key;

	for (; count < KEYS_AT_ONCE && action == SCREEN_STAY && keys_read_next(&key); count++) {
		action = screen_handle_key(&pager->screen, key);
		pager->patience = 0; /* a key shows that a person is present, so the wait becomes unlimited */
	}
	if (count)
		draw_changed_rows(pager);
	return action;
}

bool
pager_run_last_callback(struct pager *pager)
{
	void (*last)(void *context) = pager->last;

	pager->last = NULL;
	if (last)
		last(pager->last_context);
	return last != NULL;
}

static void
print_wait_prompt(struct pager *pager, bool can_quit)
{
	struct serial *serial = &pager->console->serial;

	serial_print(serial, can_quit ? WAITING_OR_SHELL : WAITING);
	if (pager->patience)
		serial_print(serial, PAGER_ALONE "\n");
}

enum options_exit
pager_wait_for_exit(struct pager *pager, bool can_quit)
{
	static const enum options_exit exits[] = {
		[SCREEN_RESTART] = EXIT_REBOOT, [SCREEN_POWER_OFF] = EXIT_POWEROFF, [SCREEN_QUIT] = EXIT_RETURN,
	};
	enum screen_action action;
	struct keys keys;
	bool announced = false;
	unsigned waits = 0;

	pager->screen.can_quit = can_quit;
	keys_open(&keys);
	draw_changed_rows(pager);
	while ((action = handle_keys(pager)) == SCREEN_STAY) {
		if (pager->patience && waits > pager->patience) {
			action = SCREEN_RESTART;
			break;
		}
		if (serial_send_next_chunk(&pager->console->serial) || pager_run_last_callback(pager))
			continue;
		/* Without this prompt, a reader of the serial line would think that the machine hangs. */
		if (!announced)
			print_wait_prompt(pager, can_quit);
		announced = true;
		keys_wait_for_key(&keys);
		waits++;
	}
	serial_drop_queue(&pager->console->serial);
	keys_close(&keys);
	return exits[action];
}

/* Cuts TEXT after its first LINES lines. */
static void
cut_after_lines(char *text, size_t lines)
{
	while (*text && (*text != '\n' || --lines))
		text++;
	if (*text)
		text[1] = '\0';
}

void
pager_close(struct pager *pager)
{
	struct screen *screen = &pager->screen;
	size_t lines = pager->console->rows; /* number of rows in the mode that console_close() restored */

	screen->columns = pager->console->columns < PRINT_COLUMNS ? pager->console->columns : PRINT_COLUMNS;
	screen_open(screen);
	if (lines > PROMPT_LINES)
		/* A longer text would scroll the verdict, which is its first line, off the screen. */
		cut_after_lines(screen->left.text.bytes, lines - PROMPT_LINES);
	console_print_screen(pager->console, screen->left.text.bytes);
	firmware_free(pager->shown);
	firmware_free(pager->document_bytes);
	pager->shown = NULL;
	pager->document_bytes = NULL;
}
