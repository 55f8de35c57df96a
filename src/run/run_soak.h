/* The rounds of a soak: reading clocks, looking for gaps and measuring the cores' offsets. See stats/series.h. */
#ifndef BARETICK_RUN_SOAK_H
#define BARETICK_RUN_SOAK_H

#include "measure/survey.h"

/*
 * Runs all rounds but the first, which consists of the earlier phases. Ends early if the user or the deadline ends the
 * run.
 */
void run_soak(struct survey *survey);

#endif
