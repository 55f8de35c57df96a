/* Planned and longest durations of the parts of a run, in ns. They depend on the report's clocks, cores and options. */
#ifndef BARETICK_SURVEY_PLAN_H
#define BARETICK_SURVEY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "sync/pair_schedule.h"

#define SURVEY_NS_PER_MS UINT64_C(1000000)
#define SURVEY_NS_PER_S  UINT64_C(1000000000)
/* planned wait for the RTC's next tick, which takes half a second on average */
#define SURVEY_EDGE_WAIT_NS (600 * SURVEY_NS_PER_MS)

/*
 * Returns the profile for the rest of the run. This is the profile of the options, or "quick" after the user has asked
 * for the end of the run.
 */
enum options_profile survey_current_profile(const struct report *report);

/* Times that depend on the profile. budgets.c has the table. */
struct survey_budget {
	uint64_t core_max_ns;         /* limit of each measurement on one core other than the boot core */
	uint64_t core_reads_max_ns;   /* limit of the time in which such a core reads all clocks */
	/*
	 * The rate window takes the first multiple of duration=, but at least 1 s and at most 10 s. It takes the second
	 * multiple if this is longer.
	 */
	uint64_t window_factor, window_long_factor;
	/*
	 * Limit of a pass over the pairs of cores. If all pairs would take longer, only pairs with the boot core are
	 * measured.
	 */
	uint64_t pair_pass_max_ns;
	uint64_t checks_max_ns, checks_planned_ns; /* limit and planned duration of all checks of devices */
	uint64_t calibrations_max_ns; /* limit of the calibration loops */
};

/* Returns the times of the current profile. */
const struct survey_budget *survey_get_budget(const struct report *report);

/* returns the duration of one measurement in the current profile */
uint64_t survey_measurement_budget_ns(const struct report *report);

/* returns the time for measuring one core other than the boot core, including the start of its jobs */
uint64_t survey_planned_time_per_core_ns(const struct report *report, size_t cores);
/* returns the time for measuring one core, without the start of its jobs */
uint64_t survey_time_budget_per_core_ns(const struct report *report, size_t cores);
/* Returns the time for reading all clocks on one core other than the boot core. */
uint64_t survey_clock_read_budget_per_core_ns(const struct report *report, size_t cores);
/* Returns the duration of a rate window. */
uint64_t survey_rate_window_ns(const struct report *report);

/*
 * Returns the longest duration of a ping-pong. It is half of the time limit of a pass, divided by the number of pairs.
 * It is limited to 250 ms to 2 s.
 */
uint64_t survey_max_pingpong_ns(const struct report *report, enum pair_schedule kind, size_t cores);

/*
 * Returns the number of warp checks: two of the TSC (with and without a lock), and one (with a lock) of each
 * hypervisor's clock.
 */
uint64_t survey_count_warp_checks(const struct report *report);

/* Returns the planned duration of the calibration loops, which is also their time limit. */
uint64_t survey_planned_calibrations_ns(const struct report *report);

/* Returns the longest duration of the timer tests on the boot core and on the other cores. */
uint64_t survey_max_timer_tests_ns(const struct report *report, size_t cores);

/*
 * Returns the number of rounds of a soak with a series. The boot core's reads and the search for gaps are divided among
 * the rounds. Returns 1 if there are no rounds.
 */
uint64_t survey_count_rounds(const struct report *report, size_t cores);

/*
 * Returns the remaining duration, from the measuring time DONE_NS of the planned TOTAL_NS. After a tenth of the plan,
 * it is scaled by ELAPSED_NS / DONE_NS, because this run may be slower than planned. ELAPSED_NS is 0 after the user
 * asked for the end of the run, because DONE_NS is then by a shorter plan. Returns 0 if the plan is over.
 */
uint64_t survey_remaining_time_ns(uint64_t done_ns, uint64_t total_ns, uint64_t elapsed_ns);

#endif
