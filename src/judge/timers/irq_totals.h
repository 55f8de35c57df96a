/* Finds the cores on which each source of interrupts broke a rule. For src/judge/timers only. */
#ifndef BARETICK_IRQ_TOTALS_H
#define BARETICK_IRQ_TOTALS_H

#include "report/report.h"

#define INTERVAL_LATE_SHOT_NS UINT64_C(100000) /* the one-shots that irq-late judges */

/* Adds to the rows of judge_intervals() on which cores the rule is broken. */
void interval_cores_judge(struct report *report);

/*
 * Returns true if SOURCE's one-shots on CORE came early in every length, or most of them if there was one
 * length. A timer that rounds, or uses another clock, does so in each.
 */
bool interval_cores_is_early(const struct report *report, const char *source, uint32_t core);

#endif
