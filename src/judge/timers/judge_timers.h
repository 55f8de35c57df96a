/* Judges the interrupts of timers. */
#ifndef BARETICK_JUDGE_TIMERS_H
#define BARETICK_JUDGE_TIMERS_H

#include "report/report.h"

/*
 * Adds rows for the rules of each source. Called before the behaviours, which include these rows, and after the
 * rates.
 */
void judge_intervals(struct report *report);

#endif
