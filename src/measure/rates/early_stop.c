/*
 * Decides whether a quick run's rate window can end early: as soon as its rates are exact enough for all comparisons.
 * Each rate is an interval that always contains the true rate, so an early end makes none of them wrong. See
 * clock_tracker.h.
 */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"

#define PPB              UINT64_C(1000000000)
/* Needed accuracy of the TSC's rate. The TSC times device checks, whose limits are 500 ppm and more. */
#define SCALE_WITHIN_PPB 10000

/*
 * Returns the interval of the TSC's rate, calculated with TRACK's clock from the window's start until now. The interval
 * only becomes narrower with time.
 */
static struct rate_interval
tsc_rate_until_now(const struct survey *survey, const struct survey_track *track)
{
	const struct clock *clock = &track->entry->clock;
	const struct sample now = { track->begin, track->count.ticks, track->count.tsc };
	const struct resolution *resolution = &track->entry->resolution;
	/*
	 * READINGS has no batches between TRACK's first and latest reading, because neither function below uses such
	 * batches. The first function is only called for edge clocks, and the second only uses the two readings.
	 */
	struct rate_readings readings = {
		.report = survey->report, .entry = track->entry, .scale = survey->scale,
		.tsc_resolution_ticks = survey->tsc.resolution_ticks,
		.smallest_ticks = resolution->steps ? resolution->smallest_ticks : 0,
		.first = track->first, .last = track->edge,
	};

	if (clock->edges_only)
		return rate_readings_implied_rate(&readings, &track->first, &track->edge);
	return rate_widen(rate_readings_implied_rate_of_two_samples(&readings, &track->first, &now),
			  clock->claimed_within_ppb);
}

/*
 * Returns true if PPB, the interval of a rate's error, lies completely within the limit or completely outside it, even
 * if widened by its width on both sides. The margin allows for a different rate in the window's second half.
 */
static bool
is_error_determined_with_margin(const struct interval_ppb *ppb, uint64_t limit_ppb)
{
	int64_t more = ppb->high - ppb->low;
	struct offset wide = { ppb->low - more, ppb->high + more };

	return ppb->known && (offset_max_abs(wide) <= limit_ppb || offset_min_abs(wide) > limit_ppb);
}

/*
 * Returns the TSC's nominal frequency. Returns an unknown rate if the frequency's rounding exceeds the rate limit,
 * because a longer window cannot improve that.
 */
static struct rate_interval
claimed_tsc_rate(const struct survey *survey, const struct report_clock *tsc)
{
	if (tsc->clock.claimed_within_ppb >= survey->rate_limit_ppb)
		return (struct rate_interval){ .known = false };
	return rate_get_claimed_tsc_rate(&tsc->clock);
}

bool
survey_is_rate_window_long_enough(const struct survey *survey)
{
	const struct report *report = survey->report;
	struct rate_interval rates[REPORT_CLOCKS_MAX] = { { .known = false } };
	uint64_t within_ppb = UINT64_MAX;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (text_equal(report->clocks[i].clock.id, "tsc"))
			rates[i] = claimed_tsc_rate(survey, &report->clocks[i]);
		if (!track->entry || !survey_usable(track->entry))
			continue;
		rates[i] = tsc_rate_until_now(survey, track);
		if (!rates[i].known)
			return false;
		if (scale_mul_div_up(rates[i].high - rates[i].low, PPB, rates[i].low) < within_ppb)
			within_ppb = scale_mul_div_up(rates[i].high - rates[i].low, PPB, rates[i].low);
	}
	for (size_t a = 0; a < report->clock_count; a++)
		for (size_t b = a + 1; b < report->clock_count; b++) {
			struct interval_ppb ppb = rate_relative_difference(&rates[a], &rates[b]);

			if (rates[a].known && rates[b].known && !is_error_determined_with_margin(&ppb, survey->rate_limit_ppb))
				return false;
		}
	return within_ppb <= SCALE_WITHIN_PPB;
}
