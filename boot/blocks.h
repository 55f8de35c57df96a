/* The texts of a report as blocks on the serial lines. */
#ifndef BARETICK_BLOCKS_H
#define BARETICK_BLOCKS_H

#include "console/serial.h"
#include "plan.h"
#include "render/text/options_print.h"

/*
 * Queues PLAN's rendered texts of REPORT for SERIAL: all, or with serial=summary the table up to its details, or with
 * serial=compact this table and the lines of compact.h. After the report was saved: see plan_render_serial().
 */
void blocks_queue(struct serial *serial, struct plan *plan, const struct report *report);

/*
 * Queues the list that the option rules or help asks for. Returns its text, which the caller gives to firmware_free()
 * after the block was sent, or NULL if there is no memory.
 */
char *blocks_queue_list(struct serial *serial, const struct options *options, const struct options_names *names);

#endif
