/* On which cores each source of interrupts broke its promises. For src/judge/timers only. */
#ifndef BARETICK_INTERVAL_CORES_H
#define BARETICK_INTERVAL_CORES_H

#include "report/report.h"

#define INTERVAL_LATE_SHOT_NS UINT64_C(100000) /* the shots that irq-late is about */

/* After the rows of judge_intervals(): which cores' own timers those are about. */
void interval_cores_judge(struct report *report);

/*
 * Whether SOURCE's shots on CORE came early in every length that they were asked for with, or in most of one alone: a
 * timer that rounds, or judges by another clock, does so with each.
 */
bool interval_cores_is_early(const struct report *report, const char *source, uint32_t core);

#endif
