/* Judges the interrupts of timers. */
#ifndef BARETICK_JUDGE_TIMERS_H
#define BARETICK_JUDGE_TIMERS_H

#include "report/report.h"

/*
 * Adds to the report a row for each rule of each interrupt source. Call it before judge_add_behaviour_findings(), which
 * makes findings of these rows.
 */
void judge_timer_tests(const struct report *report, struct outcomes *outcomes);

/* Adds a row for each sleep state and each rule on it. Call it where judge_timer_tests() is called. */
void judge_sleep_states(const struct report *report, struct outcomes *outcomes);

#endif
