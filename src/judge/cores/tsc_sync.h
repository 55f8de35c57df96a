/* Shared by the files that judge the cores' TSCs against each other. */
#ifndef BARETICK_TSC_SYNC_H
#define BARETICK_TSC_SYNC_H

#include "base/text.h"
#include "judge/cores/offset_analysis.h"
#include "report/phrase.h"
#include "rules/rules.h"

#define SKEW_NAMED_MAX 4 /* maximum number of cores with a finding of one rule; the last one counts the rest */

void skew_judge_offsets(struct report *report, const struct view *view);
void skew_judge_drifts(struct report *report, const struct view *view);

/* Judges the offsets in the last pass of the cores that were not off in the FIRST: they moved during a pass. */
void skew_judge_moved(struct report *report, const struct view *first, const struct view *last);

/* Sets the figure of FINDING to the size of OFFSET. */
void skew_set_size(struct finding *finding, struct offset offset, uint64_t limit);

/*
 * Returns the end of the finding on core number COUNT of OFF faulty cores. It counts the remaining cores if COUNT is
 * SKEW_NAMED_MAX; otherwise it is empty.
 */
struct phrase skew_rest(size_t count, size_t off);

#endif
