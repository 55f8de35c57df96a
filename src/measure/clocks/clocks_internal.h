/* What the files of this folder share. */
#ifndef BARETICK_CLOCKS_INTERNAL_H
#define BARETICK_CLOCKS_INTERNAL_H

#include "measure/clocks/survey_clocks.h"
#include "measure/survey_internal.h"

/* What the report keeps of a latency on a core; count 0 where nothing was recorded. */
struct core_latency survey_summary(const struct survey *survey, const struct latency *latency);

#endif
