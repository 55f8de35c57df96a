/*
 * The rules on rates: rate-changed, rate-wrong, rate-off and rate-disagree, judged from what the survey left in
 * each report_clock: implied, change_halves and change_since.
 */
#ifndef BARETICK_RULES_RATES_H
#define BARETICK_RULES_RATES_H

#include "report.h"

/* Adds the findings. A part of rules_judge(). */
void rules_judge_rates(struct report *report);

#endif
