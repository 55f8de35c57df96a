/* The time for each part of a run, by profile. See survey_plan.h. */
#include "measure/survey_internal.h"

#include "sync/pair_schedule.h"

/* Measuring all cores except the boot core takes at most this multiple of the option duration=. */
#define CORES_SHARE_FACTOR 10
#define CALIBRATION_TIMES  10 /* the calibration loops take at most this multiple of duration= */
#define WINDOW_MIN_NS      SURVEY_NS_PER_S
#define WINDOW_MAX_NS      (10 * SURVEY_NS_PER_S) /* limit of a rate window of window_factor times duration= */
#define TIMERS_QUICK_NS    (400 * SURVEY_NS_PER_MS)
#define TIMERS_ALL_NS      (8 * SURVEY_NS_PER_S)
#define TIMERS_NS          (10 * SURVEY_NS_PER_S)
#define TIMERS_CORE_NS     (25 * SURVEY_NS_PER_MS)
/*
 * Limits of the time after which a core gives up a ping-pong, because the other core may be dead. They are long because
 * two virtual cores seldom run at the same time on a busy host. The more pairs there are, the shorter is the time.
 */
#define PINGPONG_MIN_NS    (250 * SURVEY_NS_PER_MS)
#define PINGPONG_MAX_NS    (2 * SURVEY_NS_PER_S)

#define MS                 SURVEY_NS_PER_MS
#define S                  SURVEY_NS_PER_S
#define UNLIMITED          UINT64_MAX

/*
 * A quick run uses nearly all its time for checks, so the whole time is planned. In longer runs most checks end within
 * half of the time. A soak searches for rare events only on the boot core, which reads longer than the other cores. It
 * also measures rates over the whole run, so its window is never longer than 10 s.
 */
static const struct survey_budget budgets[] = {
	/* The values are in the order of the fields. */
	[PROFILE_QUICK]    = { 100 * MS,  100 * MS,  1, 1,   3 * S,     1200 * MS, 1200 * MS, 300 * MS },
	[PROFILE_STANDARD] = { UNLIMITED, UNLIMITED, 10, 3,  60 * S,    5000 * MS, 2500 * MS, 10 * S },
	[PROFILE_SOAK]     = { UNLIMITED, 10 * S,    10, 0,  600 * S,   20 * S,    10 * S,    60 * S },
};

enum options_profile
survey_current_profile(const struct report *report)
{
	return report->facts.run.ended_early ? PROFILE_QUICK : report->facts.options.profile;
}

const struct survey_budget *
survey_get_budget(const struct report *report)
{
	return &budgets[survey_current_profile(report)];
}

uint64_t
survey_measurement_budget_ns(const struct report *report)
{
	if (!report->facts.run.ended_early)
		return report->duration_ns;
	return survey_smaller(report->duration_ns, options_default_duration_ns(PROFILE_QUICK));
}

uint64_t
survey_time_budget_per_core_ns(const struct report *report, size_t cores)
{
	uint64_t budget_ns = survey_measurement_budget_ns(report);
	uint64_t share_ns = budget_ns * CORES_SHARE_FACTOR / (cores > 1 ? cores - 1 : 1);

	return survey_smaller(share_ns, survey_smaller(budget_ns, survey_get_budget(report)->core_max_ns));
}

uint64_t
survey_clock_read_budget_per_core_ns(const struct report *report, size_t cores)
{
	return survey_smaller(survey_time_budget_per_core_ns(report, cores), survey_get_budget(report)->core_reads_max_ns);
}

uint64_t
survey_rate_window_ns(const struct report *report)
{
	const struct survey_budget *budget = survey_get_budget(report);
	uint64_t duration_ns = survey_measurement_budget_ns(report);
	uint64_t window_ns = survey_clamp(budget->window_factor * duration_ns, WINDOW_MIN_NS, WINDOW_MAX_NS);

	return survey_larger(window_ns, budget->window_long_factor * duration_ns);
}

/* A short duration= shortens the calibration loops, at most to their duration in a quick run. */
uint64_t
survey_planned_calibrations_ns(const struct report *report)
{
	uint64_t times_ns = CALIBRATION_TIMES * options_duration_ns(&report->facts.options);

	return survey_clamp(times_ns, budgets[PROFILE_QUICK].calibrations_max_ns,
			    survey_get_budget(report)->calibrations_max_ns);
}

uint64_t
survey_max_pingpong_ns(const struct report *report, enum pair_schedule kind, size_t cores)
{
	uint64_t pass_ns = survey_get_budget(report)->pair_pass_max_ns;

	return survey_clamp(pass_ns / 2 / pair_schedule_count_pairs(kind, cores), PINGPONG_MIN_NS, PINGPONG_MAX_NS);
}

uint64_t
survey_max_timer_tests_ns(const struct report *report, size_t cores)
{
	if (report->facts.options.irq == IRQ_OFF)
		return 0;
	if (survey_current_profile(report) == PROFILE_QUICK)
		return report->facts.options.irq == IRQ_ALL ? TIMERS_ALL_NS : TIMERS_QUICK_NS;
	return TIMERS_NS + (report->facts.options.cores.method == CORES_SIPI &&
			    cores > 1 ? (cores - 1) * TIMERS_CORE_NS : 0);
}

uint64_t
survey_share_of_round_ns(const struct survey *survey, uint64_t ns)
{
	return survey->soak.rounds < 2 || survey->report->facts.run.ended_early ? ns : ns / survey->soak.rounds;
}
