/* Delivers the report of a run to the boot volume, the screen and the serial lines. */
#ifndef BARETICK_DELIVER_H
#define BARETICK_DELIVER_H

#include "console/console.h"
#include "plan.h"
#include "report/report.h"
#include "uefi/checkpoint.h"
#include "uefi/console/pager.h"

/* The error message if the report does not fit into memory. */
#define DELIVER_TOO_LARGE "error: the report is larger than the memory that was allocated for it\n"

/*
 * Saves the judged REPORT under the folder number of CHECKPOINT, shows it with PAGER, and queues it for the serial
 * lines. If the report does not fit into PLAN's buffers, prints DELIVER_TOO_LARGE, shows it with PAGER and returns
 * false.
 */
bool deliver_report(struct console *console, struct plan *plan, struct report *report, struct checkpoint *checkpoint,
		    struct pager *pager);

/*
 * Saves a report without measured values. ERROR is the reason why nothing was measured. SENTENCE receives a sentence
 * with the folder's name. REPORT describes the machine; its date is removed. Returns false if the report is not saved,
 * for example because of save=off or too little memory. Also returns false, and saves nothing, if the last saved report
 * is the same. Otherwise a machine that restarts after each error would fill the volume.
 */
bool deliver_error_report(struct plan *plan, struct report *report, const struct plan_page *page, const char *error,
			  char sentence[SAVE_SENTENCE_SIZE]);

#endif
