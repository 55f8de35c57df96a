/* Finds the cores on which each source of interrupts broke a rule. For src/judge/timers only. */
#ifndef BARETICK_IRQ_TOTALS_H
#define BARETICK_IRQ_TOTALS_H

#include "report/report.h"

#define INTERVAL_LATE_SHOT_NS UINT64_C(100000) /* length of the one-shots that irq-late judges */

/*
 * Sets in the rows of judge_timer_tests() how many cores were tested, how many broke the rule, and which broke it most.
 */
void irq_judge_cores(struct report *report);

/*
 * Returns true if SOURCE's one-shots on CORE came early in every length or, with a single length, mostly. A timer that
 * rounds deadlines or counts another clock is early in every length.
 */
bool irq_core_is_early(const struct report *report, const char *source, uint32_t core);

#endif
