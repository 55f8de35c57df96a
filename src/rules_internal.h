/* What the files that judge share: figures into findings, and what each of them judges. */
#ifndef BARETICK_RULES_INTERNAL_H
#define BARETICK_RULES_INTERNAL_H

#include "rules.h"

/* The limit of the catalogue's rule RULE_ID in this run. */
uint64_t rules_limit_of(const struct report *report, const char *rule_id);

/* Sets the figure of FINDING, which may be NULL. */
void rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high, uint64_t limit);

/* A count is exact: its interval is the count itself. */
void rules_set_count(struct finding *finding, uint64_t count, uint64_t limit);

/* Whether ROW's promise was seen broken. */
bool rules_is_broken(const struct report *report, const struct behaviour *row);

/* What ends SENTENCE, which may have its full stop already. */
const char *rules_full_stop(const char *sentence);

/*
 * Whether a promise of the device that CLOCK belongs to was seen broken, of a rule that fails it: the reason of
 * whatever else is odd about its readings, which then is no fault of its own.
 */
bool rules_misbehaves(const struct report *report, const struct clock *clock);

/*
 * The rule that ENTRY's clock breaks by its state or its steps, or NULL. What such a clock says of its rate is no vote
 * and no further fault.
 */
const struct rule *rules_broken_by(const struct report *report, const struct report_clock *entry);

void rules_judge_states(struct report *report); /* and each clock's verdict by itself; before all others */
/* After the rates: what was timed by a TSC that is itself in doubt accuses nobody, unless by more than that. */
void rules_judge_behaviours(struct report *report);
/* What a reading costs, what a step is, what vouches for the TSC. */
void rules_judge_fitness(struct report *report);
void rules_judge_skew(struct report *report);   /* the cores' TSCs against each other */
void rules_judge_adjust(struct report *report); /* their TSC_ADJUST */
/* The clocks' rates against each other: implied, change_halves and change_since of each report_clock. */
void rules_judge_rates(struct report *report);

#endif
