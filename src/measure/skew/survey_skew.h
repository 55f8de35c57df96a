/* Measures the cores' TSCs against one another. */
#ifndef BARETICK_SURVEY_SKEW_H
#define BARETICK_SURVEY_SKEW_H

#include "measure/survey.h"

void survey_facts(struct survey *survey); /* each core's own facts, such as its TSC_ADJUST */

/*
 * A measurement pass over the pairs of cores. The first pass sets each core's offset, a later pass sets what
 * moved since. Call it at least twice, with other measurements in between.
 */
void survey_skew(struct survey *survey);

/* Another pass in between if the first one was short. It only shows whether an offset moved by a step. */
void survey_skew_middle(struct survey *survey);

/*
 * Measures each core against the boot core for the row of the series, for at most two seconds. Cores left out
 * come first in the next row.
 */
void survey_series_offsets(struct survey *survey);

/* All cores at once on one shared last value, with a lock and without. */
void survey_warps(struct survey *survey);

#endif
