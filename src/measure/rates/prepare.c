/* Before the rates: paths are warmed up, and the TSC's rate is guessed well enough to plan by. */
#include "measure/rates/survey_tracks.h"

#include "base/text.h"

#define PROVISIONAL_NS    (5 * SURVEY_NS_PER_MS)
#define PROVISIONAL_SAMPLES 64
#define PROVISIONAL_TURNS 4096  /* of so many samples: 20 ms at 80 ns each; a clock that takes longer has stopped */
#define EDGE_BOUND_NS     (2400 * SURVEY_NS_PER_MS) /* so that one at half its rate is slow and has not stopped */
#define HIGHEST_TSC_HZ    UINT64_C(10000000000) /* for bounds while nothing certain is known of the TSC */
#define VOTES_MIN         2 /* clocks that agree on the TSC before a bound relies on it */
#define PROVISIONAL_TSC_TICKS (UINT64_C(1) << 32) /* a second or so: a clock so slow to read says nothing */
#define ASSUMED_TSC_HZ    UINT64_C(1000000000)
#define STEP_READS        64
#define EDGES_WITHIN_SHARE   2000 /* a clock that was not seen to move yet is taken to be so right, */
#define UNKNOWN_WITHIN_SHARE 2   /* and one of which nothing could be learnt */

/*
 * The smallest difference between readings that follow each other is no smaller than the TSC's resolution; where that
 * is not even, as that of a TSC which a hypervisor scales, a larger one is larger by a tick.
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

/* What the TSC's rate would be by this clock over a few milliseconds, for planning only. */
static struct rate_interval
provisional(struct survey *survey, struct report_clock *entry)
{
	const struct clock *clock = &entry->clock;
	uint64_t wanted = scale_mul_div(PROVISIONAL_NS, clock->claimed.num,
					clock->claimed.den * SURVEY_NS_PER_S);
	struct rate_window window = { .slack_ticks = 1, .tsc_resolution_ticks = survey->tsc_resolution_ticks };
	struct rate_slope slope;
	uint64_t ticks = 0, raw;

	survey_batch(survey, clock, PROVISIONAL_SAMPLES);
	window.first = rate_tightest(survey->samples, PROVISIONAL_SAMPLES);
	raw = window.first.ticks;
	window.first.ticks = 0;
	for (unsigned turn = 0; turn < PROVISIONAL_TURNS && ticks < wanted; turn++) {
		if (survey->samples[PROVISIONAL_SAMPLES - 1].end - window.first.begin > PROVISIONAL_TSC_TICKS)
			break;
		survey_batch(survey, clock, PROVISIONAL_SAMPLES);
		window.last = rate_tightest(survey->samples, PROVISIONAL_SAMPLES);
		ticks += clock_elapsed_ticks(clock, raw, window.last.ticks);
		raw = window.last.ticks;
		window.last.ticks = ticks;
	}
	if (ticks < wanted)
		return (struct rate_interval){ .known = false };
	slope = rate_slope(&window);
	return rate_implied_tsc(&slope, clock->claimed);
}

/* What the reader says of the TSC's rate goes before what CPUID does. */
static void
take_claim(struct report *report)
{
	for (size_t i = 0; i < report->clock_count && report->options.tsc_hz; i++) {
		struct clock *clock = &report->clocks[i].clock;

		if (!text_equal(clock->main, "tsc"))
			continue;
		clock->claimed = (struct rate){ report->options.tsc_hz, 1 };
		clock->claimed_within_ppb = 0;
	}
}

/* The resolution of each way of reading a clock, before a rate is said to be exact within it. */
static void
learn_resolutions(struct survey *survey)
{
	struct report *report = survey->report;

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!survey_usable(entry) || entry->clock.edges_only)
			continue;
		survey_batch(survey, &entry->clock, SURVEY_WARM_UP);
		resolution_fold(&entry->resolution, &entry->clock, survey_trust_ticks(survey, &entry->clock),
				survey->samples, SURVEY_WARM_UP);
	}
}

/*
 * How often a counter wraps can't be counted by its claim where it is much faster. One that seems slow for it may have
 * wrapped unseen while the core was away, and gets the claim; nothing makes one seem fast.
 */
static void
keep_paces(struct survey *survey, const struct rate_interval *implied, const struct rate_interval *tsc)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		uint64_t pace = implied[i].known ? scale_mul_div_nearest(tsc->low, 1, implied[i].high) : 0;

		survey->paces[i] = pace ? pace : 1;
	}
}

/* What a step of the run is compared by until the rates are known: see steps.c. */
static void
begin_steps(struct survey *survey, const struct rate_interval *implied, uint64_t microhz)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct report_clock *entry = &survey->report->clocks[i];
		uint64_t within = microhz / (entry->clock.edges_only ? EDGES_WITHIN_SHARE : UNKNOWN_WITHIN_SHARE);

		survey->steps[i] = (struct survey_step){ .implied = implied[i] };
		if (survey_can_vouch(survey, entry) && !implied[i].known)
			survey->steps[i].implied =
				(struct rate_interval){ true, microhz, microhz - within, microhz + within };
	}
}

/* The TSC's rate for planning, by the clocks that work or else by what is claimed of it. */
static void
guess_scale(struct survey *survey)
{
	struct report *report = survey->report;
	struct rate_interval implied[REPORT_CLOCKS_MAX] = { { .known = false } };
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct rate hz = { ASSUMED_TSC_HZ, 1 };
	size_t best, votes = 0;
	struct scale bound;

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!survey_usable(entry))
			continue;
		survey_batch(survey, &entry->clock, SURVEY_WARM_UP);
		if (survey_can_vouch(survey, entry) && !entry->clock.edges_only)
			implied[i] = provisional(survey, entry);
		votes += implied[i].known;
	}
	best = rate_consensus(implied, report->clock_count);
	keep_paces(survey, implied, &implied[best < report->clock_count ? best : 0]);
	if (best < report->clock_count)
		hz = (struct rate){ implied[best].value, SURVEY_MICROHZ_PER_HZ };
	else if (tsc && tsc->clock.claimed.den)
		hz = tsc->clock.claimed;
	scale_init(&survey->scale, hz);
	if (best < report->clock_count)
		begin_steps(survey, implied, implied[best].value);
	scale_init(&bound, votes >= VOTES_MIN ? hz : (struct rate){ HIGHEST_TSC_HZ, 1 });
	survey->edge_bound_ticks = scale_ticks(&bound, EDGE_BOUND_NS);
}

void
survey_prepare(struct survey *survey)
{
	struct report *report = survey->report;

	take_claim(report);
	scale_init(&survey->scale, (struct rate){ ASSUMED_TSC_HZ, 1 });
	survey->start_tsc = survey->report->start_tsc = survey->hooks.tsc_ordered();
	survey->done_ns = 0;
	survey->round = 0;
	survey->rounds = survey_rounds(report, survey->smp->count);
	survey->total_ns = survey_plan_ns(report, survey->smp->count) + survey->timers_ns;
	if (survey_end_if_due(survey))
		return;
	survey->tsc_resolution_ticks = tsc_resolution_ticks(survey);
	guess_scale(survey);
	learn_resolutions(survey);
	survey_observe(survey);
}
