/* What the files that judge share: figures into findings, and what each of them judges. */
#ifndef BARETICK_JUDGE_INTERNAL_H
#define BARETICK_JUDGE_INTERNAL_H

#include "judge/judge.h"
#include "rules/rules.h"

#define MILLIPERCENT UINT64_C(100000) /* of the whole */

/*
 * Of a core other than the boot core only percentiles up to p99 are kept, beyond which lies 1 read in 100. A gap hits
 * one read, and is at least as long as a read of most clocks: so of reads no more are hit than what stolen time is of
 * the rest. Below 1 % p99 is the clock's own on each core, whatever its reads were; above it may be stolen time's.
 */
#define STOLEN_MAX_MILLIPERCENT UINT64_C(1000)

/*
 * Whether a promise of the device that CLOCK belongs to was seen broken, of a rule that fails it: the reason of
 * whatever else is odd about its readings, which then is no fault of its own.
 */
bool judge_misbehaves(const struct report *report, const struct clock *clock);

/*
 * The rule that ENTRY's clock breaks by its state or its steps, or NULL. What such a clock says of its rate is no vote
 * and no further fault.
 */
const struct rule *judge_broken_by(const struct report *report, const struct report_clock *entry);

/* Whether the TSC is proven to have stepped back or leapt: then nothing that it timed accuses another clock. */
bool judge_tsc_moved(const struct report *report);

/* The discontinuities' classes and findings; before all others, which ask: */
void judge_discontinuities(struct report *report);
bool judge_jumped_at(const struct report *report, size_t discontinuity, const char *clock); /* it alone jumped */
bool judge_jumped(const struct report *report, const char *clock);                          /* at any of them */
bool judge_tsc_steps(const struct report *report); /* by its own readings, back or ahead */
uint32_t judge_tsc(const struct report *report);     /* as a set; one that is not in the report is behind the others */
bool judge_tsc_parts(const struct report *report); /* from all other clocks, at any discontinuity: it may have stood */

void judge_states(struct report *report); /* and each clock's verdict by itself; before those below */
/* After the rates: what was timed by a TSC that is itself in doubt is no finding, unless off by more than that. */
void judge_behaviours(struct report *report);
void judge_slow(struct report *report); /* whose median read is beyond the limit; after the states */
/* What the TSC's resolution is, what vouches for it. */
void judge_fitness(struct report *report);
/*
 * After all findings: a row for each clock's rate, the sentences of what is not determined, and each clock's count of
 * it.
 */
void judge_outcomes(struct report *report);
void judge_rate_outcomes(struct report *report); /* its first part: those rows */
/*
 * From LOW to HIGH, which overlaps LIMIT: with so many times less error it would not, where 0 or else the middle is
 * true.
 */
uint64_t judge_times_too_wide(int64_t low, int64_t high, uint64_t limit);
void judge_costs(struct report *report);   /* what a read costs a program */
void judge_gaps(struct report *report);    /* a note on when in a soak time was stolen, if that was in one stretch */
void judge_quality(struct report *report); /* what stolen time leaves of the latencies */
void judge_order(struct report *report);   /* after all findings: those that fail come first, else they stay in order */
/* The clocks' rates against each other: implied, change_halves and change_since of each report_clock. */
void judge_rates(struct report *report);

#endif
