/*
 * Planned and longest durations of the parts of a run. They depend on the report's clocks, cores and options. All are
 * in ns.
 */
#ifndef BARETICK_SURVEY_PLAN_H
#define BARETICK_SURVEY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "sync/pair_schedule.h"

#define SURVEY_NS_PER_MS UINT64_C(1000000)
#define SURVEY_NS_PER_S  UINT64_C(1000000000)
/* time to wait for the RTC's next tick: half a second on average */
#define SURVEY_EDGE_WAIT_NS (600 * SURVEY_NS_PER_MS)

/*
 * Returns the profile for the rest of the run. It is the option's profile, or "quick" after the user has asked for the
 * end.
 */
enum options_profile survey_current_profile(const struct report *report);
uint64_t survey_duration_ns(const struct report *report); /* duration of a measurement in this profile */

uint64_t survey_rates_ns(const struct report *report); /* the rate window, and the waits for RTC ticks at its ends */
uint64_t survey_core_ns(const struct report *report, size_t cores); /* measuring one core, with starting its jobs */
uint64_t survey_core_share_ns(const struct report *report, size_t cores); /* measuring one core, without that */
/* Time for reading all clocks on one core other than the boot core. */
uint64_t survey_core_reads_ns(const struct report *report, size_t cores);
/* Returns the length of a rate window. */
uint64_t survey_window_ns(const struct report *report);

/*
 * Planned duration of a pass over the pairs of CORES, and its limit. If all pairs would take longer than the limit,
 * only pairs with the boot core are measured.
 */
uint64_t survey_pair_pass_ns(const struct report *report, size_t cores);
uint64_t survey_pair_pass_budget_ns(const struct report *report);

/* Longest duration of a ping-pong. If all pairs took this long, they would use half of the budget. */
uint64_t survey_pingpong_bound_ns(const struct report *report, enum pair_schedule kind, size_t cores);

/*
 * Returns the number of warp checks: two of the TSC (with and without a lock), and one (with a lock) of each
 * hypervisor's clock.
 */
uint64_t survey_warp_checks(const struct report *report);

/* Longest and planned duration of all checks of devices. The planned duration is part of the plan. */
uint64_t survey_checks_ns(const struct report *report);
uint64_t survey_checks_plan_ns(const struct report *report);

/* Planned and longest duration of the calibration loops. Not part of survey_plan_ns(). */
uint64_t survey_calibrations_ns(const struct report *report);

/* Longest duration of the timer tests on the boot core and on the other cores. It is not part of the plan. */
uint64_t survey_timers_ns(const struct report *report, size_t cores);

/*
 * Returns the number of rounds of a soak with a series. They divide the boot core's reads and the search for gaps.
 * Returns 1 if there are no rounds.
 */
uint64_t survey_rounds(const struct report *report, size_t cores);

/* Returns the planned duration of the run. */
uint64_t survey_plan_ns(const struct report *report, size_t cores);

/*
 * Returns the remaining duration. After a tenth of the plan, the rest is scaled by ELAPSED_NS / DONE_NS, the speed of
 * this run. Returns 0 if the plan is over.
 */
uint64_t survey_left_ns(uint64_t done_ns, uint64_t total_ns, uint64_t elapsed_ns);

#endif
