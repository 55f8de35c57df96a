/* Shows the pages of src/render/screen on the firmware's screen, and handles the keys that turn them. */
#ifndef BARETICK_PAGER_H
#define BARETICK_PAGER_H

#include "console/console.h"
#include "options/options.h"
#include "render/screen/screen.h"

#define PAGER_SAVED_SIZE 800 /* size of three sentences */
#define PAGER_ALONE      "Without a key this machine restarts within a minute."

struct pager {
	struct console *console; /* NULL until something is shown */
	struct screen screen;
	char saved[PAGER_SAVED_SIZE];
	struct screen_row *shown; /* the rows that the screen shows; NULL if they are not known */
	char *document_bytes;              /* buffer for the text; NULL if there was no memory for it, and SCRAP is used */
	char scrap[8];
	/*
	 * Maximum number of waits for the first key, each of at most 30 ms; 0 means no limit. Set it before a report or
	 * document is shown, because the page mentions the limit.
	 */
	unsigned patience;
	void (*last)(void *context); /* see pager_run_last(); may be NULL */
	void *last_context;
};

/*
 * Shows REPORT's first page. SAVED is a sentence about where the report is saved: see screen.h. The pager uses BUFFER,
 * which has SCREEN_BUFFER_SIZE bytes, until it is closed.
 */
void pager_report(struct pager *pager, struct console *console, const struct report *report, const char *saved,
		  struct text buffer);

/* Replaces the sentence about where the report is saved by SAVED, and shows the first page again. */
void pager_set_saved(struct pager *pager, const char *saved);

/* Shows DOCUMENT in place of a report. */
void pager_document(struct pager *pager, struct console *console, const char *title, const char *document);

/*
 * Lets the reader turn pages until the reader chooses an exit, which is returned. EXIT_RETURN can be chosen only with
 * CAN_QUIT. During this time queued blocks are sent over the serial lines. When an exit is chosen, the rest of the
 * queue is cut. Without a screen or a keyboard the function waits for ever. If PATIENCE is set and no key is pressed in
 * that time, it returns EXIT_REBOOT, so that an unattended machine restarts. Any key ends this countdown.
 */
enum options_exit pager_wait_for_exit(struct pager *pager, bool can_quit);

/* Prints the first page as lines, after the console was closed, and frees the pager's memory. */
void pager_close(struct pager *pager);

/*
 * Calls the function LAST of the pager, unless it is NULL or was called before. Returns true if it called LAST.
 * pager_wait_for_exit() calls this when the queue of the serial lines is empty, because LAST may hang in the firmware.
 */
bool pager_run_last(struct pager *pager);

#endif
