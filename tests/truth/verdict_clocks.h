/* What the files that look at clocks share: what is true of one, and what a report proves of it. */
#ifndef BARETICK_VERDICT_CLOCKS_H
#define BARETICK_VERDICT_CLOCKS_H

#include "machine.h"

long double clocks_limit_ppb(const char *rule);
bool clocks_is_off(int clock, const char *rule); /* by itself, beyond the limit of RULE */
bool clocks_is_sick(int clock);                  /* beyond the least limit for a rate */
bool clocks_is_witness(int clock);               /* it says what the TSC's rate is, by a claim that is exact */
bool clocks_most_right(void);

/*
 * By the intervals of REPORT: whether of those that know most are right, and how many right oscillators CLOCK is
 * beyond.
 */
bool clocks_most_know(const struct report *report);
size_t clocks_count_proofs(const struct report *report, int clock);

#endif
