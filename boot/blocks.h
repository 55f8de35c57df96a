/* The texts of a report as blocks on the serial lines. */
#ifndef BARETICK_BLOCKS_H
#define BARETICK_BLOCKS_H

#include "options.h"
#include "plan.h"
#include "serial.h"

/* Queues PLAN's rendered texts for SERIAL: all, or with SERIAL_SUMMARY the table up to its details. */
void blocks_queue(struct serial *serial, const struct plan *plan, enum options_serial how);

#endif
