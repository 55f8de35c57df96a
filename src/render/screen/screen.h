/*
 * The report on a screen: pages, the effect of keys, and each row with its colours. Does not access a screen or
 * a keyboard: the caller shows the rows and passes the keys in. Every row is plain ASCII, and no information is
 * in colour alone.
 */
#ifndef BARETICK_SCREEN_H
#define BARETICK_SCREEN_H

#include "base/text.h"
#include "report/report.h"

#define SCREEN_COLUMNS_MAX 320 /* the rest of a wider screen stays empty */

/* Enough for any page: the exact durations of a clock are 600 KB, and the colours as much. */
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

#define SCREEN_KEY_SCAN 0x10000 /* above every character of UEFI, which has 16 bits */

/* Keys without a character: UEFI's scan codes (UEFI 2.10, table 12.4). Other keys are their character. */
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

enum screen_way { SCREEN_STAY, SCREEN_RESTART, SCREEN_POWER_OFF, SCREEN_QUIT };

struct screen_pane { /* a text next to another one */
	struct text text;
	size_t lines;
	size_t top; /* offset of the first visible line */
};

struct screen {
	/* Set by the caller: */
	const char *version;
	const struct report *report; /* judged; if NULL, only DOCUMENT is shown, under TITLE */
	const char *title, *document;
	const char *saved;           /* a sentence: where the report was saved, or why it was not */
	bool can_quit;
	size_t columns, rows;
	char *buffer;                /* for the longest page */
	size_t buffer_size;          /* at least 4; with SCREEN_BUFFER_SIZE nothing is cut off */

	/* Set by screen_open() and screen_key(): */
	enum screen_page page;
	size_t clock;                /* index in the report */
	size_t lines, line;          /* number of lines of the page, and the first visible one */
	struct screen_pane left, right;
	size_t right_column;         /* 0 if there is one pane */
};

struct screen_row {
	struct text text; /* COLUMNS long, padded with blanks; with its colours in INKS */
	char bytes[SCREEN_COLUMNS_MAX + 1];
	uint8_t inks[SCREEN_COLUMNS_MAX + 1];
};

/* Shows the start of the first page. */
void screen_open(struct screen *screen);

/* Performs the function of KEY. */
enum screen_way screen_key(struct screen *screen, unsigned key);

/* Renders row INDEX in its current state. */
void screen_row(const struct screen *screen, size_t index, struct screen_row *row);

#endif
