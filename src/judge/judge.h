/* The judge turns figures into findings and verdicts by the rule catalogue. No other part makes verdicts. */
#ifndef BARETICK_JUDGE_H
#define BARETICK_JUDGE_H

#include "report/report.h"

/*
 * Replaces all outcomes by those that follow from the report's facts and figures: findings, rows, and the verdicts of
 * each clock and of the run. OUTCOMES are those of REPORT: the functions of src/judge read facts and figures, and write
 * only outcomes.
 */
void judge_report(const struct report *report, struct outcomes *outcomes);

/*
 * Returns the difference in ppb above which two clocks' rates disagree. The choice of the TSC's rate uses the same
 * limit.
 */
uint64_t judge_rate_limit_ppb(const struct report *report);

#endif
