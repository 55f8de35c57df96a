/* How long each part of a run may take, and should: from the report's clocks, cores and options. In nanoseconds. */
#ifndef BARETICK_SURVEY_PLAN_H
#define BARETICK_SURVEY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "sync/tournament.h"

#define SURVEY_NS_PER_MS UINT64_C(1000000)
#define SURVEY_NS_PER_S  UINT64_C(1000000000)
#define SURVEY_EDGE_WAIT_NS (600 * SURVEY_NS_PER_MS) /* half a second on average until the RTC's next */

/* As which profile the run goes on: as its options say, or quick from when somebody asked for the end. */
enum options_profile survey_pace(const struct report *report);
uint64_t survey_duration_ns(const struct report *report); /* of one measurement; likewise */

uint64_t survey_rates_ns(const struct report *report); /* the window and the waits for its edges */
uint64_t survey_core_ns(const struct report *report, size_t cores); /* of one core, with its overhead */
uint64_t survey_core_share_ns(const struct report *report, size_t cores); /* of measuring, for one core */
uint64_t survey_core_reads_ns(const struct report *report, size_t cores); /* of reading clocks, for one other core */
uint64_t survey_window_ns(const struct report *report);                   /* between the ends of a rate window */

/* How long a tournament of CORES should take, and how long it may take before it is a star or is cut short. */
uint64_t survey_tournament_ns(const struct report *report, size_t cores);
uint64_t survey_tournament_budget_ns(const struct report *report);

/* How long a ping-pong may take: as long as all would fit into half of the budget, if each took so long. */
uint64_t survey_pingpong_bound_ns(const struct report *report, enum tournament kind, size_t cores);

/* How long the checks of the devices' behaviour may take, all together, and how long they should: part of the plan. */
uint64_t survey_checks_ns(const struct report *report);
uint64_t survey_checks_plan_ns(const struct report *report);

/* How long intervals on all timers may take, on the boot core and on others; not part of the plan. */
uint64_t survey_timers_ns(const struct report *report, size_t cores);

/* Over how many rounds a soak with a series spreads the boot core's reads and the watch for gaps; 1: over none. */
uint64_t survey_rounds(const struct report *report, size_t cores);

/* How long all of it should take, from the report's clocks, cores and options, in nanoseconds. */
uint64_t survey_plan_ns(const struct report *report, size_t cores);

/*
 * How long the rest of it should take: what is left by the plan, and from a tenth of it on as much longer or shorter
 * as what is DONE_NS by the plan took, ELAPSED_NS. 0 where the plan is over.
 */
uint64_t survey_left_ns(uint64_t done_ns, uint64_t total_ns, uint64_t elapsed_ns);

#endif
