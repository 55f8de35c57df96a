/*
 * Reads each clock again at the end of the run, and compares its rate with the rate window. See survey_rates.h.
 */
#include "measure/rates/clock_tracker.h"

#include "base/set.h"

/* The measurement is shorter than the window by this, so that an early edge can still be its last. */
#define EDGES_SHORT_NS  (SURVEY_NS_PER_S / 2)
#define EDGES_MAX       1000 /* maximum number of edges; a window of ten seconds has about ten */

/* Adds a step back of TRACK's counter, which reads less than at the end of the window. */
static void
count_step_back(const struct survey *survey, const struct survey_track *track)
{
	struct monotonic *monotonic = &track->entry->monotonic;
	uint64_t back_ticks = track->last.ticks - track->count.ticks;

	monotonic->backward++;
	if (back_ticks > monotonic->worst_ticks)
		monotonic->worst_ticks = back_ticks;
	survey_record_failure(survey, track->entry, track->count.tsc);
}

/*
 * Returns true if the clock's rate in the window and its nominal frequency give different numbers of wraps. A
 * guest that was stopped as a whole sees such a jump.
 */
static bool
is_doubtful(const struct survey *survey, const struct survey_track *track, uint64_t expected, uint64_t now_tsc)
{
	uint64_t range = track->entry->clock.wrap_ticks + 1, period = survey_ticks_in_periods(survey, &track->entry->clock, 1);
	uint64_t claimed = period ? (now_tsc - track->count.tsc) / period : 0;

	return range && survey_apart(expected, claimed) > range / RATE_AMBIGUOUS_SHARE;
}

/*
 * Measures the rate of a guest's edge clock (an RTC, see clock.h). The measurement lasts as long as the window, or up
 * to half a second less, and misses no edge.
 */
static void
follow_edges(struct survey *survey, struct survey_track *track)
{
	uint64_t enough_ticks = scale_ticks(&survey->scale, survey_window_ns(survey->report) - EDGES_SHORT_NS);
	struct sample first = { 0, 0, 0 };
	bool has_edge = survey_wait_for_edge(survey, track, NULL);

	if (has_edge)
		first = track->edge;
	for (unsigned edges = 0; has_edge && edges < EDGES_MAX && track->edge.end - first.end < enough_ticks; edges++)
		has_edge = survey_wait_for_edge(survey, track, NULL);
	survey_record_edge(survey, track, RECORD_AGAIN, 0, has_edge ? &first : &(struct sample){ 0, 0, 0 });
	if (has_edge)
		survey_record_edge(survey, track, RECORD_AGAIN, 0, &track->edge);
}

/*
 * Takes an edge clock's next edge, if the ticks up to there can be counted. If not, a guest's edges are followed for
 * a new rate, so that a clock that jumped in the window has a second one.
 */
static void
take_edge(struct survey *survey, struct survey_track *track, struct survey_batch_end *end)
{
	const struct report_clock *entry = track->entry;
	const struct sample *sample = &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1];
	uint64_t expected;
	bool countable;

	survey_batch(survey, &entry->clock, SURVEY_FOLLOW_SAMPLES);
	expected = survey_track_expected(survey, track, sample->end - track->count.tsc);
	countable = !rate_wraps_are_ambiguous(&entry->clock, &entry->implied, expected, 0) &&
		    !is_doubtful(survey, track, expected, sample->end);
	survey_track_to(survey, track, sample);
	if (!countable && survey->report->hypervisor[0])
		follow_edges(survey, track);
	else if (countable && (int64_t)(track->count.ticks - track->last.ticks) < 0)
		count_step_back(survey, track);
	else if (countable && survey_wait_for_edge(survey, track, NULL))
		end->tightest = track->edge;
}

/*
 * Takes one more end of each clock that was followed through the window: first of the edge clocks, then of all others
 * at once. The stretch after the window is then the same for all, and a change of the TSC shows equally in all.
 */
static void
take_final_ends(struct survey *survey, struct survey_batch_end *ends)
{
	for (unsigned edges = 2; edges-- > 0;)
		for (size_t i = 0; i < survey->report->clock_count; i++) {
			struct survey_track *track = &survey->tracks[i];

			if (!survey_track_goes_on(track) || track->entry->clock.edges_only != edges)
				continue;
			if (edges)
				take_edge(survey, track, &ends[i]);
			else
				ends[i] = survey_take_end(survey, track);
		}
}

static void
record_final_ends(struct survey *survey, const struct survey_batch_end *ends)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (ends[i].tightest.end && survey_usable(track->entry))
			survey_record_end(survey, track, RECORD_FINAL, 0, &ends[i]);
	}
}

/* A pause of less than a second shows only at an edge. */
static void
observe_edges(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count && !survey_end_if_due(survey); i++) {
		const struct survey_track *track = &survey->tracks[i];
		struct sample edge = track->edge;

		if (track->entry && track->edge_seen && edge.end > survey->steps.clocks[i].then.end) {
			edge.ticks = wraps_reading(&track->entry->clock, track->count.ticks);
			survey_store_reading(survey, i, &edge, true);
		} else if (track->entry && survey_usable(track->entry)) {
			survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
			survey_store_reading(survey, i, &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1], false);
		}
	}
	survey_steps_compare(survey, false);
}

/*
 * Follows the edge clocks in UNSURE from a fresh reading, because the core may have been preempted for several edges
 * since the last.
 */
static void
follow_unsure_edges(struct survey *survey, uint32_t unsure)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (!set_has(unsure, i) || !survey_track_goes_on(track))
			continue;
		survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
		survey_track_to(survey, track, &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1]);
		follow_edges(survey, track);
	}
}

void
survey_rates_again(struct survey *survey)
{
	struct survey_batch_end ends[REPORT_CLOCKS_MAX] = { { .unread_ticks = 0 } };
	struct rate_outcome outcome;

	survey_set_stage(survey, SURVEY_AT_RATES_AGAIN);
	survey->hooks.progress(survey->hooks.context, "rates", survey->plan.done_ns, survey->plan.total_ns);
	survey->rates.count++;
	if (!survey_end_if_due(survey) && !survey_observe(survey) && survey->steps.cuts == survey->rates.cuts)
		take_final_ends(survey, ends);
	observe_edges(survey);
	/* Ends timed by a TSC that stopped prove nothing, nor do ends after a discontinuity. */
	if (survey_end_if_untimed(survey))
		return;
	if (survey->steps.cuts == survey->rates.cuts)
		record_final_ends(survey, ends);
	outcome = survey_analyse_rates(survey);
	if (survey->steps.cuts != survey->rates.cuts)
		return;
	for (size_t i = 0; i < survey->report->clock_count; i++)
		if (set_has(outcome.went_back, i))
			count_step_back(survey, &survey->tracks[i]);
	if (outcome.unsure) {
		follow_unsure_edges(survey, outcome.unsure);
		outcome = survey_analyse_rates(survey);
	}
	if (outcome.whole_run)
		survey_set_scale(survey, report_scale(survey->report));
	survey_series_rates(survey);
}
