/*
 * Measures rates: samples all clocks over the rate window, a time interval that starts and ends at a tick of the RTC if
 * there is one. No clock is the reference. See rate.h for the calculation of the TSC's rate.
 */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"
#include "base/units.h"

/* number of samples of the pacer, the clock that is read all the time, between two checks of the time */
#define PACE_SAMPLES    64
#define AWAY_FACTOR     4     /* in a batch this many times longer than the shortest one, the core was preempted */
#define TURNS_PER_MS    1000  /* maximum number of batches in a millisecond; a batch takes at least a microsecond */
#define WINDOWS_MAX     3     /* maximum number of windows that are started, until one has no discontinuity */
#define EARLY_SHARE     50    /* the window's last edge may be early by 1/50 of the window's length */
/* In the last 3 ms before the window's last edge is due, only the RTC is read. Other reads could delay its reading. */
#define EDGE_QUIET_NS   (3 * SURVEY_NS_PER_MS)
/* minimum time between the readings in the middle of the window and the expected edge of an edge clock */
#define MIDDLE_QUIET_NS (50 * SURVEY_NS_PER_MS)
/* Needed accuracy of the TSC's rate. The TSC times device checks, whose limits are 500 ppm and more. */
#define SCALE_WITHIN_PPB 10000

/*
 * Takes and records a batch of samples of TRACK's clock at an end or in the middle of the window. Does not record it if
 * the clock failed.
 */
static void
take_batch_of_window(struct survey *survey, struct survey_track *track, enum record_stage stage)
{
	struct survey_batch_end end = survey_take_batch_at_window_or_run_end(survey, track);

	if (survey_usable(track->entry))
		survey_record_batch_end(survey, track, stage, 0, &end);
}

/* Calls take_batch_of_window() for all clocks except edge clocks (RTCs, see clock.h). */
static void
take_batches_of_all_clocks(struct survey *survey, enum record_stage stage)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (track->entry && survey_usable(track->entry) && !track->entry->clock.edges_only)
			take_batch_of_window(survey, track, stage);
	}
}

static void
take_batches_at_middle(struct survey *survey, struct survey_window *window)
{
	window->middle_taken = true;
	take_batches_of_all_clocks(survey, RECORD_MIDDLE);
}

/*
 * Adds the duration of a batch of the pacer to survey->rates.batches. If it is far longer than the shortest one, the
 * core was preempted.
 */
static void
add_batch_duration(struct survey *survey, uint64_t ticks)
{
	if (!survey->rates.batches.shortest || ticks < survey->rates.batches.shortest)
		survey->rates.batches.shortest = ticks;
	survey->rates.batches.all += ticks;
	if (ticks > AWAY_FACTOR * survey->rates.batches.shortest)
		survey->rates.batches.preempted += ticks;
}

/*
 * Returns the interval of the TSC's rate, calculated with TRACK's clock from the window's start until now. The interval
 * only becomes narrower with time.
 */
static struct rate_interval
tsc_rate_until_now(const struct survey *survey, const struct survey_track *track)
{
	const struct clock *clock = &track->entry->clock;
	const struct resolution *resolution = &track->entry->resolution;
	struct rate_readings readings = {
		.report = survey->report, .entry = track->entry, .scale = survey->scale,
		.tsc_resolution_ticks = survey->tsc.resolution_ticks,
		.smallest_ticks = resolution->steps ? resolution->smallest_ticks : 0,
		.at = { [RECORD_FIRST] = track->first, [RECORD_LAST] = clock->edges_only ? track->edge : track->count.latest },
	};

	return rate_widen(rate_readings_implied_rate_of_two_samples(&readings, &readings.at[RECORD_FIRST],
								    &readings.at[RECORD_LAST]),
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
	return rate_get_claimed_rate(tsc->clock.claimed, tsc->clock.claimed_within_ppb);
}

/*
 * Returns true if the window of a quick run can end when it is twice as long as now, because its rates will then be
 * exact enough for all comparisons. Each rate is an interval that always contains the true rate, so an early end makes
 * none of them wrong.
 */
static bool
is_window_long_enough(const struct survey *survey)
{
	const struct report *report = survey->report;
	struct rate_interval rates[REPORT_CLOCKS_MAX] = { { .known = false } };
	uint64_t within_ppb = UINT64_MAX;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (text_equal(report->facts.clocks[i].clock.id, "tsc"))
			rates[i] = claimed_tsc_rate(survey, &report->facts.clocks[i]);
		if (!track->entry || !survey_usable(track->entry))
			continue;
		rates[i] = tsc_rate_until_now(survey, track);
		if (!rates[i].known)
			return false;
		within_ppb = survey_smaller(within_ppb, scale_mul_div_up(rates[i].high - rates[i].low, PPB, rates[i].low));
	}
	for (size_t a = 0; a < report->facts.clock_count; a++)
		for (size_t b = a + 1; b < report->facts.clock_count; b++) {
			struct interval_ppb ppb = rate_relative_difference(&rates[a], &rates[b]);

			if (rates[a].known && rates[b].known && !is_error_determined_with_margin(&ppb, survey->rate_limit_ppb))
				return false;
		}
	return within_ppb <= SCALE_WITHIN_PPB;
}

/*
 * Returns the TSC at which the window ends, at most UNTIL_TSC. If is_window_long_enough() returns true in a
 * quick run, the window ends when its present duration has doubled. After the user has asked for the end of the run,
 * the window is as long as in a quick run.
 */
static uint64_t
window_end_tsc(struct survey *survey, struct survey_window *window, uint64_t now, uint64_t until_tsc)
{
	uint64_t end = now + (now - window->start_tsc);
	uint64_t soon = window->start_tsc + scale_ns_to_ticks(&survey->scale, survey_rate_window_ns(survey->report));

	if (survey->report->facts.run.ended_early && soon < until_tsc)
		return soon;
	if (survey->report->facts.options.profile != PROFILE_QUICK || window->middle_taken || end >= until_tsc ||
	    !is_window_long_enough(survey))
		return until_tsc;
	take_batches_at_middle(survey, window);
	return end;
}

/*
 * Follows all clocks until the window is over. PACER is read all the time between the readings of the other clocks. If
 * PACER is an edge clock, progress is shown only after an edge, because the following edge is then far away. Returns
 * true if the window ended at an edge that came earlier than the estimated rate predicted.
 */
static bool
follow_clocks_until(struct survey *survey, struct survey_window *window, struct survey_track *pacer, uint64_t until_tsc)
{
	uint64_t window_ns = survey_rate_window_ns(survey->report);
	uint64_t turns = window_ns / SURVEY_NS_PER_MS * TURNS_PER_MS;
	uint64_t early_ticks = scale_ns_to_ticks(&survey->scale, window_ns / EARLY_SHARE);
	const struct clock *clock = &pacer->entry->clock;
	uint64_t now = pacer->count.latest.end, begin = now;

	for (uint64_t turn = 0; turn < turns && now < until_tsc; turn++) {
		if (survey_is_cut(survey) || survey_end_run_if_due(survey))
			return false;
		survey_sample_batch(survey, clock, PACE_SAMPLES);
		now = survey->buffer.samples[PACE_SAMPLES - 1].end;
		add_batch_duration(survey, now - survey->buffer.samples[0].begin);
		bool quiet = !clock->edges_only || survey_track_find_edges_in_batch(survey, pacer, PACE_SAMPLES, window);

		if (clock->edges_only && quiet && now + early_ticks >= until_tsc)
			return true;
		if (survey_follow_clocks_if_due(survey, window, now))
			until_tsc = window_end_tsc(survey, window, now, until_tsc);
		if (quiet)
			survey_show_progress(survey, "rates", SURVEY_EDGE_WAIT_NS + scale_ns(&survey->scale, now - begin));
		if (!window->middle_taken && now >= window->middle_tsc)
			take_batches_at_middle(survey, window);
	}
	return false;
}

/* Starts to follow ENTRY's clock, and takes its samples at the start of the window. */
static void
start_track_of_clock(struct survey *survey, struct survey_track *track, struct report_clock *entry)
{
	const struct sample *sample = &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1];

	survey_sample_batch(survey, &entry->clock, SURVEY_FOLLOW_SAMPLES);
	*track = (struct survey_track){ .entry = entry, .window = survey->rates.count,
					.count = { &entry->clock, track->count.pace, *sample } };
	if (!entry->clock.edges_only)
		take_batch_of_window(survey, track, RECORD_FIRST);
}

/*
 * Returns the time from the start of a window of WINDOW_NS to its middle. If an edge is expected near the middle,
 * returns a slightly longer time, so that reading the other clocks does not delay the search for the edge.
 */
static uint64_t
time_to_middle_ns(uint64_t window_ns)
{
	uint64_t half_ns = window_ns / 2;
	bool near_an_edge = (half_ns + MIDDLE_QUIET_NS) % SURVEY_NS_PER_S < 2 * MIDDLE_QUIET_NS;

	return near_an_edge ? half_ns + 2 * MIDDLE_QUIET_NS : half_ns;
}

/*
 * Reads all clocks until the rate window ends. If EDGES is not NULL, the window starts at the first edge of this edge
 * clock, and ends at another edge, after about the planned duration.
 */
static void
follow_clocks_through_window(struct survey *survey, struct survey_track *edges)
{
	struct report *report = survey->report;
	struct survey_window window = { .middle_taken = false };
	struct survey_track *pacer = edges;
	uint64_t window_ns = survey_rate_window_ns(report);

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		struct report_clock *entry = &report->facts.clocks[i];

		if (!survey_can_clock_measure_tsc(survey, entry)) {
			survey->tracks[i].entry = NULL;
			continue;
		}
		if (entry->clock.edges_only)
			continue;
		start_track_of_clock(survey, &survey->tracks[i], entry);
		if (!edges)
			pacer = &survey->tracks[i];
	}
	if (!pacer)
		return;
	window.start_tsc = edges ? edges->first.end : pacer->count.latest.end;
	window.middle_tsc = window.start_tsc + scale_ns_to_ticks(&survey->scale, time_to_middle_ns(window_ns));
	bool closed = follow_clocks_until(survey, &window, pacer, window.start_tsc +
					  scale_ns_to_ticks(&survey->scale, window_ns - (edges ? EDGE_QUIET_NS : 0)));
	if (edges && !closed && !survey_is_cut(survey))
		survey_wait_for_edge(survey, edges, &window);
	if (survey_is_cut(survey))
		return;
	if (edges && survey_usable(edges->entry))
		survey_record_edge(survey, edges, RECORD_LAST, 0, &edges->edge);
	take_batches_of_all_clocks(survey, RECORD_LAST);
	/*
	 * Compares the clocks once more after the last samples. Otherwise a jump during the last samples would count as
	 * a jump after the window.
	 */
	window.next_tsc = 0;
	survey_follow_clocks_if_due(survey, &window, survey->hooks.tsc_ordered());
}

/* Waits for the first edge of an edge clock. Returns the clock's track, or NULL if there was no edge. */
static struct survey_track *
wait_for_first_edge(struct survey *survey)
{
	struct report *report = survey->report;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (!survey_can_clock_measure_tsc(survey, &report->facts.clocks[i]) ||
		    !report->facts.clocks[i].clock.edges_only)
			continue;
		start_track_of_clock(survey, track, &report->facts.clocks[i]);
		if (!survey_wait_for_edge(survey, track, NULL))
			continue;
		survey_record_edge(survey, track, RECORD_FIRST, 0, &track->edge);
		return track;
	}
	return NULL;
}

/*
 * Records the end of a window for the clocks that were tracked in it and have not failed. If a discontinuity ended the
 * window, each clock's last reading is the latest one at which all clocks agreed.
 */
static void
close_rate_window(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (track->entry && track->window == survey->rates.count && survey_usable(track->entry))
			survey_record_edge(survey, track, RECORD_CLOSE, survey_is_cut(survey) ? RECORD_JUMPED : 0, &track->fit);
	}
}

/*
 * Measures one window. Returns false if a discontinuity ended the window. If the TSC stopped, discards the window,
 * because its times are not valid.
 */
static bool
measure_rate_window(struct survey *survey)
{
	struct survey_track *edges = NULL;

	survey->rates.count++;
	survey->rates.cuts = survey->steps.cuts;
	if (!survey_end_run_if_due(survey))
		edges = wait_for_first_edge(survey);
	if (!survey_end_run_if_due(survey) && !survey_is_cut(survey))
		follow_clocks_through_window(survey, edges);
	if (!survey_is_cut(survey) && survey_end_if_untimed(survey))
		for (size_t i = 0; i < survey->report->facts.clock_count; i++)
			survey->tracks[i].entry = NULL;
	close_rate_window(survey);
	return !survey_is_cut(survey);
}

/* Uses the new rates for comparing clocks (see sweeps.c) if they are more exact than the earlier rates. */
static void
narrow_rates_for_comparing_clocks(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		const struct rate_interval *now = &survey->report->figures.clocks[i].implied;
		struct record_compared *clock = &survey->steps.clocks[i];

		if (survey->tracks[i].entry && now->known && now->high - now->low < clock->implied.high - clock->implied.low)
			clock->implied = survey_to_record_rate(now);
	}
}

/* Adds a note if too few clocks confirm the TSC's rate. IS_DOUBTFUL: no majority of them does. */
static void
note_unconfirmed_rate(const struct survey *survey, bool is_doubtful)
{
	struct report *report = survey->report;
	const char *source = "";
	size_t known = 0;

	for (size_t i = 0; i < report->facts.clock_count && report->figures.tsc_within.known; i++) {
		const struct rate_interval *rate = &report->figures.clocks[i].implied;

		if (!survey->tracks[i].entry || !rate->known)
			continue;
		known++;
		if (rate->value == report->figures.tsc_within.value)
			source = report->facts.clocks[i].clock.id;
	}
	if (!report->figures.tsc.den && !survey->tsc.is_stopped)
		notes_add(&report->notes, "The TSC's rate is not known: all times in this report are TSC ticks that are "
			  "labelled as nanoseconds.");
	else if (known == 1)
		notes_add(&report->notes, "All times depend on %s alone: no other clock could confirm its rate.", source);
	else if (known > 1 && is_doubtful)
		notes_add(&report->notes, "No majority of the clocks agrees on the TSC's rate: all times depend on %s, which "
			  "may be wrong.", source);
}

void
survey_measure_rates(struct survey *survey)
{
	struct report *report = survey->report;
	bool whole = false, is_doubtful;

	survey_show_progress(survey, "rates", 0);
	for (unsigned windows = 0; windows < WINDOWS_MAX && !whole && !report->facts.run.incomplete; windows++)
		whole = measure_rate_window(survey);
	is_doubtful = survey_analyse_rates(survey).undecided;
	survey_set_scale(survey, report_get_tsc_scale(report), is_doubtful);
	note_unconfirmed_rate(survey, is_doubtful);
	narrow_rates_for_comparing_clocks(survey);
	survey_soak_rows_begin(survey);
}
