/* What the files share that judge the cores' TSCs against each other. */
#ifndef BARETICK_SKEW_INTERNAL_H
#define BARETICK_SKEW_INTERNAL_H

#include "base/text.h"
#include "judge/cores/view.h"
#include "rules/rules.h"

#define SKEW_NAMED_MAX    4  /* findings of one rule; the last one says how many cores more there are */
#define SKEW_MOMENTS_SIZE 80 /* "between 18446744073709551615.9 s and 18446744073709551615.9 s" */
#define SKEW_REST_SIZE    48 /* " 18446744073709551615 more cores likewise." and its final 0 */

void skew_judge_offsets(struct report *report, const struct view *view);
void skew_judge_drifts(struct report *report, const struct view *view);

/* What the last tournament shows of others than those that the FIRST one named: who came off while one was played. */
void skew_judge_latest(struct report *report, const struct view *first, bool any_said);

void skew_set_distance(struct finding *finding, struct distance distance, uint64_t limit);

/* What ends the COUNTth sentence, of OFF cores: nothing but in the last one that there is space for. */
const char *skew_put_rest(char rest[SKEW_REST_SIZE], size_t count, size_t off);

/* "3.1 s", or "3.1 s to 3.4 s" where it took so long. */
void skew_put_time(struct text *text, const struct view *view, struct moment moment);

/* "at 3.1 s", or "between 3.1 s and 3.4 s" where it took so long. */
const char *skew_put_moment(const struct view *view, struct moment moment, char moments[SKEW_MOMENTS_SIZE]);

#endif
