/* The pages of src/render/screen on the firmware's screen, and the keys that turn them. */
#ifndef BARETICK_PAGER_H
#define BARETICK_PAGER_H

#include "console/console.h"
#include "options/options.h"
#include "render/screen/screen.h"

#define PAGER_SAVED_SIZE 800 /* two sentences */

struct pager {
	struct console *console; /* NULL: nothing was shown yet */
	struct screen screen;
	char saved[PAGER_SAVED_SIZE];
	struct screen_row *shown; /* what is in each row of the console's screen; NULL: not known */
	char *taken;              /* a document's buffer; NULL: SCRAP has to do */
	char scrap[8];
	unsigned patience;        /* the number of waits for a first key, 30 ms each at most; 0 is without a bound */
	void (*last)(void *context); /* see pager_finish(); NULL: nothing is left to do */
	void *last_context;
};

/* Shows REPORT's first page. BUFFER, SCREEN_BUFFER_SIZE, is the pager's from now on; SAVED: see screen.h. */
void pager_report(struct pager *pager, struct console *console, const struct report *report, const char *saved,
		  struct text buffer);

/* SAVED in place of what was said of the report, on its first page again. */
void pager_say(struct pager *pager, const char *saved);

/* Shows DOCUMENT in place of a report. */
void pager_document(struct pager *pager, struct console *console, const char *title, const char *document);

/*
 * Lets the reader turn pages until a way out is chosen; EXIT_RETURN only where CAN_QUIT. Meanwhile the serial lines get
 * what is queued for them; what is left of that when a way out is chosen is cut. Without a screen or a keyboard
 * it waits, as was asked for. Where PATIENCE is set and no key comes in that time, the answer is EXIT_REBOOT: a machine
 * without a visitor comes back. Any key ends that countdown.
 */
enum options_exit pager_ask(struct pager *pager, bool can_quit);

/* Writes what was shown first once more, as lines, on the console that is closed, and gives back what it took. */
void pager_close(struct pager *pager);

/*
 * Calls the pager's LAST, once: what is to be done when the serial lines have got all that is queued, and may end in
 * the firmware. False: that was done before, or there is none. pager_ask() does it when nothing is queued any more.
 */
bool pager_finish(struct pager *pager);

#endif
