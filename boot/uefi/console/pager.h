/* The pages of src/render/screen on the firmware's screen, and the keys that turn them. */
#ifndef BARETICK_PAGER_H
#define BARETICK_PAGER_H

#include "console/console.h"
#include "options/options.h"
#include "render/screen/screen.h"

#define PAGER_SAVED_SIZE 800 /* three sentences */
#define PAGER_ALONE      "Without a key this machine restarts within a minute."

struct pager {
	struct console *console; /* NULL: nothing was shown yet */
	struct screen screen;
	char saved[PAGER_SAVED_SIZE];
	struct screen_row *shown; /* contents of the console's rows, NULL if not known */
	char *taken;              /* a document's buffer, NULL if scrap is used */
	char scrap[8];
	/* The number of waits for a first key, 30 ms each at most; 0 is without a bound. Set before a report or document is
	 * shown: the page then says so. */
	unsigned patience;
	void (*last)(void *context); /* see pager_finish(); may be NULL */
	void *last_context;
};

/* Shows REPORT's first page. The pager keeps BUFFER of SCREEN_BUFFER_SIZE bytes. See screen.h for SAVED. */
void pager_report(struct pager *pager, struct console *console, const struct report *report, const char *saved,
		  struct text buffer);

/* Replaces the sentence on the report's place by SAVED, and shows the first page again. */
void pager_say(struct pager *pager, const char *saved);

/* Shows DOCUMENT in place of a report. */
void pager_document(struct pager *pager, struct console *console, const char *title, const char *document);

/*
 * Lets the reader turn pages until the reader chooses an exit. EXIT_RETURN is possible only with CAN_QUIT. During this
 * time the serial lines are fed; the rest of the queue is cut when an exit is chosen. Without a screen or a keyboard it
 * waits for ever. If PATIENCE is set and no key comes in that time, it returns EXIT_REBOOT, so that an unattended
 * machine comes back. Any key ends this countdown.
 */
enum options_exit pager_ask(struct pager *pager, bool can_quit);

/* Writes the first page once more, as lines on the closed console, and frees the pager's memory. */
void pager_close(struct pager *pager);

/*
 * Calls the pager's LAST once. LAST runs when the queue of the serial lines is empty, because it may hang in the
 * firmware. Returns false if it ran before or is NULL. pager_ask() calls this function when the queue is empty.
 */
bool pager_finish(struct pager *pager);

#endif
