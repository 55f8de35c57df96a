/* Each clock once more, at the end of the run, against its rate in the window. See survey.h. */
#include "survey_rates.h"

#define PPB             UINT64_C(1000000000)
#define AMBIGUOUS_SHARE 4 /* of a counter's range: with more doubt than that its wraps can't be told */

/*
 * Moves TRACK on over all the time since the window, by the rate that it had there. False: too little is known to
 * tell how often the counter wrapped, be it of that rate or because clocks that wrap later, by up to APART_PPB,
 * no longer agree with the TSC. Of a clock that wraps the least change is seen that explains its reading.
 */
static bool
catch_up(struct survey_track *track, const struct sample *sample, uint64_t apart_ppb)
{
	const struct rate_interval *implied = &track->entry->implied;
	uint64_t counted = track->last.ticks - track->first.ticks, window = track->last.begin - track->first.begin;
	uint64_t expected = scale_mul_div(counted, sample->end - track->tsc, window);
	uint64_t doubt = scale_mul_div_up(expected, implied->high - implied->low, implied->low);
	uint64_t apart = scale_mul_div_up(expected, apart_ppb, PPB);
	uint64_t range = track->entry->clock.wrap_ticks + 1; /* 0 for a counter of 64 bits */

	if (range && (doubt > range / AMBIGUOUS_SHARE || apart > range / AMBIGUOUS_SHARE))
		return false;
	survey_track_to(track, sample, expected);
	return true;
}

/*
 * A counter that reads less than at the window's end has gone back. One that lost only some of what it gained
 * since then shows by its rate.
 */
static bool
went_back(const struct survey *survey, const struct survey_track *track)
{
	struct monotonic *monotonic = &track->entry->monotonic;
	uint64_t back_ticks = track->last.ticks - track->ticks;

	if (back_ticks == 0 || back_ticks >> 63)
		return false;
	monotonic->backward++;
	if (back_ticks > monotonic->worst_ticks)
		monotonic->worst_ticks = back_ticks;
	survey_turned_sick(survey, track->entry, track->tsc);
	return true;
}

/* One more end for a clock that was followed through the window. False: there is none, or it says nothing. */
static bool
take_last_end(struct survey *survey, struct survey_track *track, uint64_t apart_ppb, struct rate_end *end)
{
	struct sample sample;

	if (track->entry->clock.edges_only) {
		survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
		if (!catch_up(track, &survey->samples[SURVEY_FOLLOW_SAMPLES - 1], apart_ppb) ||
		    went_back(survey, track) || !survey_wait_for_edge(survey, track, NULL))
			return false;
		*end = track->edge;
		return true;
	}
	sample = survey_track_tightest(survey, track);
	if (!survey_usable(track->entry) || !catch_up(track, &sample, apart_ppb) ||
	    went_back(survey, track))
		return false;
	*end = (struct rate_end){ sample.begin, sample.end, track->ticks };
	return true;
}

/* How far from 0 all of an interval lies. */
static uint64_t
least_size(const struct interval_ppb *change)
{
	if (!change->known)
		return 0;
	return change->low > 0 ? (uint64_t)change->low : change->high < 0 ? 0 - (uint64_t)change->high : 0;
}

/* Of the clocks that are not DONE the one that wraps last; REPORT_CLOCKS_MAX where none is left. */
static size_t
wraps_last(const struct survey *survey, uint32_t done)
{
	size_t last = REPORT_CLOCKS_MAX;
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct clock *clock = &survey->report->clocks[i].clock;
		uint64_t ns;

		if (!survey->tracks[i].entry || !survey_usable(survey->tracks[i].entry) ||
		    !survey->tracks[i].entry->implied.known || done >> i & 1)
			continue;
		ns = scale_ratio((unsigned __int128)clock->wrap_ticks * SURVEY_NS_PER_S, clock->claimed.den,
				 clock->claimed.num, SCALE_UP);
		if (last < REPORT_CLOCKS_MAX && ns <= longest_ns)
			continue;
		longest_ns = ns;
		last = i;
	}
	return last;
}

void
survey_rates_again(struct survey *survey)
{
	struct report *report = survey->report;
	bool whole_run = report->options.profile == PROFILE_SOAK;
	uint64_t apart_ppb = 0;
	uint32_t done = 0;

	survey->hooks.progress(survey->hooks.context, "rates", survey->done_ns, survey->total_ns);
	for (size_t i; (i = wraps_last(survey, done)) < REPORT_CLOCKS_MAX && !survey_expired(survey);) {
		struct report_clock *entry = &report->clocks[i];
		struct survey_track *track = &survey->tracks[i];
		struct rate_end end;

		done |= UINT32_C(1) << i;
		if (!take_last_end(survey, track, apart_ppb, &end))
			continue;
		entry->change_since = survey_change(survey, track, &track->first, &track->last, &end);
		if (least_size(&entry->change_since) > apart_ppb)
			apart_ppb = least_size(&entry->change_since);
		if (least_size(&entry->change_since) > least_size(&entry->change) || !entry->change.known)
			entry->change = entry->change_since;
		if (whole_run)
			track->end = end;
	}
	if (whole_run)
		survey_conclude(survey);
}
