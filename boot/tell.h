/* The end of the measuring: judgement, and the report to the boot volume, the screen and the serial lines. */
#ifndef BARETICK_TELL_H
#define BARETICK_TELL_H

#include "console.h"
#include "plan.h"
#include "report.h"

/* What is said where the report does not fit. */
#define TELL_NO_ROOM "error: the report does not fit the memory that the firmware gave\n"

/*
 * One block for programs on the serial lines: BODY between two lines that bear NAME, the second of them with the digest
 * of what lies between.
 */
void tell_block(struct console *console, const char *name, const struct text *body);

/*
 * Judges REPORT and tells it. SAVED gets a line on where it is on the boot volume, or why it is not there; "" where it was
 * not to be. False: the report does not fit PLAN, which was said.
 */
bool tell(struct console *console, struct plan *plan, struct report *report, char saved[CONSOLE_LINE]);

#endif
