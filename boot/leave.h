/* The way out of a run. */
#ifndef BARETICK_LEAVE_H
#define BARETICK_LEAVE_H

#include "console.h"
#include "options.h"
#include "pager.h"
#include "report.h"

enum leave_result { LEAVE_PASS = 0x10, LEAVE_FAIL, LEAVE_INCOMPLETE, LEAVE_ERROR }; /* on isa-debug-exit */

enum leave_result leave_result_of(enum verdict verdict);

/*
 * Ends the run as HOW says. Comes back only for EXIT_RETURN, and for EXIT_ASK where CAN_RETURN and the reader
 * chose it. PAGER has something open, which EXIT_ASK lets the reader look at.
 */
void leave(struct console *console, enum options_exit how, enum leave_result result, bool can_return,
	   struct pager *pager);

#endif
