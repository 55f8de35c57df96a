/* The texts of a report as blocks on the serial lines. */
#ifndef BARETICK_BLOCKS_H
#define BARETICK_BLOCKS_H

#include "plan.h"
#include "serial.h"

/*
 * Queues PLAN's rendered texts of REPORT for SERIAL: all, or with serial=summary the table up to its details. After the
 * report was saved: see plan_render_serial().
 */
void blocks_queue(struct serial *serial, struct plan *plan, const struct report *report);

#endif
