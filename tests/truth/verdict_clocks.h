/* Declarations for the checks of clocks: the true values of a clock, and the facts that a report proves. */
#ifndef BARETICK_VERDICT_CLOCKS_H
#define BARETICK_VERDICT_CLOCKS_H

#include "machine.h"

long double clocks_get_limit_ppb(const char *rule);
/* returns true if the clock's own rate error is beyond the limit of RULE */
bool clocks_is_rate_wrong(int clock, const char *rule);
/* returns true if the clock's rate error is beyond the smallest limit for a rate */
bool clocks_has_fault(int clock);
/* returns true if the clock has an exact nominal rate, so that it determines the TSC's rate */
bool clocks_has_exact_rate(int clock);
bool clocks_is_majority_right(void);

/*
 * Both functions use the intervals in REPORT. The first returns true if most of the clocks with narrow intervals are
 * right. The second returns the number of right oscillators from which CLOCK provably differs.
 */
bool clocks_is_majority_of_narrow_rates_right(const struct report *report);
size_t clocks_count_proofs_of_fault(const struct report *report, int clock);

#endif
