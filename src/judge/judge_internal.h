/* Shared by the files that judge. For src/judge only. */
#ifndef BARETICK_JUDGE_INTERNAL_H
#define BARETICK_JUDGE_INTERNAL_H

#include "judge/judge.h"
#include "rules/rules.h"

#define MILLIPERCENT UINT64_C(100000) /* 100 % in units of 1/1000 % */

/*
 * Cores other than the boot core only keep percentiles up to p99, beyond which lies 1 read in 100. A gap hits
 * one read, and is at least as long as a read of most clocks. So the share of reads that are hit is at most the
 * share of stolen time. Below 1 % stolen time, p99 is the clock's own on each core. Above that it may be stolen
 * time.
 */
#define STOLEN_MAX_MILLIPERCENT UINT64_C(1000)

/*
 * Returns true if CLOCK's device breaks a rule of its data sheet that fails it. Other oddities of its readings
 * then have that cause, and are no further faults.
 */
bool judge_misbehaves(const struct report *report, const struct clock *clock);

/*
 * The rule that ENTRY's clock breaks by its state or its steps, or NULL. Such a clock has no vote on rates and
 * no further finding on its rate.
 */
const struct rule *judge_broken_by(const struct report *report, const struct report_clock *entry);

/*
 * Returns true if the TSC is proven to have stepped back or jumped. Then figures timed by it prove nothing
 * against another clock.
 */
bool judge_tsc_moved(const struct report *report);

/* Sets the discontinuities' classes and adds their findings. Called before all others, which use: */
void judge_discontinuities(struct report *report);
/* Returns true if only CLOCK jumped at this discontinuity. */
bool judge_jumped_at(const struct report *report, size_t discontinuity, const char *clock);
/* Returns true if only CLOCK jumped at any discontinuity. */
bool judge_jumped(const struct report *report, const char *clock);
/* Number of the report's discontinuities at which only CLOCK, an id, jumped. */
uint64_t judge_jumps(const struct report *report, const char *clock);
/* Returns true if the TSC stepped or jumped by its own readings. */
bool judge_tsc_steps(const struct report *report);
/* The TSC as a set; if it is not in the report, the bit after the last clock. */
uint32_t judge_tsc(const struct report *report);
/* Returns true if the TSC diverged from all other clocks at any discontinuity, perhaps because it stopped. */
bool judge_tsc_parts(const struct report *report);

/* Adds a row on whether the hypervisor announced what the clocks show. Called after the discontinuities. */
void judge_signals(struct report *report);

void judge_states(struct report *report); /* also sets each clock's own verdict; before the functions below */
/*
 * After the rates: figures timed by a TSC whose rate is in doubt give no finding unless they are off by more
 * than the doubt.
 */
void judge_behaviours(struct report *report);
void judge_slow(struct report *report); /* clocks whose median read is above the limit; after the states */
/* The TSC's resolution, and whether other clocks confirm its rate. */
void judge_fitness(struct report *report);
/*
 * After all findings: adds a row for each clock's rate, sentences on undetermined rows, and each clock's count
 * of them.
 */
void judge_outcomes(struct report *report);
void judge_rate_outcomes(struct report *report); /* adds the rows for rates, as part of judge_outcomes() */
/*
 * LOW to HIGH overlaps LIMIT. Returns the factor that the error must shrink by so that it does not, if the true
 * value is 0 or else the middle.
 */
uint64_t judge_times_too_wide(int64_t low, int64_t high, uint64_t limit);
void judge_costs(struct report *report);   /* cost of a read for a program */
/* A note on when in a soak time was stolen, if most of it was in one stretch. */
void judge_gaps(struct report *report);
void judge_quality(struct report *report); /* reliability of the latencies under stolen time */
/* The clocks' rates against each other, from implied, change_halves and change_since of each report_clock. */
void judge_rates(struct report *report);

#endif
