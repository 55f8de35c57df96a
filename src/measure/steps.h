/*
 * What the files of the steps share: one step is from a reading of all main clocks to the next, see steps.c. Within
 * src/measure alone.
 */
#ifndef STEPS_H
#define STEPS_H

#include "measure/survey_internal.h"

#include "base/set.h"
#include "consensus/discontinuity.h"

#define STEPS_TSC            REPORT_CLOCKS_MAX /* the place of the TSC, which all are read by, in the report or not */
#define STEPS_SETTLE_NS      (10 * SURVEY_NS_PER_MS) /* for which a rate that changed is looked at */
/*
 * A guest's RTC: its host's main loop was kept waiting. A window of the rates is not made of such edges, but less
 * than the worst that is seen of a busy host is nothing to be said.
 */
#define STEPS_EDGE_LATE_NS   (10 * (int64_t)SURVEY_NS_PER_MS)
#define STEPS_EDGE_LATEST_NS (50 * (int64_t)SURVEY_NS_PER_MS)

/* Whether clock I, an index of the report's, takes part; and whether its edges alone tell what it says. */
bool steps_is_compared(const struct survey *survey, size_t i);
bool steps_is_edge_clock(const struct survey *survey, size_t i);

/* TICKS, or the farthest that is no garbage. */
int64_t steps_clamped(int64_t ticks);

/*
 * By how much each clock is ahead of the TSC since it fitted, in groups between which there is more than FLOOR_NS. An
 * edge clock of a guest may show its edge as late as EDGE_LATE_NS.
 */
struct discontinuity steps_find(const struct survey *survey, int64_t edge_late_ns, uint64_t floor_ns);

/* By how many ns at most edge clock I may be ahead in a step in which it fits; 0 of any other. */
int64_t steps_hidden_ns(const struct survey *survey, size_t i);

/* Reads all that are no edge clocks, each several times, of which the last counts; with ALL the edge clocks too. */
void steps_sweep(struct survey *survey, bool all);

/* The same without edge clocks, again a bounded number of times until the core was not away in any reading. */
void steps_sweep_tightly(struct survey *survey);

/* Waits for the next edge of each edge clock of CLOCKS: for 2.4 s at most, and no longer than the run. */
void steps_take_edges(struct survey *survey, uint32_t clocks);

uint32_t steps_beside_the_tsc(const struct discontinuity *found); /* those that are in a group without the TSC */

/* Whether there is none but edge clocks in CLOCKS. */
bool steps_are_edge_clocks(const struct survey *survey, uint32_t clocks);

/* Writes FOUND, of the step up to NOW of the TSC, into the report; what has no space there is counted. */
void steps_record(struct survey *survey, const struct discontinuity *found, uint64_t now);

#endif
