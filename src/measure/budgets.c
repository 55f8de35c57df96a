/* The time for each part of a run, by profile. See survey_plan.h. */
#include "measure/survey_internal.h"

#include "sync/pair_schedule.h"

/* Measuring all cores except the boot core takes at most this multiple of the option duration=. */
#define CORES_SHARE_FACTOR 10
#define QUICK_SHARE_MAX_NS (100 * SURVEY_NS_PER_MS)
#define CALIBRATION_TIMES  10 /* the calibration loops take at most this multiple of duration= */
#define WINDOW_FACTOR      10
#define WINDOW_MIN_NS      SURVEY_NS_PER_S
/* longest rate window; in a standard run it is WINDOW_LONG_FACTOR times duration= if this is longer */
#define WINDOW_MAX_NS      (10 * SURVEY_NS_PER_S)
#define WINDOW_LONG_FACTOR 3
#define PINGPONG_PLAN_NS   (2 * SURVEY_NS_PER_MS)
#define TIMERS_QUICK_NS    (400 * SURVEY_NS_PER_MS)
#define TIMERS_ALL_NS      (8 * SURVEY_NS_PER_S)
#define TIMERS_NS          (10 * SURVEY_NS_PER_S)
#define TIMERS_CORE_NS     (25 * SURVEY_NS_PER_MS)
/*
 * In a soak, the longest time for reading the clocks on each core except the boot core. Rare events are searched for
 * only on the boot core, which reads longer.
 */
#define CORE_READS_SOAK_NS (10 * SURVEY_NS_PER_S)

/*
 * Limits of the time after which a core gives up a ping-pong, because the other core may be dead. They are long because
 * two virtual cores seldom run at the same time on a busy host. The more pairs there are, the shorter is the time.
 */
#define PINGPONG_MIN_NS    (250 * SURVEY_NS_PER_MS)
#define PINGPONG_MAX_NS    (2 * SURVEY_NS_PER_S)

enum options_profile
survey_current_profile(const struct report *report)
{
	return report->ended_early ? PROFILE_QUICK : report->options.profile;
}

uint64_t
survey_measurement_budget_ns(const struct report *report)
{
	if (!report->ended_early)
		return report->duration_ns;
	return survey_smaller(report->duration_ns, options_default_duration_ns(PROFILE_QUICK));
}

uint64_t
survey_time_budget_per_core_ns(const struct report *report, size_t cores)
{
	uint64_t budget_ns = survey_measurement_budget_ns(report);
	uint64_t share_ns = budget_ns * CORES_SHARE_FACTOR / (cores > 1 ? cores - 1 : 1);

	if (survey_current_profile(report) == PROFILE_QUICK)
		share_ns = survey_smaller(share_ns, QUICK_SHARE_MAX_NS);
	return survey_smaller(share_ns, budget_ns);
}

uint64_t
survey_clock_read_budget_per_core_ns(const struct report *report, size_t cores)
{
	return survey_smaller(survey_time_budget_per_core_ns(report, cores),
			      report->options.profile == PROFILE_SOAK ? CORE_READS_SOAK_NS : UINT64_MAX);
}

uint64_t
survey_rate_window_ns(const struct report *report)
{
	uint64_t duration_ns = survey_measurement_budget_ns(report);
	uint64_t window_ns = survey_clamp(WINDOW_FACTOR * duration_ns, WINDOW_MIN_NS, WINDOW_MAX_NS);

	switch (survey_current_profile(report)) {
	case PROFILE_QUICK:
		return survey_larger(duration_ns, WINDOW_MIN_NS);
	case PROFILE_SOAK: /* a soak also measures rates over the whole run, so its window is never longer */
		return window_ns;
	default:
		return survey_larger(window_ns, WINDOW_LONG_FACTOR * duration_ns);
	}
}

uint64_t
survey_rate_window_with_waits_ns(const struct report *report)
{
	return SURVEY_EDGE_WAIT_NS + survey_rate_window_ns(report) + SURVEY_EDGE_WAIT_NS;
}

uint64_t
survey_max_device_checks_ns(const struct report *report)
{
	static const uint64_t profile_ns[] = {
		[PROFILE_QUICK] = 1200 * SURVEY_NS_PER_MS,
		[PROFILE_STANDARD] = 5 * SURVEY_NS_PER_S,
		[PROFILE_SOAK] = 20 * SURVEY_NS_PER_S,
	};

	return profile_ns[survey_current_profile(report)];
}

uint64_t
survey_planned_calibrations_ns(const struct report *report)
{
	static const uint64_t profile_ns[] = {
		[PROFILE_QUICK] = 300 * SURVEY_NS_PER_MS,
		[PROFILE_STANDARD] = 10 * SURVEY_NS_PER_S,
		[PROFILE_SOAK] = 60 * SURVEY_NS_PER_S,
	};

	/* A short duration= shortens the calibration loops, at most to their duration in a quick run. */
	return survey_clamp(CALIBRATION_TIMES * options_duration_ns(&report->options), profile_ns[PROFILE_QUICK],
			    profile_ns[survey_current_profile(report)]);
}

/*
 * Plans the whole budget for the device checks of a quick run, because they use nearly all of it. In other profiles
 * half of the budget is planned, because most checks end within this time.
 */
uint64_t
survey_planned_device_checks_ns(const struct report *report)
{
	uint64_t budget_ns = survey_max_device_checks_ns(report);

	return survey_current_profile(report) == PROFILE_QUICK ? budget_ns : budget_ns / 2;
}

uint64_t
survey_max_pair_pass_ns(const struct report *report)
{
	static const uint64_t profile_ns[] = {
		[PROFILE_QUICK] = 3 * SURVEY_NS_PER_S,
		[PROFILE_STANDARD] = 60 * SURVEY_NS_PER_S,
		[PROFILE_SOAK] = 600 * SURVEY_NS_PER_S,
	};

	return profile_ns[survey_current_profile(report)];
}

uint64_t
survey_planned_pair_pass_ns(const struct report *report, size_t cores)
{
	return survey_smaller(pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, cores) * PINGPONG_PLAN_NS,
			      survey_max_pair_pass_ns(report));
}

uint64_t
survey_max_pingpong_ns(const struct report *report, enum pair_schedule kind, size_t cores)
{
	return survey_clamp(survey_max_pair_pass_ns(report) / 2 / pair_schedule_count_pairs(kind, cores), PINGPONG_MIN_NS,
			    PINGPONG_MAX_NS);
}

uint64_t
survey_max_timer_tests_ns(const struct report *report, size_t cores)
{
	if (report->options.irq == IRQ_OFF)
		return 0;
	if (survey_current_profile(report) == PROFILE_QUICK)
		return report->options.irq == IRQ_ALL ? TIMERS_ALL_NS : TIMERS_QUICK_NS;
	return TIMERS_NS + (report->options.cores.method == CORES_SIPI && cores > 1 ? (cores - 1) * TIMERS_CORE_NS : 0);
}

uint64_t
survey_share_of_round_ns(const struct survey *survey, uint64_t ns)
{
	return survey->soak.rounds < 2 || survey->report->ended_early ? ns : ns / survey->soak.rounds;
}
