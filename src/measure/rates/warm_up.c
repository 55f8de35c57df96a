/* Prepares the measurement of rates: executes all code once, and estimates the TSC's rate for planning. */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"

#define PROVISIONAL_NS    (5 * SURVEY_NS_PER_MS)
#define PROVISIONAL_SAMPLES 64
/* maximum number of batches in which a clock must advance by PROVISIONAL_NS */
#define PROVISIONAL_TURNS 4096
/* longest wait for an RTC's tick, so that an RTC with half its rate counts as slow and not as stopped */
#define EDGE_BOUND_NS     (2400 * SURVEY_NS_PER_MS)
#define HIGHEST_TSC_HZ    UINT64_C(10000000000) /* highest rate of a TSC, for time limits while its rate is uncertain */
/* number of clocks that must agree on the TSC's rate before a time limit relies on it */
#define VOTES_MIN         2
/*
 * Time limit of about a second: a clock whose samples take longer gets no provisional rate (an estimate before the rate
 * window).
 */
#define PROVISIONAL_TSC_TICKS (UINT64_C(1) << 32)
#define ASSUMED_TSC_HZ    UINT64_C(1000000000)
#define STEP_READS        64
/* assumed error of the rate of an edge clock (RTC), which has not ticked yet: 1/2000 */
#define EDGES_WITHIN_SHARE   2000
#define UNKNOWN_WITHIN_SHARE 2   /* assumed error of the rate of any other clock without a provisional rate: 1/2 */

/*
 * Returns an upper bound of the TSC's resolution: the smallest difference between consecutive readings, plus 1, because
 * a hypervisor that scales the TSC makes its steps uneven by one tick.
 */
static uint64_t
tsc_resolution_ticks(const struct survey *survey)
{
	uint64_t before = survey->hooks.tsc_ordered(), smallest = UINT64_MAX;

	for (unsigned i = 0; i < STEP_READS; i++) {
		uint64_t now = survey->hooks.tsc_ordered();

		if (now > before && now - before < smallest)
			smallest = now - before;
		before = now;
	}
	return smallest == UINT64_MAX ? 1 : smallest + 1;
}

/* Returns an estimate of the TSC's rate, from a few milliseconds of ENTRY's clock. It is only used for planning. */
static struct rate_interval
estimate_tsc_rate(struct survey *survey, struct report_clock *entry)
{
	const struct clock *clock = &entry->clock;
	uint64_t wanted = scale_mul_div(PROVISIONAL_NS, clock->claimed.num,
					clock->claimed.den * SURVEY_NS_PER_S);
	struct rate_window window = { .slack_ticks = 1, .tsc_resolution_ticks = survey->tsc.resolution_ticks };
	struct rate_slope slope;
	uint64_t ticks = 0, raw;

	survey_sample_batch(survey, clock, PROVISIONAL_SAMPLES);
	window.first = rate_shortest_sample(survey->buffer.samples, PROVISIONAL_SAMPLES);
	raw = window.first.ticks;
	window.first.ticks = 0;
	for (unsigned turn = 0; turn < PROVISIONAL_TURNS && ticks < wanted; turn++) {
		if (survey->buffer.samples[PROVISIONAL_SAMPLES - 1].end - window.first.begin > PROVISIONAL_TSC_TICKS)
			break;
		survey_sample_batch(survey, clock, PROVISIONAL_SAMPLES);
		window.last = rate_shortest_sample(survey->buffer.samples, PROVISIONAL_SAMPLES);
		ticks += clock_elapsed_ticks(clock, raw, window.last.ticks);
		raw = window.last.ticks;
		window.last.ticks = ticks;
	}
	if (ticks < wanted)
		return (struct rate_interval){ .known = false };
	slope = rate_calculate_slope(&window);
	return rate_of_tsc_implied_by_clock(&slope, clock->claimed);
}

/* Uses the TSC frequency given by the user instead of CPUID's. */
static void
use_tsc_rate_given_by_user(struct report *report)
{
	for (size_t i = 0; i < report->clock_count && report->options.tsc_hz; i++) {
		struct clock *clock = &report->clocks[i].clock;

		if (!text_equal(clock->main, "tsc"))
			continue;
		clock->claimed = (struct rate){ report->options.tsc_hz, 1 };
		clock->claimed_within_ppb = 0;
	}
}

/* Measures the resolution of each read method, because the error of a rate depends on it. */
static void
measure_resolutions(struct survey *survey)
{
	struct report *report = survey->report;

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!survey_usable(entry) || entry->clock.edges_only)
			continue;
		survey_sample_batch(survey, &entry->clock, SURVEY_WARM_UP);
		resolution_add_samples(&entry->resolution, &entry->clock,
				       survey_max_ticks_between_compared_reads(survey, &entry->clock),
				       survey->buffer.samples, SURVEY_WARM_UP);
	}
}

/* Sets the rates that are used for comparing clocks (see sweeps.c) until the rates are measured. */
static void
set_rates_for_comparing_clocks(struct survey *survey, const struct rate_interval *implied, uint64_t microhz)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct report_clock *entry = &survey->report->clocks[i];
		uint64_t within = microhz / (entry->clock.edges_only ? EDGES_WITHIN_SHARE : UNKNOWN_WITHIN_SHARE);
		struct record_compared *clock = &survey->steps.clocks[i];

		*clock = (struct record_compared){ .clock = (uint16_t)i, .implied = survey_to_record_rate(&implied[i]) };
		if (survey_can_clock_measure_tsc(survey, entry) && !implied[i].known)
			clock->implied = (struct record_rate){ microhz, microhz - within, microhz + within };
	}
}

/*
 * Estimates the TSC's rate for planning, by the clocks that work. Without such clocks, uses the TSC's nominal
 * frequency.
 */
static void
estimate_tsc_scale(struct survey *survey)
{
	struct report *report = survey->report;
	struct rate_interval implied[REPORT_CLOCKS_MAX] = { { .known = false } };
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct rate hz = { ASSUMED_TSC_HZ, 1 };
	size_t best, votes = 0;
	struct scale scale, bound;

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!survey_usable(entry))
			continue;
		survey_sample_batch(survey, &entry->clock, SURVEY_WARM_UP);
		if (survey_can_clock_measure_tsc(survey, entry) && !entry->clock.edges_only)
			implied[i] = estimate_tsc_rate(survey, entry);
		votes += implied[i].known;
	}
	best = rate_find_consensus_index(implied, report->clock_count, UINT32_MAX);
	if (best < report->clock_count)
		hz = (struct rate){ implied[best].value, SURVEY_MICROHZ_PER_HZ };
	else if (tsc && tsc->clock.claimed.den)
		hz = tsc->clock.claimed;
	scale_init(&scale, hz);
	survey_set_scale(survey, scale, false);
	for (size_t i = 0; i < report->clock_count; i++)
		survey->tracks[i].count.pace = wraps_clock_speed_factor(&scale, &implied[i]);
	if (best < report->clock_count)
		set_rates_for_comparing_clocks(survey, implied, implied[best].value);
	scale_init(&bound, votes >= VOTES_MIN ? hz : (struct rate){ HIGHEST_TSC_HZ, 1 });
	survey->rates.edge_bound_ticks = scale_ns_to_ticks(&bound, EDGE_BOUND_NS);
}

void
survey_warm_up_and_estimate_tsc_rate(struct survey *survey)
{
	struct report *report = survey->report;

	use_tsc_rate_given_by_user(report);
	scale_init(&survey->scale, (struct rate){ ASSUMED_TSC_HZ, 1 });
	survey_begin_record(survey);
	survey->soak.round = 0;
	survey->soak.rounds = survey_count_rounds(report, survey->smp->count);
	if (survey_end_run_if_due(survey))
		return;
	survey->tsc.resolution_ticks = tsc_resolution_ticks(survey);
	estimate_tsc_scale(survey);
	measure_resolutions(survey);
	survey_read_and_compare_clocks(survey);
}
