/* Calculates what clocks and timers did while cores slept. See analysis/analysis.h for the arguments. */
#ifndef BARETICK_ANALYSIS_SLEEPS_H
#define BARETICK_ANALYSIS_SLEEPS_H

#include <stddef.h>

#include "report/report.h"

/* Fills report->figures.sleeps from the record's entries `sleep` and `slept`. */
void analysis_calculate_sleeps(const void *record, size_t size, const struct report *report, struct figures *figures);

#endif
