/* Shows the pages of src/render/screen on the firmware's screen, and handles the keys that turn them. */
#ifndef BARETICK_PAGER_H
#define BARETICK_PAGER_H

#include "console/console.h"
#include "options/options.h"
#include "render/screen/screen.h"

#define PAGER_SAVED_SIZE 800 /* size of three sentences about the places of the saved report */
#define PAGER_ALONE      "If no key is pressed, this machine restarts within a minute."

struct pager {
	struct console *console; /* NULL until something is shown */
	struct screen screen;
	char saved[PAGER_SAVED_SIZE];
	struct screen_row *shown; /* the rows that the screen shows; NULL if they are not known */
	/* buffer for the document's text; NULL if SCRAP is used, because there is no memory */
	char *document_bytes;
	char scrap[8];
	/*
	 * Maximum number of waits for the first key, each of at most 30 ms; 0 means no limit. Set it before a report or
	 * document is shown, because the page mentions the limit.
	 */
	unsigned patience;
	/* may be NULL; pager_run_last_callback() calls it once, when all serial text is sent */
	void (*last)(void *context);
	void *last_context;
};

/*
 * Shows REPORT's first page. SAVED is a sentence about the place of the saved report: see screen.h. The pager uses
 * BUFFER, which has SCREEN_BUFFER_SIZE bytes, until pager_close().
 */
void pager_show_report(struct pager *pager, struct console *console, const struct report *report, const char *saved,
		       struct text buffer);

/* Replaces the sentence about the place of the saved report by SAVED, and shows the first page again. */
void pager_set_saved_sentence(struct pager *pager, const char *saved);

/* Shows the text DOCUMENT instead of a report. */
void pager_show_document(struct pager *pager, struct console *console, const char *title, const char *document);

/*
 * Lets the reader turn pages until the reader chooses an exit, and returns this exit. EXIT_RETURN can be chosen only if
 * CAN_QUIT is true. Meanwhile the queue of the serial lines is sent. The rest of the queue is dropped when an exit is
 * chosen. If PATIENCE is not 0 and no key is pressed within PATIENCE waits, returns EXIT_REBOOT, so that an unattended
 * machine restarts. Otherwise the function waits for ever without a screen or a keyboard.
 */
enum options_exit pager_wait_for_exit(struct pager *pager, bool can_quit);

/* Prints the first page as lines, after console_close(), and frees the pager's memory. */
void pager_close(struct pager *pager);

/*
 * Calls the function LAST of the pager, unless it is NULL or was called before. Returns true if it called LAST.
 * pager_wait_for_exit() calls this only after the serial lines have sent everything, because LAST may hang in the
 * firmware.
 */
bool pager_run_last_callback(struct pager *pager);

#endif
