/* Judging: figures into findings and verdicts, by the rule catalogue, in this one place. */
#ifndef BARETICK_JUDGE_H
#define BARETICK_JUDGE_H

#include "report.h"

/*
 * Adds the findings that the report's figures give to those that are there, then sets each clock's verdict
 * and the run's. To be called once, after the last measurement and the last rules_add_finding.
 */
void judge_report(struct report *report);

#endif
