/* Planned and longest durations of each part of a run, from the report's clocks, cores and options. All in ns. */
#ifndef BARETICK_SURVEY_PLAN_H
#define BARETICK_SURVEY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "sync/pair_schedule.h"

#define SURVEY_NS_PER_MS UINT64_C(1000000)
#define SURVEY_NS_PER_S  UINT64_C(1000000000)
#define SURVEY_EDGE_WAIT_NS (600 * SURVEY_NS_PER_MS) /* half a second on average until the RTC's next edge */

/* The profile of the rest of the run: the option's, or quick once the user has asked for the end. */
enum options_profile survey_pace(const struct report *report);
uint64_t survey_duration_ns(const struct report *report); /* duration of one measurement in that profile */

uint64_t survey_rates_ns(const struct report *report); /* the window and the waits for its edges */
uint64_t survey_core_ns(const struct report *report, size_t cores); /* one core, with its overhead */
uint64_t survey_core_share_ns(const struct report *report, size_t cores); /* measuring one core */
/* Reading all clocks on one other core. */
uint64_t survey_core_reads_ns(const struct report *report, size_t cores);
/* Between the two ends of a rate window. */
uint64_t survey_window_ns(const struct report *report);

/*
 * Planned duration of a pass over the pairs of CORES, and the time after which it is limited to the boot core's
 * pairs or cut short.
 */
uint64_t survey_tournament_ns(const struct report *report, size_t cores);
uint64_t survey_tournament_budget_ns(const struct report *report);

/* Longest duration of a ping-pong: all of them would fit into half of the budget. */
uint64_t survey_pingpong_bound_ns(const struct report *report, enum tournament kind, size_t cores);

/* Number of warp checks: two of the TSC (with and without a lock), and one of each hypervisor clock (with a lock). */
uint64_t survey_warp_checks(const struct report *report);

/* Longest and planned duration of all checks of the devices' behaviour. Part of the plan. */
uint64_t survey_checks_ns(const struct report *report);
uint64_t survey_checks_plan_ns(const struct report *report);

/* Longest duration of the timer tests, on the boot core and on the others. Not part of the plan. */
uint64_t survey_timers_ns(const struct report *report, size_t cores);

/*
 * Number of rounds over which a soak with a series spreads the boot core's reads and the search for gaps; 1 for
 * no rounds.
 */
uint64_t survey_rounds(const struct report *report, size_t cores);

/* Planned duration of the run. */
uint64_t survey_plan_ns(const struct report *report, size_t cores);

/*
 * Remaining duration. After a tenth of the plan, the planned rest is scaled by ELAPSED_NS / DONE_NS, the run's
 * own pace. 0 if the plan is over.
 */
uint64_t survey_left_ns(uint64_t done_ns, uint64_t total_ns, uint64_t elapsed_ns);

#endif
