/*
 * Plans the duration of a run as the sum of its parts. This gives the progress and the remaining time. See
 * survey_plan.h.
 */
#include "measure/survey_internal.h"

#include "sync/pair_schedule.h"

#define PAIR_NS            (2 * SURVEY_NS_PER_MS)   /* time for the ping-pong of a pair of cores */
#define SLEEP_NS           (150 * SURVEY_NS_PER_MS) /* time for the tests of a sleep state */
#define WARPS_NS           (500 * SURVEY_NS_PER_MS) /* time for each warp check */
/* Time for each clock: waking all cores, and reading the clock a few hundred times. */
#define CONTENDED_NS       (5 * SURVEY_NS_PER_MS)
/* time for starting a job on a core, and for processing its results */
#define JOB_OVERHEAD_NS    (2 * SURVEY_NS_PER_MS)
/*
 * After a tenth (1 / PACE_FROM) of the plan, the speed of this run is used to estimate the remaining time. Before that,
 * this speed is too uncertain.
 */
#define PACE_FROM          10
/*
 * Longest round of a soak. All clocks are read between two rounds, and the wraps of a narrow counter must be counted in
 * time.
 */
#define ROUND_NS_MAX       (15 * SURVEY_NS_PER_S)
#define ROUNDS_A_ROW       4
/*
 * Additional times on a busy host. They were measured on hosts that took nearly all time from guests with two and four
 * cores.
 */
#define DELAY_PAIR_NS      (4 * SURVEY_NS_PER_S)  /* for each pair in a pass over the pairs of cores, */
#define DELAY_PASS_MAX_NS  (10 * SURVEY_NS_PER_S) /* but at most this time for a pass */
#define DELAY_WARPS_NS     (2 * SURVEY_NS_PER_S)  /* for each warp check */
/* for each core except the boot core, both when one core reads alone and when all cores read at once */
#define DELAY_CORE_NS      SURVEY_NS_PER_S
#define DELAY_CORES_MAX_NS (5 * SURVEY_NS_PER_S)

static size_t
count_usable_clocks(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		count += survey_usable(&report->facts.clocks[i]);
	return count;
}

uint64_t
survey_count_warp_checks(const struct report *report)
{
	uint64_t count = 2;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		count += report->facts.clocks[i].clock.by_tsc && survey_usable(&report->facts.clocks[i]);
	return count;
}

/*
 * Returns the part of NS that the host is expected to take from a run on several cores, by the share of time that it
 * took in the rate window.
 */
static uint64_t
expected_host_delay_ns(const struct survey *survey, uint64_t ns)
{
	if (survey->smp->count < 2 || !survey->rates.batches.all)
		return 0;
	return scale_mul_div(ns, survey->rates.batches.preempted, survey->rates.batches.all);
}

uint64_t
survey_planned_time_per_core_ns(const struct report *report, size_t cores)
{
	return SURVEY_SPIN_NS + survey_clock_read_budget_per_core_ns(report, cores) +
	       count_usable_clocks(report) * JOB_OVERHEAD_NS;
}

/* Returns the time for reading all clocks on the boot core, and for observing all cores for gaps. */
static uint64_t
time_for_long_measurements_ns(const struct report *report, size_t cores)
{
	return count_usable_clocks(report) * survey_measurement_budget_ns(report) +
	       cores * survey_time_budget_per_core_ns(report, cores);
}

/* Returns the time for HLT, and with sleep=deep for two deep states. */
static uint64_t
planned_sleep_ns(const struct survey *survey)
{
	enum options_sleep sleep = survey->report->facts.options.cores.sleep;

	return !survey->hooks.sleep || sleep == SLEEP_OFF ? 0 : sleep == SLEEP_HALT ? SLEEP_NS : 3 * SLEEP_NS;
}

/* Returns the planned duration of a part of the run, with the time that a busy host is expected to add. */
static uint64_t
planned_time_of_part_ns(const struct survey *survey, enum survey_part part)
{
	const struct report *report = survey->report;
	uint64_t cores = survey->smp->count, others = cores - 1, clocks = count_usable_clocks(report), ns;
	uint64_t pairs = pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, cores);
	uint64_t pass_max_ns = survey_get_budget(report)->pair_pass_max_ns;

	switch (part) {
	case SURVEY_RATES:
		return SURVEY_EDGE_WAIT_NS + survey_rate_window_ns(report) + SURVEY_EDGE_WAIT_NS;
	case SURVEY_LATENCIES:
		return clocks * survey_share_of_round_ns(survey, survey_measurement_budget_ns(report));
	case SURVEY_PAIRS:
	case SURVEY_PAIRS_MIDDLE:
	case SURVEY_PAIRS_AGAIN:
		ns = survey_smaller(survey_smaller(pairs * DELAY_PAIR_NS, pass_max_ns), DELAY_PASS_MAX_NS);
		/* the middle pass is left out if it would take long */
		return (part == SURVEY_PAIRS_MIDDLE ? 0 : survey_smaller(pairs * PAIR_NS, pass_max_ns)) +
		       expected_host_delay_ns(survey, ns);
	case SURVEY_CORES:
	case SURVEY_CONTENDED:
		ns = part == SURVEY_CORES ? survey_planned_time_per_core_ns(report, cores) * others : clocks * CONTENDED_NS;
		return others ? ns + expected_host_delay_ns(survey, survey_smaller(others * DELAY_CORE_NS, DELAY_CORES_MAX_NS)) : 0;
	case SURVEY_WARPS:
		ns = WARPS_NS + expected_host_delay_ns(survey, DELAY_WARPS_NS);
		return others ? survey_count_warp_checks(report) * ns : 0;
	case SURVEY_GAPS:
		return cores * survey_share_of_round_ns(survey, survey_time_budget_per_core_ns(report, cores));
	case SURVEY_ROUNDS:
		ns = time_for_long_measurements_ns(report, cores);
		return ns - survey_share_of_round_ns(survey, ns);
	case SURVEY_RATES_AGAIN:
		return SURVEY_EDGE_WAIT_NS;
	case SURVEY_SLEEP:
		return planned_sleep_ns(survey);
	case SURVEY_CHECKS:
		ns = survey_get_budget(report)->checks_planned_ns;
		return ns + expected_host_delay_ns(survey, ns); /* waits for devices do not overlap with the host's delay */
	case SURVEY_CALIBRATIONS:
		return survey->plan.has_calibrations ? survey_planned_calibrations_ns(report) : 0;
	default:
		ns = survey->plan.has_timers ? survey_max_timer_tests_ns(report, cores) : 0;
		return ns + expected_host_delay_ns(survey, ns);
	}
}

static uint64_t
planned_time_before_part_ns(const struct survey *survey, enum survey_part end)
{
	uint64_t sum_ns = 0;

	for (enum survey_part part = 0; part < end; part++)
		sum_ns += planned_time_of_part_ns(survey, part);
	return sum_ns;
}

uint64_t
survey_planned_run_ns(const struct survey *survey)
{
	return planned_time_before_part_ns(survey, SURVEY_PARTS);
}

uint64_t
survey_count_rounds(const struct report *report, size_t cores)
{
	uint64_t all_ns = time_for_long_measurements_ns(report, cores);
	uint64_t round_ns = survey_smaller(report->facts.options.interval_ns / ROUNDS_A_ROW, ROUND_NS_MAX);
	bool is_soak = survey_current_profile(report) == PROFILE_SOAK && report->facts.series.max;

	return is_soak && all_ns > round_ns ? all_ns / round_ns : 1;
}

void
survey_show_progress(const struct survey *survey, const char *what, uint64_t extra_ns)
{
	const struct survey_plan *plan = &survey->plan;
	uint64_t done_ns = planned_time_before_part_ns(survey, plan->part) +
			   survey_smaller(plan->done_ns + extra_ns, planned_time_of_part_ns(survey, plan->part));

	survey->hooks.progress(survey->hooks.context, what, done_ns, survey_planned_run_ns(survey));
}

uint64_t
survey_remaining_time_ns(uint64_t done_ns, uint64_t total_ns, uint64_t elapsed_ns)
{
	uint64_t left_ns = done_ns < total_ns ? total_ns - done_ns : 0;

	if (!elapsed_ns || !done_ns || done_ns < total_ns / PACE_FROM)
		return left_ns;
	return scale_mul_div(left_ns, elapsed_ns, done_ns);
}
