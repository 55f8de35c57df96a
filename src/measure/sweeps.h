/*
 * Declarations for the files that compare the clocks in steps. A step is the interval between two readings of all
 * devices' main clocks: see sweeps.c. Used only in src/measure.
 */
#ifndef BARETICK_SWEEPS_H
#define BARETICK_SWEEPS_H

#include "measure/survey_internal.h"

#include "base/set.h"

/* duration of the observation of all clocks after they disagreed, to find changed rates */
#define STEPS_SETTLE_NS      (10 * SURVEY_NS_PER_MS)

/*
 * The first function returns true if clock I (an index into the report) is compared. The second function returns true
 * if clock I is an edge clock (an RTC, see clock.h).
 */
bool sweeps_is_clock_compared(const struct survey *survey, size_t i);
bool sweeps_is_edge_clock(const struct survey *survey, size_t i);

/*
 * Reads each compared clock a few times, and keeps its last reading. Edge clocks are left out unless WITH_EDGE_CLOCKS
 * is true.
 */
void sweeps_read_all_clocks(struct survey *survey, bool with_edge_clocks);

/*
 * Repeats reading all clocks except edge clocks, until the core was not preempted during any reading. The number of
 * repetitions is limited.
 */
void sweeps_read_all_clocks_without_preemption(struct survey *survey);

/*
 * Waits for the next edge of each edge clock in CLOCKS. The wait ends after 2.4 s for each clock, and when the run
 * ends.
 */
void sweeps_wait_for_edges(struct survey *survey, uint32_t clocks);

#endif
