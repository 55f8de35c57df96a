/*
 * From the record of a run to the figures of its report. Each function is pure: it depends on the record, on the
 * report's options, and on the rows of its cores and clocks. It may be called again when the record has grown. It
 * accepts any bytes, and uses the entries up to the first damage.
 */
#ifndef BARETICK_ANALYSIS_H
#define BARETICK_ANALYSIS_H

#include <stddef.h>

#include "report/report.h"

/* Stolen time: fills report->interference, and observed_ns, gaps and worst_gap_ns of each core. */
void analysis_gaps(const void *record, size_t size, struct report *report);

#endif
