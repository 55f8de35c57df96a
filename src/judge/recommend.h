/* The recommendation at a run's end: which of the clocks a kernel should use, in which order, and why. */
#ifndef BARETICK_RECOMMEND_H
#define BARETICK_RECOMMEND_H

#include "report.h"

/*
 * Fills report->advice from figures and verdicts; to be called after judge_report(). The order is that of Linux's
 * ratings (TSC, HPET, PM timer, PIT), the RTC last, among those that are well; a TSC that is not called invariant
 * on bare metal comes behind the HPET and the PM timer, as there. Behind all these, one whose rate changed and an
 * HPET that PC10 stops. Then those that failed, to be avoided. A clock that is absent or was not measured is not
 * named.
 */
void recommend(struct report *report);

#endif
