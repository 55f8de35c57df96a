/* Queues a report's texts as blocks for the serial lines. */
#ifndef BARETICK_BLOCKS_H
#define BARETICK_BLOCKS_H

#include "console/serial.h"
#include "plan.h"
#include "render/text/help.h"

/*
 * Queues the texts of REPORT for SERIAL, rendered in PLAN's memory. With serial=summary it queues only the first part
 * of the table. With serial=compact it queues this part and the short report of compact.h. Call it after the report was
 * saved: see plan_render_serial_texts().
 */
void blocks_queue_report(struct serial *serial, struct plan *plan, const struct report *report);

/*
 * Queues the list that the option `rules` or `help` requests. Returns the list's text, or NULL if there is no memory.
 * The caller frees the text by firmware_free() after the block was sent.
 */
char *blocks_queue_rules_or_help(struct serial *serial, const struct options *options,
				 const struct options_names *names);

#endif
