/* Judging: figures into findings and verdicts, by the rule catalogue, in this one place. */
#ifndef BARETICK_JUDGE_H
#define BARETICK_JUDGE_H

#include "report/report.h"

/*
 * Adds the findings that the report's figures give to those that are there, then sets each clock's verdict
 * and the run's. To be called once, after the last measurement and the last rules_add_finding.
 */
void judge_report(struct report *report);

/* Clocks whose rates are further apart disagree: by this the TSC's rate is settled too. */
uint64_t judge_rate_limit_ppb(const struct report *report);

#endif
