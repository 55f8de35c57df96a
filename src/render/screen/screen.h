/*
 * The report on a screen: pages, the effect of keys, and each row with its colours. Does not access a screen or
 * a keyboard: the caller shows the rows and passes the keys in. Every row is plain ASCII, and no information is
 * in colour alone.
 */
#ifndef BARETICK_SCREEN_H
#define BARETICK_SCREEN_H

#include "base/text.h"
#include "report/report.h"

#define SCREEN_COLUMNS_MAX 320 /* maximum number of columns that are used; the rest of a wider screen stays empty */

/*
 * Size in bytes that is enough for any page. The longest is a clock's page, which lists durations of reads: up to
 * 600 KB of text, and 600 KB for its colours.
 */
#define SCREEN_BUFFER_SIZE ((size_t)4 << 20)

enum screen_page {
	SCREEN_SUMMARY,
	SCREEN_HISTOGRAMS,
	SCREEN_CLOCK, /* one page for each clock */
	SCREEN_CORES,
	SCREEN_FINDINGS,
	SCREEN_ABOUT,
	SCREEN_TIMERS,
	SCREEN_PAGES
};

/* added to the scan code of a key without a character, so that no sum is a character: these have 16 bits in UEFI */
#define SCREEN_KEY_SCAN 0x10000

/* Keys without a character, by UEFI's scan codes (UEFI 2.10, table 12.4). Any other key's code is its character. */
enum screen_key {
	SCREEN_KEY_UP = SCREEN_KEY_SCAN + 0x01,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_HOME,
	SCREEN_KEY_END,
	SCREEN_KEY_PAGE_UP = SCREEN_KEY_SCAN + 0x09,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_ESCAPE = SCREEN_KEY_SCAN + 0x17,
};

/* The action that the caller must take after a key. */
enum screen_action { SCREEN_STAY, SCREEN_RESTART, SCREEN_POWER_OFF, SCREEN_QUIT };

struct screen_pane { /* the left or the right half of a page */
	struct text text;
	size_t lines; /* number of all lines of the pane */
	size_t top;   /* offset in the text of the first visible line */
};

struct screen {
	/* The caller sets the following fields. */
	const char *version;
	/* a report after judge_report(); if NULL, only the text DOCUMENT is shown, with the heading TITLE */
	const struct report *report;
	const char *title, *document;
	const char *saved;           /* a sentence: the place of the saved report, or the reason why it was not saved */
	/* true if the user can quit, because another program started this program and continues after it */
	bool can_quit;
	size_t columns, rows;
	char *buffer;                /* memory for the text of a page and its colours */
	size_t buffer_size;          /* at least 4 bytes; with SCREEN_BUFFER_SIZE bytes, no page is cut off */

	/* screen_open() and screen_handle_key() set the following fields. */
	enum screen_page page;
	size_t clock;                /* index in the report of the clock that SCREEN_CLOCK shows */
	size_t lines, line;          /* number of lines of the page, and index of the first visible line */
	struct screen_pane left, right;
	size_t right_column;         /* column at which the right pane starts; 0 if there is none */
};

struct screen_row {
	/*
	 * the row, padded with blanks to the number of columns; its characters and their colours are in the arrays
	 * below
	 */
	struct text text;
	char bytes[SCREEN_COLUMNS_MAX + 1];
	uint8_t inks[SCREEN_COLUMNS_MAX + 1];
};

/* Makes SCREEN show the start of the first page. */
void screen_open(struct screen *screen);

/* Performs the function of KEY. Returns what the caller must do. */
enum screen_action screen_handle_key(struct screen *screen, unsigned key);

/* Renders row INDEX of the screen in its present state: the title, a line of the page, or the bar of keys. */
void screen_render_row(const struct screen *screen, size_t index, struct screen_row *row);

#endif
