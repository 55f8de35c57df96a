/* The report of a run, delivered to the boot volume, the screen and the serial lines. */
#ifndef BARETICK_DELIVER_H
#define BARETICK_DELIVER_H

#include "console/console.h"
#include "plan.h"
#include "report/report.h"
#include "uefi/checkpoint.h"
#include "uefi/console/pager.h"

/* The error if the report does not fit into memory. */
#define DELIVER_TOO_LARGE "error: the report does not fit the memory that the firmware gave\n"

/*
 * Saves REPORT, which is judged, in the place of CHECKPOINT's, opens PAGER on it and queues it for the serial lines.
 * False: it does not fit PLAN, which was said, and PAGER has that open.
 */
bool deliver(struct console *console, struct plan *plan, struct report *report, struct checkpoint *checkpoint,
	     struct pager *pager);

/*
 * Saves a report with ERROR, the reason why nothing was measured, and puts the folder into SENTENCE. False: it is not
 * saved, because of save=off, the volume or the memory, or because the last report is the same. So a machine that
 * restarts after each error does not fill the volume. REPORT describes the machine. The report has no date.
 */
bool deliver_error(struct plan *plan, struct report *report, const struct plan_page *page, const char *error,
		   char sentence[SAVE_SENTENCE_SIZE]);

#endif
