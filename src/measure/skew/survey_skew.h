/* The cores' TSCs against one another. */
#ifndef BARETICK_SURVEY_SKEW_H
#define BARETICK_SURVEY_SKEW_H

#include "measure/survey.h"

void survey_facts(struct survey *survey); /* what each core says of itself */

/*
 * A tournament: the first sets each core's offset; any later one sets what moved since. To be called at least
 * twice, with other measurements between.
 */
void survey_skew(struct survey *survey);

/* Another between, if the first was short: whether what moved did so by a step. Nothing else is said of it. */
void survey_skew_middle(struct survey *survey);

/* Each core with the boot core, for the row of the series; those that two seconds leave out come first in the next. */
void survey_series_offsets(struct survey *survey);

void survey_warps(struct survey *survey); /* all cores at once on one shared last value, with a lock and without */

#endif
