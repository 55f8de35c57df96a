/*
 * Rates: every clock over one shared window that begins and ends at an edge of the RTC's seconds, where there
 * is one, and once more at the end of the run. No clock is the reference; see rate.h for how theirs become one
 * rate of the TSC.
 */
#include "survey_rates.h"

#define FIRST_SAMPLES   4
#define PACE_SAMPLES    64    /* of the clock that is looked at all the time, between two looks at the time */
#define TURNS_PER_MS    1000  /* no batch is shorter than a microsecond: bounds a window by count */
#define EDGE_QUIET_NS   (3 * SURVEY_NS_PER_MS) /* nothing else is done so close to an expected edge */
#define MIDDLE_QUIET_NS (50 * SURVEY_NS_PER_MS) /* likewise, for the ends of all clocks in the middle */
#define AMBIGUOUS_SHARE 4 /* of a counter's range: with more doubt than that its wraps can't be told */

/* One end for a clock that moves faster than it is read. */
static struct rate_end
take_end(struct survey *survey, struct survey_track *track)
{
	struct sample tightest = survey_track_tightest(survey, track);

	survey_track_on(survey, track, &tightest);
	return (struct rate_end){ tightest.begin, tightest.end, track->ticks };
}

/* The clocks that are not edge clocks, in the middle of the window. */
static void
take_middles(struct survey *survey, struct survey_watch *watch)
{
	watch->middle_taken = true;
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (track->entry && survey_usable(track->entry) && !track->entry->clock.edges_only)
			track->middle = take_end(survey, track);
	}
}

/* Follows all clocks until the window is over; PACER is the one that is looked at between the others. */
static void
follow(struct survey *survey, struct survey_watch *watch, struct survey_track *pacer, uint64_t until_tsc)
{
	uint64_t turns = survey_window_ns(survey->report) / SURVEY_NS_PER_MS * TURNS_PER_MS;
	const struct clock *clock = &pacer->entry->clock;
	uint64_t now = pacer->tsc;

	for (uint64_t turn = 0; turn < turns && now < until_tsc && !survey_expired(survey); turn++) {
		survey_batch(survey, clock, PACE_SAMPLES);
		now = survey->samples[PACE_SAMPLES - 1].end;
		if (clock->edges_only)
			survey_track_edges(survey, pacer, PACE_SAMPLES, watch);
		survey_follow_others(survey, watch, now);
		if (!watch->middle_taken && now >= watch->middle_tsc)
			take_middles(survey, watch);
	}
}

/* Follows CLOCK from here on, its first end taken now. */
static void
open_track(struct survey *survey, struct survey_track *track, struct report_clock *entry)
{
	survey_batch(survey, &entry->clock, FIRST_SAMPLES);
	survey_track_begin(track, entry, &survey->samples[FIRST_SAMPLES - 1]);
	if (!entry->clock.edges_only)
		track->first = take_end(survey, track);
}

/* The middle of a window of WINDOW_NS, or a little later where an edge is near: both are to be seen. */
static uint64_t
middle_ns(uint64_t window_ns)
{
	uint64_t half_ns = window_ns / 2;
	bool near_an_edge = (half_ns + MIDDLE_QUIET_NS) % SURVEY_NS_PER_S < 2 * MIDDLE_QUIET_NS;

	return near_an_edge ? half_ns + 2 * MIDDLE_QUIET_NS : half_ns;
}

/* The window itself, from the first edge of the edge clock (EDGES, or NULL) to the one after the window. */
static void
watch_window(struct survey *survey, struct survey_track *edges)
{
	struct report *report = survey->report;
	struct survey_watch watch = { .next_tsc = 0 };
	struct survey_track *pacer = edges;
	uint64_t window_ns = survey_window_ns(report);

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!survey_can_vouch(entry) || entry->clock.edges_only)
			continue;
		open_track(survey, &survey->tracks[i], entry);
		if (!edges)
			pacer = &survey->tracks[i];
	}
	if (!pacer)
		return;
	watch.middle_tsc = pacer->tsc + scale_ticks(&survey->scale, middle_ns(window_ns));
	if (edges)
		window_ns -= EDGE_QUIET_NS;
	follow(survey, &watch, pacer, pacer->tsc + scale_ticks(&survey->scale, window_ns));
	if (edges) {
		survey_wait_for_edge(survey, edges, &watch);
		edges->last = edges->edge;
	}
	for (size_t i = 0; i < report->clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (track->entry && survey_usable(track->entry) && !track->entry->clock.edges_only)
			track->last = take_end(survey, track);
	}
}

static void
note_halves(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (track->entry && track->entry->implied.known)
			track->entry->change = track->entry->change_halves =
				survey_change(survey, track, &track->first, &track->middle, &track->last);
	}
}

void
survey_rates(struct survey *survey)
{
	struct report *report = survey->report;
	struct survey_track *edges = NULL;

	survey->hooks.progress(survey->hooks.context, "rates", survey->done_ns, survey->total_ns);
	for (size_t i = 0; i < report->clock_count; i++)
		survey->tracks[i] = (struct survey_track){ .entry = NULL };
	for (size_t i = 0; i < report->clock_count && !edges; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (!survey_can_vouch(&report->clocks[i]) || !report->clocks[i].clock.edges_only)
			continue;
		open_track(survey, track, &report->clocks[i]);
		if (!survey_wait_for_edge(survey, track, NULL))
			continue;
		track->first = track->edge;
		edges = track;
	}
	if (!report->incomplete)
		watch_window(survey, edges);
	for (size_t i = 0; i < report->clock_count; i++)
		survey->tracks[i].end = survey->tracks[i].last;
	survey_conclude(survey);
	survey_tell_doubt(survey);
	note_halves(survey);
	survey->done_ns += survey_rates_ns(report);
}

/*
 * Moves TRACK on over all the time since the window, by the rate that it had there. False: that is known too
 * little to tell how often the counter wrapped.
 */
static bool
catch_up(struct survey_track *track, const struct sample *sample)
{
	const struct rate_interval *implied = &track->entry->implied;
	uint64_t counted = track->last.ticks - track->first.ticks, window = track->last.begin - track->first.begin;
	uint64_t expected = scale_mul_div(counted, sample->end - track->tsc, window);
	uint64_t doubt = scale_mul_div_up(expected, implied->high - implied->low, implied->low);
	uint64_t range = track->entry->clock.wrap_ticks + 1; /* 0 for a counter of 64 bits */

	if (range && doubt > range / AMBIGUOUS_SHARE)
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
take_last_end(struct survey *survey, struct survey_track *track, struct rate_end *end)
{
	struct sample sample;

	if (track->entry->clock.edges_only) {
		survey_batch(survey, &track->entry->clock, FIRST_SAMPLES);
		if (!catch_up(track, &survey->samples[FIRST_SAMPLES - 1]) || went_back(survey, track) ||
		    !survey_wait_for_edge(survey, track, NULL))
			return false;
		*end = track->edge;
		return true;
	}
	sample = survey_track_tightest(survey, track);
	if (!survey_usable(track->entry) || !catch_up(track, &sample) || went_back(survey, track))
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

void
survey_rates_again(struct survey *survey)
{
	struct report *report = survey->report;
	bool whole_run = report->options.profile == PROFILE_SOAK;

	survey->hooks.progress(survey->hooks.context, "rates", survey->done_ns, survey->total_ns);
	for (size_t i = 0; i < report->clock_count && !survey_expired(survey); i++) {
		struct report_clock *entry = &report->clocks[i];
		struct survey_track *track = &survey->tracks[i];
		struct rate_end end;

		if (!track->entry || !survey_usable(entry) || !entry->implied.known ||
		    !take_last_end(survey, track, &end))
			continue;
		entry->change_since = survey_change(survey, track, &track->first, &track->last, &end);
		if (least_size(&entry->change_since) > least_size(&entry->change) || !entry->change.known)
			entry->change = entry->change_since;
		if (whole_run)
			track->end = end;
	}
	if (whole_run)
		survey_conclude(survey);
}
