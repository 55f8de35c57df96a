/* Prepares the measurement of rates: executes all code once, and estimates the TSC's rate for planning. */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"

#define PROVISIONAL_NS    (5 * SURVEY_NS_PER_MS)
#define PROVISIONAL_SAMPLES 64
#define RISE_TSC_TICKS    (UINT64_C(1) << 32)
#define SAMPLE_WRAP_SHARE 4 /* a sample that takes more than 1/4 of the time between two wraps is not counted */
/* the wraps between two samples can be counted if the ticks between them are known to 1/4 of the counter's range */
#define GAP_WRAP_SHARE    4
#define MEDIAN_WITHIN_SHARE 8 /* assumed error of the median of the rises from sample to sample: 1/8 */
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

/* A counter's ticks through successive samples, without the readings that it wraps at. */
struct passed {
	uint64_t raw, end, ticks; /* the latest reading, the end of its sample, and the ticks until then */
	/*
	 * estimated ticks in RISE_TSC_TICKS, and the error of this estimate: they give the number of wraps in a gap, and
	 * tell a wrap from a step back
	 */
	uint64_t rise, rise_error;
};

/*
 * Returns the count at the first sample in the survey's buffer. Its rise is the median of the rises from each sample to
 * the next, because a few of them may contain a gap or a wrong reading.
 */
static struct passed
begin_tick_count(const struct survey *survey, const struct clock *clock)
{
	const struct sample *samples = survey->buffer.samples;
	uint64_t rises[PROVISIONAL_SAMPLES] = { 0 };
	struct passed passed = { samples[0].ticks, samples[0].end, 0, 0, 0 };

	for (size_t i = 1; i < PROVISIONAL_SAMPLES; i++) {
		uint64_t ticks = clock_elapsed_ticks(clock, samples[i - 1].ticks, samples[i].ticks);
		uint64_t two_samples = samples[i].end - samples[i - 1].begin;

		rises[i] = two_samples ? scale_mul_div(ticks, 2 * RISE_TSC_TICKS, two_samples) : 0;
	}
	for (size_t i = 1; i < PROVISIONAL_SAMPLES; i++) {
		size_t below = 0;

		for (size_t k = 1; k < PROVISIONAL_SAMPLES; k++)
			below += rises[k] < rises[i] || (k < i && rises[k] == rises[i]);
		if (below == PROVISIONAL_SAMPLES / 2)
			passed.rise = rises[i];
	}
	passed.rise_error = passed.rise / MEDIAN_WITHIN_SHARE;
	return passed;
}

/*
 * Returns true if the counter may have wrapped, or nearly so, within SAMPLE. It is not known when within the sample the
 * counter was read, so it is not known either how many ticks passed until the next sample.
 */
static bool
may_clock_wrap_within_sample(const struct clock *clock, const struct passed *passed, const struct sample *sample)
{
	uint64_t ticks = scale_mul_div(passed->rise, sample->end - sample->begin, RISE_TSC_TICKS);

	return wraps_range(clock) && ticks > (uint64_t)wraps_range(clock) / SAMPLE_WRAP_SHARE;
}

/* Returns true if the number of wraps in TSC_TICKS, the time between two samples, is not known exactly. */
static bool
may_gap_hide_wrap(const struct clock *clock, const struct passed *passed, uint64_t tsc_ticks)
{
	uint64_t error = scale_mul_div(passed->rise_error, tsc_ticks, RISE_TSC_TICKS);

	return wraps_range(clock) && error > (uint64_t)wraps_range(clock) / GAP_WRAP_SHARE;
}

/*
 * Adds the samples in the survey's buffer to PASSED, and replaces their readings by the count. The shortest of them
 * becomes the last sample of WINDOW. It also becomes the first sample if there was none, or if it is after a gap whose
 * wraps cannot be counted.
 */
static void
count_ticks_through_samples(struct survey *survey, const struct clock *clock, struct passed *passed,
			    struct rate_window *window)
{
	struct sample *samples = survey->buffer.samples;
	bool is_first = !window->first.end;
	size_t from = 0;

	for (size_t i = 0; i < PROVISIONAL_SAMPLES; i++) {
		int64_t tsc_ticks = (int64_t)(samples[i].end - passed->end); /* below 0 if the TSC was set back */
		uint64_t expected = tsc_ticks > 0 ? scale_mul_div(passed->rise, (uint64_t)tsc_ticks, RISE_TSC_TICKS) : 0;

		if (may_clock_wrap_within_sample(clock, passed, &samples[i]))
			continue;
		if (tsc_ticks > 0 && may_gap_hide_wrap(clock, passed, (uint64_t)tsc_ticks)) {
			is_first = true;
			from = i;
		}
		passed->ticks += rate_unwrap_ticks(clock, passed->raw, samples[i].ticks, expected);
		passed->raw = samples[i].ticks;
		passed->end = samples[i].end;
		samples[i].ticks = passed->ticks;
	}
	window->last = rate_shortest_sample(samples + from, PROVISIONAL_SAMPLES - from);
	if (is_first)
		window->first = window->last;
}

static bool
is_rate_narrower(const struct rate_interval *rate, const struct rate_interval *than)
{
	return rate->known && (!than->known || rate->high - rate->low < than->high - than->low);
}

/* Returns true if the rounded pace of a clock (see wraps.h) is known within 1 for the TSC's rate in SCALE. */
static bool
is_pace_known(const struct scale *scale, const struct rate_interval *implied)
{
	const struct rate_interval fastest = { implied->known, implied->low, implied->low, implied->low };

	return implied->known &&
	       wraps_clock_speed_factor(scale, &fastest) - wraps_clock_speed_factor(scale, implied) <= 1;
}

/*
 * Returns an estimate of the TSC's rate, from a few milliseconds of ENTRY's clock. It is only used for planning. If
 * SCALE is not NULL, it is the TSC's rate by other clocks, and the clock is sampled until its pace is known.
 */
static struct rate_interval
estimate_tsc_rate(struct survey *survey, struct report_clock *entry, const struct scale *scale)
{
	const struct clock *clock = &entry->clock;
	uint64_t wanted = scale_mul_div(PROVISIONAL_NS, clock->claimed.num,
					clock->claimed.den * SURVEY_NS_PER_S);
	struct rate_window window = { .slack_ticks = 1, .tsc_resolution_ticks = survey->tsc.resolution_ticks };
	struct rate_interval implied = { .known = false };
	uint64_t begin;

	survey_sample_batch(survey, clock, PROVISIONAL_SAMPLES);
	begin = survey->buffer.samples[0].begin;
	struct passed passed = begin_tick_count(survey, clock);
	count_ticks_through_samples(survey, clock, &passed, &window);
	for (unsigned turn = 0; turn < PROVISIONAL_TURNS; turn++) {
		uint64_t end = passed.end;

		if ((scale ? is_pace_known(scale, &implied) : implied.known) || passed.end - begin > PROVISIONAL_TSC_TICKS)
			break;
		survey_sample_batch(survey, clock, PROVISIONAL_SAMPLES);
		count_ticks_through_samples(survey, clock, &passed, &window);
		if (passed.end == end) /* the TSC has stopped, so more turns add nothing */
			break;
		struct rate_slope slope = rate_calculate_slope(&window);
		struct rate_interval rate = rate_of_tsc_implied_by_clock(&slope, clock->claimed);
		if (window.last.ticks - window.first.ticks < wanted || !is_rate_narrower(&rate, &implied))
			continue;
		implied = rate;
		passed.rise = scale_mul_div(slope.low_ticks + slope.high_ticks, RISE_TSC_TICKS, slope.low_time + slope.high_time);
		passed.rise_error = scale_mul_div_up(slope.high_ticks, RISE_TSC_TICKS, slope.high_time) - passed.rise;
	}
	return implied;
}

/* Uses the TSC frequency given by the user instead of CPUID's. */
static void
use_tsc_rate_given_by_user(struct report *report)
{
	for (size_t i = 0; i < report->facts.clock_count && report->facts.options.tsc_hz; i++) {
		struct clock *clock = &report->facts.clocks[i].clock;

		if (!text_equal(clock->main, "tsc"))
			continue;
		clock->claimed = (struct rate){ report->facts.options.tsc_hz, 1 };
		clock->claimed_within_ppb = 0;
	}
}

/* Measures the resolution of each read method, because the error of a rate depends on it. */
static void
measure_resolutions(struct survey *survey)
{
	struct report *report = survey->report;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		struct report_clock *entry = &report->facts.clocks[i];

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
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		const struct report_clock *entry = &survey->report->facts.clocks[i];
		uint64_t within = microhz / (entry->clock.edges_only ? EDGES_WITHIN_SHARE : UNKNOWN_WITHIN_SHARE);
		struct record_compared *clock = &survey->steps.clocks[i];

		*clock = (struct record_compared){ .clock = (uint16_t)i, .implied = survey_to_record_rate(&implied[i]) };
		if (survey_can_clock_measure_tsc(survey, entry) && !implied[i].known)
			clock->implied = (struct record_rate){ microhz, microhz - within, microhz + within };
	}
}

/*
 * Sets the pace of clock I, which implies the TSC's rate IMPLIED. A clock that is faster than its nominal frequency is
 * sampled longer, because its wraps can only be counted if its pace is known.
 */
static void
set_pace_of_clock(struct survey *survey, size_t i, struct rate_interval *implied)
{
	struct wraps_count *count = &survey->tracks[i].count;

	count->pace = wraps_clock_speed_factor(&survey->scale, implied);
	if (count->pace < 2)
		return;
	*implied = estimate_tsc_rate(survey, &survey->report->facts.clocks[i], &survey->scale);
	count->pace = wraps_clock_speed_factor(&survey->scale, implied);
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

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		struct report_clock *entry = &report->facts.clocks[i];

		if (!survey_usable(entry))
			continue;
		survey_sample_batch(survey, &entry->clock, SURVEY_WARM_UP);
		if (survey_can_clock_measure_tsc(survey, entry) && !entry->clock.edges_only)
			implied[i] = estimate_tsc_rate(survey, entry, NULL);
		votes += implied[i].known;
	}
	best = rate_find_consensus_index(implied, report->facts.clock_count, UINT32_MAX);
	if (best < report->facts.clock_count)
		hz = (struct rate){ implied[best].value, SURVEY_MICROHZ_PER_HZ };
	else if (tsc && tsc->clock.claimed.den)
		hz = tsc->clock.claimed;
	scale_init(&scale, hz);
	survey_set_scale(survey, scale, false);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		set_pace_of_clock(survey, i, &implied[i]);
	if (best < report->facts.clock_count)
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
