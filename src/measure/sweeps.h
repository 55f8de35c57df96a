/*
 * Shared by the files that compare the clocks in steps, from one reading of all main clocks to the next: see
 * sweeps.c. For src/measure only.
 */
#ifndef BARETICK_SWEEPS_H
#define BARETICK_SWEEPS_H

#include "measure/survey_internal.h"

#include "base/set.h"

#define STEPS_SETTLE_NS      (10 * SURVEY_NS_PER_MS) /* how long a changed rate is observed */

/* Return true if clock I (an index into the report) is compared, or if it is an edge clock (an RTC, see clock.h). */
bool steps_is_compared(const struct survey *survey, size_t i);
bool steps_is_edge_clock(const struct survey *survey, size_t i);

/* Reads the clocks several times and keeps the last reading. Without ALL, it leaves out edge clocks. */
void steps_sweep(struct survey *survey, bool all);

/* Reads all clocks but edge clocks, a bounded number of times, until no reading was preempted. */
void steps_sweep_tightly(struct survey *survey);

/* Waits for the next edge of each edge clock in CLOCKS, at most 2.4 s each and until the run ends. */
void steps_take_edges(struct survey *survey, uint32_t clocks);

#endif
