/* Declarations that the files of this folder share. */
#ifndef BARETICK_CLOCKS_INTERNAL_H
#define BARETICK_CLOCKS_INTERNAL_H

#include "measure/clocks/survey_clocks.h"
#include "measure/survey_internal.h"

/* Returns the summary of a clock's latency on one core. Its count is 0 if nothing was recorded. */
struct core_latency survey_summarize_latency(const struct survey *survey, const struct latency *latency);

#endif
