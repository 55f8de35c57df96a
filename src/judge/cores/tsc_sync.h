/* Shared by the files that judge the cores' TSCs against each other. */
#ifndef BARETICK_TSC_SYNC_H
#define BARETICK_TSC_SYNC_H

#include "base/text.h"
#include "judge/cores/offset_analysis.h"
#include "rules/rules.h"

#define SKEW_NAMED_MAX    4  /* findings of one rule; the last one gives the number of further cores */
#define SKEW_MOMENTS_SIZE 80 /* "between 18446744073709551615.9 s and 18446744073709551615.9 s" */
#define SKEW_REST_SIZE    48 /* a sentence on the rest of the cores, and its final 0 */

void skew_judge_offsets(struct report *report, const struct view *view);
void skew_judge_drifts(struct report *report, const struct view *view);

/* Judges the last pass, for cores that the FIRST one did not name: they came off during a pass. */
void skew_judge_latest(struct report *report, const struct view *first, bool any_said);

void skew_set_distance(struct finding *finding, struct distance distance, uint64_t limit);

/*
 * Ends the sentence on core COUNT of OFF cores: with the number of further cores in the last sentence,
 * otherwise with nothing.
 */
const char *skew_put_rest(char rest[SKEW_REST_SIZE], size_t count, size_t off);

/* "3.1 s", or "3.1 s to 3.4 s" if it took that long. */
void skew_put_time(struct text *text, const struct view *view, struct moment moment);

/* "at 3.1 s", or "between 3.1 s and 3.4 s" if it took that long. */
const char *skew_put_moment(const struct view *view, struct moment moment, char moments[SKEW_MOMENTS_SIZE]);

#endif
