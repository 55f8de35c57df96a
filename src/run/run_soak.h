/* The rounds of a soak: reading clocks, looking for gaps and measuring the cores' offsets. See stats/series.h. */
#ifndef BARETICK_RUN_SOAK_H
#define BARETICK_RUN_SOAK_H

#include "measure/survey.h"

/*
 * Runs the rounds after the first, which other phases are. Ends early if the user asks for it or the time is
 * over.
 */
void run_soak(struct survey *survey);

#endif
