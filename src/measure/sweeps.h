/*
 * Declarations for the files that compare the clocks in steps. A step is the time from one reading of all main clocks
 * to the next: see sweeps.c. Used only in src/measure.
 */
#ifndef BARETICK_SWEEPS_H
#define BARETICK_SWEEPS_H

#include "measure/survey_internal.h"

#include "base/set.h"

#define STEPS_SETTLE_NS      (10 * SURVEY_NS_PER_MS) /* duration of the observation of a changed rate */

/*
 * These functions return true if clock I (an index into the report) is compared, and if it is an edge clock (an RTC,
 * see clock.h).
 */
bool steps_is_compared(const struct survey *survey, size_t i);
bool steps_is_edge_clock(const struct survey *survey, size_t i);

/* Reads the clocks several times and keeps the last reading. If ALL is false, leaves out edge clocks. */
void steps_sweep(struct survey *survey, bool all);

/* Reads all clocks except edge clocks until no reading was preempted. The number of readings is limited. */
void steps_sweep_tightly(struct survey *survey);

/*
 * Waits for the next edge of each edge clock in CLOCKS. The wait ends after 2.4 s for each clock, and when the run
 * ends.
 */
void steps_take_edges(struct survey *survey, uint32_t clocks);

#endif
