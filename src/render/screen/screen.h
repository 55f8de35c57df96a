/*
 * The report on a screen: pages, what keys do to them, and each row with its inks. Knows no screen and no
 * keyboard: the caller shows the rows and hands the keys in. Every row is plain ASCII, and nothing is said by
 * ink alone.
 */
#ifndef BARETICK_SCREEN_H
#define BARETICK_SCREEN_H

#include "base/text.h"
#include "report/report.h"

#define SCREEN_COLUMNS_MAX 320 /* of a wider screen the rest stays empty */

#define SCREEN_BUFFER_SIZE ((size_t)4 << 20) /* for any page: a clock's exact durations are 600 KB, and as many inks */

enum screen_page {
	SCREEN_SUMMARY,
	SCREEN_HISTOGRAMS,
	SCREEN_CLOCK, /* one for each clock */
	SCREEN_CORES,
	SCREEN_FINDINGS,
	SCREEN_ABOUT,
	SCREEN_TIMERS,
	SCREEN_PAGES
};

#define SCREEN_KEY_SCAN 0x10000 /* behind every character that UEFI has: they are of 16 bits */

/* Keys that have no character: UEFI's scan codes (UEFI 2.10, table 12.4). Others are their character. */
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

struct screen_pane { /* text side by side with another's */
	struct text text;
	size_t lines;
	size_t top; /* where the first line that is shown begins */
};

struct screen {
	/* What is shown and where: the caller's. */
	const char *version;
	const struct report *report; /* judged; NULL: DOCUMENT is all there is, under TITLE */
	const char *title, *document;
	const char *saved;           /* a sentence: where the report is, or why it is nowhere */
	bool can_quit;
	size_t columns, rows;
	char *buffer;                /* for the longest page */
	size_t buffer_size;          /* at least 4; with SCREEN_BUFFER_SIZE nothing is cut off */

	/* What of it: screen_open() sets it, and screen_key(). */
	enum screen_page page;
	size_t clock;                /* index in the report */
	size_t lines, line;          /* of the page; the first that is shown */
	struct screen_pane left, right;
	size_t right_column;         /* 0: there is one pane */
};

struct screen_row {
	struct text text; /* COLUMNS long, the rest blanks; its inks are below */
	char bytes[SCREEN_COLUMNS_MAX + 1];
	uint8_t inks[SCREEN_COLUMNS_MAX + 1];
};

/* Shows the first page, from its begin. */
void screen_open(struct screen *screen);

/* Does what KEY asks for. */
enum screen_way screen_key(struct screen *screen, unsigned key);

/* Row INDEX as it is now. */
void screen_row(const struct screen *screen, size_t index, struct screen_row *row);

#endif
