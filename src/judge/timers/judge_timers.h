/* The judge of timers' interrupts, by what came of what was asked for. */
#ifndef BARETICK_JUDGE_TIMERS_H
#define BARETICK_JUDGE_TIMERS_H

#include "report/report.h"

/* Rows for what each source promised; before the behaviours, of which they are some, and after the rates. */
void judge_intervals(struct report *report);

#endif
