/*
 * Shared by the files that compare the clocks in steps, from one reading of all main clocks to the next: see
 * sweeps.c. For src/measure only.
 */
#ifndef BARETICK_SWEEPS_H
#define BARETICK_SWEEPS_H

#include "measure/survey_internal.h"

#include "base/set.h"
#include "consensus/discontinuity.h"

/* place of the TSC, the time base of all readings, whether it is in the report or not */
#define STEPS_TSC            REPORT_CLOCKS_MAX
#define STEPS_SETTLE_NS      (10 * SURVEY_NS_PER_MS) /* how long a changed rate is observed */
/*
 * A guest's RTC edge is late if the host's main loop was delayed. Edges later than the first limit do not end a
 * rate window. Up to the second limit, the worst seen on busy hosts, they are not reported.
 */
#define STEPS_EDGE_LATE_NS   (10 * (int64_t)SURVEY_NS_PER_MS)
#define STEPS_EDGE_LATEST_NS (50 * (int64_t)SURVEY_NS_PER_MS)

/* Returns true if clock I, an index into the report, is compared; and if only its edges are exact. */
bool steps_is_compared(const struct survey *survey, size_t i);
bool steps_is_edge_clock(const struct survey *survey, size_t i);

/* TICKS, limited to a range that leaves out garbage. */
int64_t steps_clamped(int64_t ticks);

/*
 * Finds how far each clock is ahead of the TSC since it last fitted, in groups that differ by more than
 * FLOOR_NS. A guest's edge clock may show its edge up to EDGE_LATE_NS late.
 */
struct discontinuity steps_find(const struct survey *survey, int64_t edge_late_ns, uint64_t floor_ns);

/* Upper bound in ns on how far edge clock I may be ahead of the TSC and still fit; 0 for other clocks. */
int64_t steps_hidden_ns(const struct survey *survey, size_t i);

/* Reads all clocks several times and keeps the last reading. Edge clocks only with ALL. */
void steps_sweep(struct survey *survey, bool all);

/* Reads all clocks but edge clocks, a bounded number of times, until no reading was preempted. */
void steps_sweep_tightly(struct survey *survey);

/* Waits for the next edge of each edge clock in CLOCKS, at most 2.4 s each and until the run ends. */
void steps_take_edges(struct survey *survey, uint32_t clocks);

uint32_t steps_beside_the_tsc(const struct discontinuity *found); /* clocks in groups without the TSC */

/* Returns true if CLOCKS has only edge clocks. */
bool steps_are_edge_clocks(const struct survey *survey, uint32_t clocks);

/*
 * Writes FOUND into the report, for the step that ends at TSC NOW. Only counts it if the report has no space
 * left.
 */
void steps_record(struct survey *survey, const struct discontinuity *found, uint64_t now);

#endif
