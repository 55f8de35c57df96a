/* The recommendation at a run's end: which of the clocks a kernel should use, in which order, and why. */
#ifndef BARETICK_RECOMMEND_H
#define BARETICK_RECOMMEND_H

#include "report.h"

/* Fills report->taken: the clock that Linux takes, and Windows, and why; after the judging. */
void recommend_clocksource(struct report *report);

/* Whether it marks the TSC unstable there. */
bool recommend_linux_marks_tsc(const struct report *report);

/* Fills report->tick: the timer that Linux takes for its tick, which is not asked how late it is; after the judging. */
void recommend_tick(struct report *report);

/*
 * Fills report->advice from figures and verdicts; to be called after judge_report(). The healthy clocks come first, by
 * Linux's class of their ratings (hundreds) and in a class by the cost of a read. Healthy clocks that kernels switch
 * off follow: one whose rate changed, and an HPET that PC10 stops. Failed clocks come last, to be avoided. A clock that
 * is absent or was not measured is not named.
 */
void recommend(struct report *report);

#endif
