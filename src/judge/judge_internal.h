/* Shared by the files that judge. For src/judge only. */
#ifndef BARETICK_JUDGE_INTERNAL_H
#define BARETICK_JUDGE_INTERNAL_H

#include "judge/judge.h"
#include "rules/rules.h"

#define MILLIPERCENT UINT64_C(100000) /* 100 % in units of 1/1000 % */

/*
 * Percentiles are reliable if less than this share of the time was stolen (by an SMI or a busy host): 1 %, in units of
 * 1/1000 %. Each theft delays one read, and mostly lasts longer than a read. So less than 1 % of the reads are delayed.
 * They cannot change p99, the highest percentile of the cores other than the boot core.
 */
#define STOLEN_MAX_MILLIPERCENT UINT64_C(1000)

/*
 * Returns true if CLOCK's device failed a rule of its data sheet. Odd readings of the clock have the same cause then,
 * and get no further finding.
 */
bool judge_device_failed(const struct report *report, const struct clock *clock);

/*
 * Returns the rule that ENTRY's clock breaks by its state, a step back or a jump, or NULL. A clock that breaks one has
 * no vote on rates, and no finding on its rate.
 */
const struct rule *judge_broken_rule(const struct report *report, const struct report_clock *entry);

/*
 * Returns true if the TSC is proven to have stepped back or jumped. Then no figure that it timed is evidence against
 * another clock.
 */
bool judge_tsc_moved(const struct report *report);

/*
 * Judges discontinuities: times at which clocks disagreed on how much time had passed. Sets the class of each and
 * adds findings. Call it first, because the other functions use its results through the functions below.
 */
void judge_discontinuities(struct report *report);
/* Returns the number of discontinuities at which only CLOCK, an id, jumped. */
uint64_t judge_count_jumps(const struct report *report, const char *clock);
/* Returns true if the TSC's own readings show a step back or a jump. */
bool judge_tsc_steps(const struct report *report);
/*
 * Returns the set of clocks (bit I is clock I) with only the clock ID. If it is not in the report, returns 0, or bit
 * REPORT_CLOCKS_MAX for the TSC.
 */
uint32_t judge_set_of(const struct report *report, const char *id);
/* Returns true if the TSC alone diverged from other clocks at any discontinuity, perhaps because it stopped. */
bool judge_tsc_diverged(const struct report *report);

/*
 * Adds a row on whether the hypervisor announced the stops and jumps that the clocks show. Call it after
 * judge_discontinuities().
 */
void judge_signals(struct report *report);
/*
 * Adds a row on whether the stolen time by the hypervisor's own counter fits the gaps of the cores. Call it after
 * judge_discontinuities().
 */
void judge_reported_time(struct report *report);
/* Judges whether clocks are stuck, broken or step back, and sets each clock's verdict. Call it before the rest. */
void judge_states(struct report *report);
/*
 * Makes findings of failed device checks. If the TSC's rate is in doubt, a figure that it timed gives a finding only
 * if it is off by more than that doubt. Call it after the rates.
 */
void judge_behaviours(struct report *report);
void judge_slow(struct report *report); /* judges the median latency; call it after judge_states() */
/* Judges the TSC's resolution, and whether any other clock could confirm its rate. */
void judge_tsc_fitness(struct report *report);
/* Adds a row for each clock's rate, and explains and counts undetermined rows. Call it after all findings. */
void judge_finish_rows(struct report *report);
void judge_add_rate_rows(struct report *report); /* adds the rows for rates, as part of judge_finish_rows() */
/*
 * The interval LOW to HIGH overlaps LIMIT. Returns the factor by which the error must shrink so that it does not. The
 * true value is assumed to be 0 or, if the interval excludes 0, its middle.
 */
uint64_t judge_shrink_factor(int64_t low, int64_t high, uint64_t limit);
/* Adds a note on the clocks whose reads exit to the hypervisor. */
void judge_note_exits(struct report *report);
void judge_costs(struct report *report);   /* computes the cost of a read for a program */
/* Adds a note on when time was stolen in a soak, if most of it was stolen in one part of the run. */
void judge_note_stolen_time(struct report *report);
void judge_quality(struct report *report); /* judges how reliable latencies are under stolen time */
/* Sets error, users and outcome of each claim on a rate. Called before judge_rates(). */
void judge_claims(struct report *report);
/* Adds a finding for each claim that is blamed: tsc-claim and lapic-claim. */
void judge_add_claim_findings(struct report *report);
/* Returns true if the TSC's nominal rate is a claim that contradicts the clocks, and the TSC is not blamed. */
bool judge_blames_claim(const struct report *report);
/* Judges the clocks' rates against each other, by implied, change_halves and change_since of each report_clock. */
void judge_rates(struct report *report);

#endif
