/* Queues the texts of a report as blocks for the serial lines. */
#ifndef BARETICK_BLOCKS_H
#define BARETICK_BLOCKS_H

#include "console/serial.h"
#include "plan.h"
#include "render/text/options_print.h"

/*
 * Queues PLAN's rendered texts of REPORT for SERIAL. With serial=summary it queues only the table up to its details,
 * with serial=compact this part and the lines of compact.h. Called after the report was saved: see
 * plan_render_serial().
 */
void blocks_queue(struct serial *serial, struct plan *plan, const struct report *report);

/*
 * Queues the list that the option rules or help requests. Returns its text, or NULL if there is no memory. The caller
 * gives it to firmware_free() after the block was sent.
 */
char *blocks_queue_list(struct serial *serial, const struct options *options, const struct options_names *names);

#endif
