/* Shared by the files that measure the cost of reading clocks. */
#ifndef BARETICK_CLOCKS_INTERNAL_H
#define BARETICK_CLOCKS_INTERNAL_H

#include "measure/clocks/survey_clocks.h"
#include "measure/survey_internal.h"

/* Summary of a latency for one core; count 0 if nothing was recorded. */
struct core_latency survey_summary(const struct survey *survey, const struct latency *latency);

#endif
