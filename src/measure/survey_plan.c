/*
 * Plans the duration of a run as the sum of its parts. This gives the progress and the remaining time. See
 * survey_plan.h.
 */
#include "measure/survey_internal.h"

#include "sync/pair_schedule.h"

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
#define DELAY_ATTEMPTS     2
#define PAIR_PASS_DELAY_MAX_NS (10 * SURVEY_NS_PER_S)
#define DELAY_WARPS_NS     (2 * SURVEY_NS_PER_S) /* additional time for each warp check */
/* additional time for each core except the boot core, both when one core reads alone and when all cores read at once */
#define DELAY_CORE_NS      SURVEY_NS_PER_S
#define DELAY_CORES_NS     (5 * SURVEY_NS_PER_S)

static size_t
count_usable_clocks(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->clock_count; i++)
		count += survey_usable(&report->clocks[i]);
	return count;
}

uint64_t
survey_count_warp_checks(const struct report *report)
{
	uint64_t count = 2;

	for (size_t i = 0; i < report->clock_count; i++)
		count += report->clocks[i].clock.by_tsc && survey_usable(&report->clocks[i]);
	return count;
}

/* Returns the part of NS that the host is expected to take, by the share of time that it took in the rate window. */
static uint64_t
expected_host_delay_ns(const struct survey *survey, uint64_t ns)
{
	return survey->rates.batches.all ? scale_mul_div(ns, survey->rates.batches.preempted, survey->rates.batches.all) : 0;
}

uint64_t
survey_expected_host_delay_of_pair_pass_ns(const struct survey *survey)
{
	size_t cores = survey->smp->count;
	uint64_t all_ns;

	if (cores < 2)
		return 0;
	all_ns = DELAY_ATTEMPTS * pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, cores) *
		 survey_max_pingpong_ns(survey->report, PAIR_SCHEDULE_ALL, cores);
	all_ns = survey_smaller(all_ns, survey_smaller(survey_max_pair_pass_ns(survey->report), PAIR_PASS_DELAY_MAX_NS));
	return expected_host_delay_ns(survey, all_ns);
}

uint64_t
survey_planned_time_per_core_ns(const struct report *report, size_t cores)
{
	return SURVEY_SPIN_NS + survey_clock_read_budget_per_core_ns(report, cores) +
	       count_usable_clocks(report) * JOB_OVERHEAD_NS;
}

static uint64_t
planned_time_of_part_ns(const struct report *report, size_t cores, enum survey_part part)
{
	uint64_t others = cores > 1 ? cores - 1 : 0;

	switch (part) {
	case SURVEY_RATES:
		return survey_rate_window_with_waits_ns(report);
	case SURVEY_LATENCIES:
		return count_usable_clocks(report) * survey_measurement_budget_ns(report);
	case SURVEY_PAIRS:
	case SURVEY_PAIRS_AGAIN:
		return survey_planned_pair_pass_ns(report, cores);
	case SURVEY_CORES:
		return others * survey_planned_time_per_core_ns(report, cores);
	case SURVEY_CONTENDED:
		return others ? count_usable_clocks(report) * CONTENDED_NS : 0;
	case SURVEY_WARPS:
		return others ? survey_count_warp_checks(report) * WARPS_NS : 0;
	case SURVEY_GAPS:
		return cores * survey_time_budget_per_core_ns(report, cores);
	case SURVEY_RATES_AGAIN:
		return SURVEY_EDGE_WAIT_NS;
	default:
		return survey_planned_device_checks_ns(report);
	}
}

uint64_t
survey_planned_run_ns(const struct report *report, size_t cores)
{
	uint64_t sum_ns = 0;

	for (enum survey_part part = 0; part < SURVEY_CALIBRATIONS; part++)
		sum_ns += planned_time_of_part_ns(report, cores, part);
	return sum_ns;
}

/* Returns the time that a busy host is expected to add to a part of a run with several cores. */
static uint64_t
expected_host_delay_of_part_ns(const struct survey *survey, enum survey_part part)
{
	switch (part) {
	case SURVEY_PAIRS: /* the first pass and the middle one */
		return 2 * survey_expected_host_delay_of_pair_pass_ns(survey);
	case SURVEY_PAIRS_AGAIN:
		return survey_expected_host_delay_of_pair_pass_ns(survey);
	case SURVEY_CORES:
	case SURVEY_CONTENDED:
		return expected_host_delay_ns(survey, survey_smaller((survey->smp->count - 1) * DELAY_CORE_NS, DELAY_CORES_NS));
	case SURVEY_WARPS:
		return expected_host_delay_ns(survey, survey_count_warp_checks(survey->report) * DELAY_WARPS_NS);
	case SURVEY_CHECKS:
		/* The waits for devices do not overlap with the host's delay, so the whole delay is added. */
		return expected_host_delay_ns(survey, survey_planned_device_checks_ns(survey->report) + survey->plan.timers_ns);
	default:
		return 0;
	}
}

void
survey_add_host_delay_to_plan(struct survey *survey)
{
	survey->plan.late_ns = 0;
	for (enum survey_part part = 0; part < SURVEY_CALIBRATIONS && survey->smp->count > 1; part++)
		survey->plan.late_ns += expected_host_delay_of_part_ns(survey, part);
	survey->plan.total_ns += survey->plan.late_ns;
}

uint64_t
survey_count_rounds(const struct report *report, size_t cores)
{
	uint64_t all_ns = planned_time_of_part_ns(report, cores, SURVEY_LATENCIES) +
			  planned_time_of_part_ns(report, cores, SURVEY_GAPS);
	uint64_t round_ns = survey_smaller(report->options.interval_ns / ROUNDS_A_ROW, ROUND_NS_MAX);
	bool is_soak = survey_current_profile(report) == PROFILE_SOAK && report->series.max;

	return is_soak && all_ns > round_ns ? all_ns / round_ns : 1;
}

void
survey_begin_part(struct survey *survey, enum survey_part begun)
{
	uint64_t remaining_ns = survey->plan.timers_ns + (begun <= SURVEY_CALIBRATIONS ? survey->plan.calibrations_ns : 0);
	uint64_t reads_ns = planned_time_of_part_ns(survey->report, survey->smp->count, SURVEY_LATENCIES);

	for (enum survey_part part = begun; part < SURVEY_CALIBRATIONS; part++) {
		remaining_ns += planned_time_of_part_ns(survey->report, survey->smp->count, part);
		if (survey->plan.late_ns)
			remaining_ns += expected_host_delay_of_part_ns(survey, part);
	}
	if (begun <= SURVEY_GAPS) /* the later rounds of a soak read the clocks on the boot core again */
		remaining_ns += reads_ns - survey_share_until_end_of_round_ns(survey, reads_ns);
	if (remaining_ns < survey->plan.total_ns && survey->plan.done_ns < survey->plan.total_ns - remaining_ns)
		survey->plan.done_ns = survey->plan.total_ns - remaining_ns;
}

/*
 * Returns the remaining time after the plan changed. BEFORE has the planned times of the old plan, and DONE_NS is the
 * time that is done. AFTER has the options of the new plan. If a fraction of a part of the run remains in the old plan,
 * the same fraction remains in the new plan.
 */
static uint64_t
remaining_time_of_new_plan_ns(const uint64_t before[SURVEY_CALIBRATIONS], uint64_t done_ns, const struct report *after,
			      size_t cores)
{
	uint64_t sum_ns = 0;

	for (enum survey_part part = 0; part < SURVEY_CALIBRATIONS; part++) {
		uint64_t done = survey_smaller(done_ns, before[part]);

		if (before[part])
			sum_ns += scale_mul_div_up(planned_time_of_part_ns(after, cores, part), before[part] - done,
						   before[part]);
		done_ns -= done;
	}
	return sum_ns;
}

void
survey_switch_to_quick_profile(struct survey *survey)
{
	struct report *report = survey->report;
	size_t cores = survey->smp->count;
	uint64_t before[SURVEY_CALIBRATIONS];

	for (enum survey_part part = 0; part < SURVEY_CALIBRATIONS; part++)
		before[part] = planned_time_of_part_ns(report, cores, part);
	report->ended_early = true;
	report->ended_early_ms = scale_ns(&survey->scale, survey->hooks.tsc_ordered() - report->start_tsc) / SURVEY_NS_PER_MS;
	if (survey->plan.timers_ns)
		survey->plan.timers_ns = survey_max_timer_tests_ns(report, cores);
	if (survey->plan.calibrations_ns)
		survey->plan.calibrations_ns = survey_planned_calibrations_ns(report);
	survey->plan.late_ns = 0;
	survey->plan.total_ns = survey->plan.done_ns +
				remaining_time_of_new_plan_ns(before, survey->plan.done_ns, report, cores) +
				survey->plan.calibrations_ns + survey->plan.timers_ns;
	report_add_note(report, "The user ended the run early at %lu.%lu s (a key, or Ctrl-C of qemu/run): the rest was "
			"measured as with profile=quick.", report->ended_early_ms / 1000, report->ended_early_ms % 1000 / 100);
}

uint64_t
survey_remaining_time_ns(uint64_t done_ns, uint64_t total_ns, uint64_t elapsed_ns)
{
	uint64_t left_ns = done_ns < total_ns ? total_ns - done_ns : 0;

	return done_ns && done_ns >= total_ns / PACE_FROM ? scale_mul_div(left_ns, elapsed_ns, done_ns) : left_ns;
}
