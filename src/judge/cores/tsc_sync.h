/* Shared by the files that judge the cores' TSCs against each other. */
#ifndef BARETICK_TSC_SYNC_H
#define BARETICK_TSC_SYNC_H

#include "base/text.h"
#include "judge/cores/offset_analysis.h"
#include "rules/rules.h"

#define SKEW_NAMED_MAX    4  /* maximum number of cores with a finding of one rule; the last one counts the rest */
#define SKEW_MOMENTS_SIZE 80 /* bytes for "between 18446744073709551615.9 s and 18446744073709551615.9 s" */
#define SKEW_REST_SIZE    48 /* bytes for the sentence of skew_put_rest() */

void skew_judge_offsets(struct report *report, const struct view *view);
void skew_judge_drifts(struct report *report, const struct view *view);

/*
 * Judges the offsets in the last pass. If the first pass gave findings (ANY_FOUND), only cores that are not off in
 * FIRST are judged: they moved during a pass.
 */
void skew_judge_latest(struct report *report, const struct view *first, bool any_found);

void skew_set_distance(struct finding *finding, struct distance distance, uint64_t limit);

/*
 * Returns the end of the finding on core number COUNT of OFF faulty cores. It counts the remaining cores if COUNT is
 * SKEW_NAMED_MAX; otherwise it is empty.
 */
const char *skew_put_rest(char rest[SKEW_REST_SIZE], size_t count, size_t off);

/* Writes the time of a measurement: "3.1 s", or "3.1 s to 3.4 s" if it took 100 ms or more. */
void skew_put_time(struct text *text, const struct view *view, struct moment moment);

/* Writes the time of a measurement: "at 3.1 s", or "between 3.1 s and 3.4 s" if it took 100 ms or more. */
const char *skew_put_moment(const struct view *view, struct moment moment, char moments[SKEW_MOMENTS_SIZE]);

#endif
