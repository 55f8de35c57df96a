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

void rules_judge_skew(struct report *report);   /* the cores' TSCs against each other */
void rules_judge_adjust(struct report *report); /* their TSC_ADJUST */

#endif
