/* Judges the interrupts of timers. */
#ifndef BARETICK_JUDGE_TIMERS_H
#define BARETICK_JUDGE_TIMERS_H

#include "report/report.h"

/* Adds a row for each rule of each interrupt source. judge_checks() makes findings of these rows. */
void judge_timer_tests(const struct report *report, struct outcomes *outcomes);

/* Adds a row for each sleep state and each rule on it. */
void judge_sleep_states(const struct report *report, struct outcomes *outcomes);

#endif
