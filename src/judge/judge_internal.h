/* Declarations that the files of src/judge share. Only for these files. */
#ifndef BARETICK_JUDGE_INTERNAL_H
#define BARETICK_JUDGE_INTERNAL_H

#include "judge/judge.h"
#include "rules/rules.h"

#define MILLIPERCENT UINT64_C(100000) /* 100 % in units of 1/1000 % */

/*
 * Percentiles count as reliable if less than 1 % of the time was stolen (by an SMI or a busy host). The limit is in
 * units of 1/1000 %. An interruption delays one read and usually lasts longer than a read, so the share of delayed
 * reads is below 1 %, too. They cannot change p99, the highest percentile that is reported for cores other than the
 * boot core.
 */
#define STOLEN_MAX_MILLIPERCENT UINT64_C(1000)

/*
 * Returns the rule that ENTRY's clock breaks because it is stuck or broken, stepped back or jumped, or NULL. A clock
 * that breaks such a rule has no vote on rates, and gets no finding on its rate.
 */
const struct rule *judge_find_broken_rule(const struct report *report, const struct report_clock *entry);

/*
 * Returns true if the TSC is proven to have stepped back or jumped. Then no figure that it timed is evidence against
 * another clock.
 */
bool judge_has_tsc_stepped_or_jumped(const struct report *report);

/*
 * Judges discontinuities: times at which clocks disagreed on how much time had passed. Sets the class of each and adds
 * findings. Call it first, because the other judging functions use its results.
 */
void judge_discontinuities(const struct report *report, struct outcomes *outcomes);
/* Returns the number of discontinuities at which the clock with the id CLOCK jumped, and no other clock. */
uint64_t judge_count_jumps_of_clock(const struct report *report, const char *clock);
/* Returns true if the TSC's own readings show a step back or a jump. */
bool judge_has_tsc_stepped(const struct report *report);
/*
 * Returns the set that contains only the clock ID, or 0 if it is not in the report. Bit I of a set is
 * report->facts.clocks[I]. For a TSC that is not in the report, returns bit REPORT_CLOCKS_MAX.
 */
uint32_t judge_get_clock_bit(const struct report *report, const char *id);
/* Returns true if the TSC alone diverged from other clocks at any discontinuity, perhaps because it stopped. */
bool judge_has_tsc_diverged(const struct report *report);

/* Adds a row on whether the hypervisor announced the stops and jumps of judge_discontinuities(). */
void judge_announcements_of_disruptions(const struct report *report, struct outcomes *outcomes);
/* Adds a row on whether the hypervisor's counter of stolen time agrees with the gaps measured on the cores. */
void judge_reported_stolen_time(const struct report *report, struct outcomes *outcomes);
/* Judges whether clocks are stuck, broken or step back. */
void judge_clock_states(const struct report *report, struct outcomes *outcomes);
/*
 * Judges timers, firmware and sleep states. Adds a finding for each check of them or of a device that failed, unless
 * another fault explains it: see struct explanation. Call it after judge_rates().
 */
void judge_checks(const struct report *report, struct outcomes *outcomes);
/* Judges the cost of reads. */
void judge_slow_clocks(const struct report *report, struct outcomes *outcomes);
/* Judges reads by all cores at the same time. */
void judge_contended_reads(const struct report *report, struct outcomes *outcomes);
/* Judges the TSC's resolution, and whether any other clock could confirm its rate. */
void judge_tsc_fitness(const struct report *report, struct outcomes *outcomes);
/* Adds a row for each clock's rate, and explains and counts undetermined rows. Call it after all findings. */
void judge_complete_behaviour_rows(const struct report *report, struct outcomes *outcomes);
bool judge_does_wrong_claim_cause_finding(const struct claim *claim); /* false if another rule judges this rate */
/* Adds the rows for rates, as part of judge_complete_behaviour_rows(). */
void judge_add_rate_rows(const struct report *report, struct outcomes *outcomes);
/*
 * Returns the factor by which the interval LOW to HIGH, which contains LIMIT, must shrink so that it no longer contains
 * LIMIT. The true value is assumed to be 0 or, if the interval excludes 0, its middle.
 */
uint64_t judge_interval_shrink_factor(int64_t low, int64_t high, uint64_t limit);
/* Sorts the findings, failures first, and sets the verdicts of all clocks and of the run. */
void judge_set_verdicts(const struct report *report, struct outcomes *outcomes);
/* Adds a note on the clocks whose reads exit to the hypervisor. */
void judge_note_reads_with_vm_exit(const struct report *report, struct outcomes *outcomes);
/* Adds a note on when time was stolen in a soak, if most of it was stolen in one part of the run. */
void judge_note_stolen_time(const struct report *report, struct outcomes *outcomes);
/* Judges how reliable latencies are under stolen time. */
void judge_timing_quality(const struct report *report, struct outcomes *outcomes);
/*
 * Sets the error, the users and the outcome of each claim, which is a stated rate of the TSC or of the LAPIC timer.
 * Called before judge_rates().
 */
void judge_claims(const struct report *report, struct outcomes *outcomes);
/* Adds a finding (tsc-claim or lapic-claim) for each claim that is judged to be wrong. */
void judge_add_claim_findings(const struct report *report, struct outcomes *outcomes);
/*
 * Returns true if the TSC's nominal rate is a claim that the clocks contradict, and the claim is judged to be wrong
 * instead of the TSC.
 */
bool judge_is_tsc_claim_wrong(const struct report *report);
/*
 * Judges the clocks' rates against each other. Uses the fields implied, change_halves and change_since of struct
 * clock_figures.
 */
void judge_rates(const struct report *report, struct outcomes *outcomes);

#endif
