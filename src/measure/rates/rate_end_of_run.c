/*
 * Reads each clock again at the end of the run, and compares its rate with its rate in the rate window. See
 * survey_rates.h.
 */
#include "measure/rates/clock_tracker.h"

#include "base/set.h"

/*
 * the measurement of an edge clock's rate may be this much shorter than the rate window, because the last edge may be
 * early
 */
#define EDGES_SHORT_NS  (SURVEY_NS_PER_S / 2)
#define EDGES_MAX       1000 /* maximum number of edges; a window of ten seconds has about ten */

/* Counts a step back of TRACK's counter, which reads less than at the end of the rate window. */
static void
count_step_back_since_window(const struct survey_track *track)
{
	struct monotonic *monotonic = &track->entry->monotonic;
	uint64_t back_ticks = track->last.ticks - track->count.latest.ticks;

	monotonic->backward++;
	if (back_ticks > monotonic->worst_ticks)
		monotonic->worst_ticks = back_ticks;
	survey_record_clock_failure(track->entry, track->count.latest.end);
}

/*
 * Returns true if the clock's number of wraps since its latest reading is uncertain. It is uncertain if EXPECTED (ticks
 * by the rate in the rate window) differs too much from the ticks by the nominal frequency: the rate in the window is
 * wrong if the whole guest was stopped there.
 */
static bool
may_clock_have_jumped(const struct survey *survey, const struct survey_track *track, uint64_t expected,
		      uint64_t now_tsc)
{
	uint64_t range = track->entry->clock.wrap_ticks + 1;
	uint64_t period = survey_tsc_ticks_in_clock_periods(survey, &track->entry->clock, 1);
	uint64_t claimed = period ? (now_tsc - track->count.latest.end) / period : 0;

	return range && survey_apart(expected, claimed) > range / RATE_AMBIGUOUS_SHARE;
}

/*
 * Measures the rate of a guest's edge clock (an RTC, see clock.h). The measurement lasts as long as the window, or up
 * to half a second less, and misses no edge.
 */
static void
follow_edges_of_clock(struct survey *survey, struct survey_track *track)
{
	uint64_t enough_ticks = scale_ns_to_ticks(&survey->scale, survey_rate_window_ns(survey->report) - EDGES_SHORT_NS);
	bool has_edge = survey_wait_for_edge(survey, track, NULL);
	const struct sample none = { 0, 0, 0 }, first = has_edge ? track->edge : none;

	survey_record_edge(survey, track, RECORD_AGAIN, 0, &first);
	for (unsigned edges = 0; has_edge && edges < EDGES_MAX && track->edge.end - first.end < enough_ticks; edges++)
		has_edge = survey_wait_for_edge(survey, track, NULL);
	survey_record_edge(survey, track, RECORD_AGAIN, 0, has_edge ? &track->edge : &none);
}

/*
 * Reads an edge clock at its next edge, if it is certain how often the clock wrapped since its latest reading.
 * Otherwise measures the rate of a guest's edge clock again, because the clock may have jumped in the rate window.
 */
static void
read_clock_at_next_edge(struct survey *survey, struct survey_track *track, struct survey_batch_end *end)
{
	const struct report_clock *entry = track->entry;
	const struct sample *sample = &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1];
	bool countable;

	survey_sample_batch(survey, &entry->clock, SURVEY_FOLLOW_SAMPLES);
	uint64_t expected = survey_track_expected_ticks(survey, track, sample->end - track->count.latest.end);
	countable = !rate_may_wraps_be_miscounted(&entry->clock, &report_get_figures(survey->report, entry)->implied,
						  expected, 0) &&
		    !may_clock_have_jumped(survey, track, expected, sample->end);
	survey_track_update(survey, track, sample);
	if (!countable && report_is_guest(survey->report))
		follow_edges_of_clock(survey, track);
	else if (countable && survey_wait_for_edge(survey, track, NULL))
		end->tightest = track->edge;
}

void
survey_take_end_readings(struct survey *survey, bool with_edge_clocks, struct survey_batch_end ends[REPORT_CLOCKS_MAX])
{
	for (unsigned edges = with_edge_clocks + 1u; edges-- > 0;)
		for (size_t i = 0; i < survey->report->facts.clock_count && !survey->tsc.is_stopped; i++) {
			struct survey_track *track = &survey->tracks[i];

			if (!survey_can_clock_be_followed(survey, track) || track->entry->clock.edges_only != edges)
				continue;
			if (edges)
				read_clock_at_next_edge(survey, track, &ends[i]);
			else
				ends[i] = survey_take_batch_at_window_or_run_end(survey, track);
		}
}

static void
record_final_readings(struct survey *survey, const struct survey_batch_end *ends)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (!ends[i].tightest.end || !survey_usable(track->entry))
			continue;
		if (track->is_unrecorded)
			notes_add(&survey->report->notes, "The rate of %s from the rate window to the end of the run is not known, because "
				  "the record had no space for the readings that count its wraps.", track->entry->clock.id);
		else
			survey_record_batch_end(survey, track, RECORD_FINAL, 0, &ends[i]);
	}
}

void
survey_measure_rates_at_end_of_run(struct survey *survey)
{
	struct survey_batch_end ends[REPORT_CLOCKS_MAX] = { { .unread_ticks = 0 } };

	survey_show_progress(survey, "rates", 0);
	survey->rates.count++;
	if (!survey_end_run_if_due(survey) && !survey_read_and_compare_clocks(survey) && !survey_is_cut(survey))
		survey_take_end_readings(survey, true, ends);
	survey_read_and_compare_clocks(survey);
	/*
	 * The final readings prove nothing if the TSC stopped, or if there was a discontinuity since the rate window.
	 */
	if (survey_end_if_untimed(survey))
		return;
	if (!survey_is_cut(survey))
		record_final_readings(survey, ends);
	struct rate_outcome outcome = survey_analyse_rates(survey);
	if (survey_is_cut(survey))
		return;
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (set_has(outcome.went_back, i))
			count_step_back_since_window(track);
		if (!set_has(outcome.unsure, i) || !survey_can_clock_be_followed(survey, track))
			continue;
		/*
		 * follows an unsure clock from a fresh reading, because the core may have been preempted for several
		 * edges
		 */
		survey_track_read(survey, track);
		follow_edges_of_clock(survey, track);
	}
	if (outcome.unsure)
		outcome = survey_analyse_rates(survey);
	if (outcome.whole_run)
		survey_set_scale(survey, report_get_tsc_scale(survey->report), outcome.undecided);
}
