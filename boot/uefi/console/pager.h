/* Shows the pages of src/render/screen on the firmware's screen, and handles the keys that turn them. */
#ifndef BARETICK_PAGER_H
#define BARETICK_PAGER_H

#include "console/console.h"
#include "options/options.h"
#include "render/screen/screen.h"

#define PAGER_SAVED_SIZE 800 /* three sentences */
#define PAGER_ALONE      "Without a key this machine restarts within a minute."

struct pager {
	struct console *console; /* NULL until something is shown */
	struct screen screen;
	char saved[PAGER_SAVED_SIZE];
	struct screen_row *shown; /* the rows that the screen shows, NULL if not known */
	char *taken;              /* a document's buffer, NULL if scrap is used */
	char scrap[8];
	/*
	 * Most waits for the first key, of at most 30 ms each; 0 is without a bound. Set before a report or document is
	 * shown, because the page mentions the bound.
	 */
	unsigned patience;
	void (*last)(void *context); /* see pager_finish(); may be NULL */
	void *last_context;
};

/* Shows REPORT's first page. The pager keeps BUFFER of SCREEN_BUFFER_SIZE bytes. See screen.h for SAVED. */
void pager_report(struct pager *pager, struct console *console, const struct report *report, const char *saved,
		  struct text buffer);

/* Replaces the sentence that says where the report is saved by SAVED, and shows the first page again. */
void pager_say(struct pager *pager, const char *saved);

/* Shows DOCUMENT in place of a report. */
void pager_document(struct pager *pager, struct console *console, const char *title, const char *document);

/*
 * Lets the reader turn pages until the reader chooses an exit. EXIT_RETURN is possible only with CAN_QUIT. During this
 * time queued blocks are sent over the serial lines; the rest of the queue is cut when an exit is chosen. Without a
 * screen or a keyboard it waits for ever. If PATIENCE is set and no key comes in that time, it returns EXIT_REBOOT, so
 * that an unattended machine comes back. Any key ends this countdown.
 */
enum options_exit pager_ask(struct pager *pager, bool can_quit);

/* Prints the first page as lines after the console was closed, and frees the pager's memory. */
void pager_close(struct pager *pager);

/*
 * Calls the pager's LAST, unless that was called before or is NULL. Returns true if it called LAST. pager_ask() calls
 * this when the queue of the serial lines is empty, because LAST may hang in the firmware.
 */
bool pager_finish(struct pager *pager);

#endif
