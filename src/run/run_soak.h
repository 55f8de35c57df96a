/* What a soak spends its time on: rounds of reading clocks, watching for gaps and meeting cores. See stats/series.h. */
#ifndef BARETICK_RUN_SOAK_H
#define BARETICK_RUN_SOAK_H

#include "measure/survey.h"

/* The rounds behind the first, which other phases were. Ends early once somebody asked for the end, or time is up. */
void run_soak(struct survey *survey);

#endif
