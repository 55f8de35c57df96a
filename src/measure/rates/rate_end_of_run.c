/*
 * Reads each clock again at the end of the run, and compares its rate with the rate window. See survey_rates.h.
 */
#include "measure/rates/clock_tracker.h"

#include "base/set.h"

#define PPB             UINT64_C(1000000000)
#define AMBIGUOUS_SHARE 4 /* wraps cannot be counted with a doubt of more than 1/4 of the counter's range */
/* The measurement is shorter than the window by this, so that an early edge can still be its last. */
#define EDGES_SHORT_NS  (SURVEY_NS_PER_S / 2)
#define EDGES_MAX       1000 /* maximum number of edges; a window of ten seconds has about ten */

/* A clock's reading at the end of the run, and the expected ticks from its reading before. */
struct last_end {
	struct sample sample;
	uint64_t expected_ticks;
};

/*
 * Returns true if the number of TRACK's wraps in about EXPECTED ticks is uncertain. The rate in the window may
 * be too inexact for that. Or clocks that wrap later differ from the TSC by up to CHANGE_PPB.
 */
static bool
is_ambiguous(const struct survey_track *track, uint64_t expected, uint64_t change_ppb)
{
	const struct rate_interval *implied = &track->entry->implied;
	uint64_t doubt = scale_mul_div_up(expected, implied->high - implied->low, implied->low);
	uint64_t apart = scale_mul_div_up(expected, change_ppb, PPB);
	uint64_t range = track->entry->clock.wrap_ticks + 1; /* 0 for a 64-bit counter */

	return range && (doubt > range / AMBIGUOUS_SHARE || apart > range / AMBIGUOUS_SHARE);
}

/*
 * Returns true if the counter reads less than at the window's end: it has stepped back. A counter that lost
 * less than it gained since then is found by its rate.
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
	survey_record_failure(survey, track->entry, track->tsc);
	return true;
}

/*
 * Returns true if the clock's rate in the window and its nominal frequency give different numbers of wraps. A
 * guest that was stopped as a whole sees such a jump.
 */
static bool
is_doubtful(const struct survey *survey, const struct survey_track *track, uint64_t expected, uint64_t now_tsc)
{
	uint64_t range = track->entry->clock.wrap_ticks + 1, period = survey_periods(survey, &track->entry->clock, 1);
	uint64_t claimed = period ? (now_tsc - track->tsc) / period : 0;

	return range && survey_apart(expected, claimed) > range / AMBIGUOUS_SHARE;
}

/* Returns true if the rate that the scale uses for the TSC is outside RATE. */
static bool
is_beside_the_scale(const struct survey *survey, const struct rate_interval *rate)
{
	uint64_t microhz = scale_mul_div(survey->scale.hz.num, SURVEY_MICROHZ_PER_HZ, survey->scale.hz.den);

	return rate->known && (microhz < rate->low || microhz > rate->high);
}

/*
 * Measures the rate of a guest's edge clock (an RTC, see clock.h). The measurement lasts as long as the window, or up
 * to half a second less, and misses no edge.
 */
static void
follow_edges(struct survey *survey, struct survey_track *track)
{
	uint64_t enough_ticks = scale_ticks(&survey->scale, survey_window_ns(survey->report) - EDGES_SHORT_NS);
	struct sample first;

	if (!survey_wait_for_edge(survey, track, NULL))
		return;
	first = track->edge;
	for (unsigned edges = 0; edges < EDGES_MAX && track->edge.end - first.end < enough_ticks; edges++)
		if (!survey_wait_for_edge(survey, track, NULL))
			return;
	track->entry->implied_since = survey_implied(survey, track, &first, &track->edge);
}

/*
 * Takes an edge clock's next edge, and counts its ticks up to there. If they cannot be counted, a guest's edges
 * are followed for a new rate, so that a clock that jumped in the window has a second one.
 */
static void
take_edge(struct survey *survey, struct survey_track *track, struct last_end *end)
{
	const struct sample *sample = &survey->samples[SURVEY_FOLLOW_SAMPLES - 1];
	uint64_t expected;
	bool countable;

	survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
	expected = survey_track_expected(survey, track, sample->end - track->tsc);
	countable = !is_ambiguous(track, expected, 0) && !is_doubtful(survey, track, expected, sample->end);
	survey_track_to(survey, track, sample);
	if (!countable && survey->report->hypervisor[0])
		follow_edges(survey, track);
	else if (countable && !went_back(survey, track) && survey_wait_for_edge(survey, track, NULL))
		*end = (struct last_end){ track->edge, track->edge.ticks - track->last.ticks };
}

/*
 * Takes one more end of each clock that was followed through the window: first of the edge clocks, then of all
 * others at once. The stretch after the window is then the same for all, and a change of the TSC shows equally
 * in all.
 */
static void
take_last_ends(struct survey *survey, struct last_end *ends)
{
	const size_t count = survey->report->clock_count;

	for (size_t i = 0; i < count; i++)
		if (survey_track_goes_on(&survey->tracks[i]) && survey->tracks[i].entry->clock.edges_only)
			take_edge(survey, &survey->tracks[i], &ends[i]);
	for (size_t i = 0; i < count; i++) {
		struct survey_track *track = &survey->tracks[i];
		uint64_t from_tsc = track->tsc;

		if (!survey_track_goes_on(track) || track->entry->clock.edges_only)
			continue;
		ends[i].sample = survey_track_tightest(survey, track);
		ends[i].expected_ticks = survey_track_expected(survey, track, ends[i].sample.end - from_tsc);
	}
}

/* Returns false if TRACK has no last end, if its wraps up to there are uncertain, or if it stepped back. */
static bool
is_counted_to(const struct survey *survey, const struct survey_track *track, uint64_t change_ppb,
	      const struct last_end *end)
{
	if (!end->sample.end || is_ambiguous(track, end->expected_ticks, change_ppb))
		return false;
	return track->entry->clock.edges_only || !went_back(survey, track);
}

/* Returns the smallest absolute value in the interval, or 0 if the interval contains 0. */
static uint64_t
least_size(const struct interval_ppb *change)
{
	return change->known ? offset_min_size((struct offset){ change->low, change->high }) : 0;
}

/* Returns the clock that takes longest to wrap, among clocks that are not in DONE; REPORT_CLOCKS_MAX if none is
 * left.
 */
static size_t
wraps_last(const struct survey *survey, uint32_t done)
{
	size_t last = REPORT_CLOCKS_MAX;
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct clock *clock = &survey->report->clocks[i].clock;
		uint64_t ns;

		if (!survey_track_goes_on(&survey->tracks[i]) || set_has(done, i))
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

/*
 * Records the changes since the window from ENDS. Clocks that wrap last come first, because they decide how
 * well others' wraps can be counted.
 */
static void
record_changes(struct survey *survey, const struct last_end *ends)
{
	uint64_t change_ppb = 0;
	uint32_t done = 0;

	for (size_t i; (i = wraps_last(survey, done)) < REPORT_CLOCKS_MAX;) {
		struct report_clock *entry = &survey->report->clocks[i];
		struct survey_track *track = &survey->tracks[i];

		done |= set_of(i);
		if (!is_counted_to(survey, track, change_ppb, &ends[i]))
			continue;
		track->end = ends[i].sample;
		entry->implied_since = survey_implied(survey, track, &track->last, &track->end);
		entry->since_ns = scale_ns(&survey->scale, track->end.begin - track->last.begin);
		entry->change_since = survey_change(survey, track, &track->first, &track->last, &track->end);
		if (least_size(&entry->change_since) > change_ppb)
			change_ppb = least_size(&entry->change_since);
		if (least_size(&entry->change_since) > least_size(&entry->change) || !entry->change.known)
			entry->change = entry->change_since;
	}
}

/*
 * The rate of TRACK's edge clock up to the edge in the middle of the window. This stretch shares no edge with
 * the rest of the run, so a single stop of the machine is only in one of the two.
 */
static struct rate_interval
first_half(const struct survey *survey, const struct survey_track *track)
{
	if (!track->middle.end || track->middle.begin >= track->last.begin)
		return (struct rate_interval){ .known = false };
	return survey_implied(survey, track, &track->first, &track->middle);
}

/*
 * Follows edges from a fresh reading, because the core may have been preempted for several edges since the
 * last.
 */
static void
follow_edges_anew(struct survey *survey, struct survey_track *track)
{
	survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
	survey_track_to(survey, track, &survey->samples[SURVEY_FOLLOW_SAMPLES - 1]);
	follow_edges(survey, track);
}

static bool
are_apart(const struct rate_interval *a, const struct rate_interval *b)
{
	return a->known && b->known && (a->low > b->high || b->low > a->high);
}

/*
 * A pause of the guest makes the next edge late. The stretches before and after this edge then both show a
 * false rate. Therefore two stretches without a common edge are compared: the first half of the window and the
 * rest of the run, or else the window and one more stretch. That stretch is also measured if the last edge of
 * the run was late.
 */
static void
confirm_edges(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count && survey->report->hypervisor[0]; i++) {
		struct survey_track *track = &survey->tracks[i];
		struct report_clock *entry = &survey->report->clocks[i];
		struct rate_interval half;

		if (!survey_track_goes_on(track) || !entry->clock.edges_only ||
		    !is_beside_the_scale(survey, &entry->implied_window) ||
		    are_apart(&entry->implied_window, &entry->implied_since))
			continue;
		half = first_half(survey, track);
		if (is_beside_the_scale(survey, &half) && is_beside_the_scale(survey, &entry->implied_since)) {
			entry->implied_window = half;
			continue;
		}
		entry->implied_since.known = false;
		follow_edges_anew(survey, track);
	}
}

/*
 * Returns true if every clock could be followed to the end and no clock changed its rate on the way. The TSC
 * did not change then either.
 */
static bool
is_steady(const struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (track->entry && track->entry->implied_window.known && !track->stood &&
		    (!track->entry->change_since.known || least_size(&track->entry->change)))
			return false;
	}
	return true;
}

/*
 * Returns true if all clocks changed against the TSC in the same direction, by more than the limit. Then the
 * TSC has changed, and its average over the run is a rate that it never had.
 */
static bool
has_tsc_changed(const struct survey *survey)
{
	int64_t limit_ppb = (int64_t)survey->rate_limit_ppb;
	bool gained = false, lost = false;

	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct report_clock *entry = &survey->report->clocks[i];

		if (!survey->tracks[i].entry || entry->clock.edges_only || !entry->change_since.known)
			continue;
		if (entry->change_since.low <= limit_ppb && entry->change_since.high >= -limit_ppb)
			return false;
		gained |= entry->change_since.high < 0;
		lost |= entry->change_since.high > 0;
	}
	return gained != lost;
}

/* A pause of less than a second shows only at an edge. */
static void
observe_edges(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count && !survey_end_if_due(survey); i++) {
		const struct survey_track *track = &survey->tracks[i];
		struct sample edge = { track->edge.begin, track->raw, track->edge.end };

		if (track->entry && track->edge_seen && edge.end > survey->steps.clocks[i].then.end) {
			survey_step_take(survey, i, &edge, true);
		} else if (track->entry && survey_usable(track->entry)) {
			survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
			survey_step_take(survey, i, &survey->samples[SURVEY_FOLLOW_SAMPLES - 1], false);
		}
	}
	survey_steps_compare(survey, false);
}

void
survey_rates_again(struct survey *survey)
{
	struct last_end ends[REPORT_CLOCKS_MAX] = { { { 0 }, 0 } };

	survey_set_stage(survey, SURVEY_AT_RATES_AGAIN);
	survey->hooks.progress(survey->hooks.context, "rates", survey->done_ns, survey->total_ns);
	if (!survey_end_if_due(survey) && !survey_observe(survey) && survey->steps.cuts == survey->window_cuts)
		take_last_ends(survey, ends);
	observe_edges(survey);
	/* Ends timed by a TSC that stopped prove nothing, nor do ends after a discontinuity. */
	if (survey_end_if_untimed(survey) || survey->steps.cuts != survey->window_cuts)
		return;
	record_changes(survey, ends);
	confirm_edges(survey);
	if (is_steady(survey) || (survey->report->options.profile == PROFILE_SOAK && !has_tsc_changed(survey)))
		survey_conclude(survey);
	survey_series_rates(survey);
}
