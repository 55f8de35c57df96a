/* Each clock once more, at the end of the run, against its rate in the window. See survey_rates.h. */
#include "measure/rates/survey_tracks.h"

#include "base/set.h"

#define PPB             UINT64_C(1000000000)
#define AMBIGUOUS_SHARE 4 /* of a counter's range: with more doubt than that its wraps can't be counted */
#define EDGES_SHORT_NS  (SURVEY_NS_PER_S / 2) /* so that an edge which comes a little early is the last one */
#define EDGES_MAX       1000 /* seconds, in a window of ten: bounds a wait for edges by count */

/*
 * Whether too little is known to say how often TRACK's counter wrapped in about EXPECTED ticks, be it of the rate that
 * it had in the window or because clocks that wrap later, by up to CHANGE_PPB, no longer agree with the TSC.
 */
static bool
is_ambiguous(const struct survey_track *track, uint64_t expected, uint64_t change_ppb)
{
	const struct rate_interval *implied = &track->entry->implied;
	uint64_t doubt = scale_mul_div_up(expected, implied->high - implied->low, implied->low);
	uint64_t apart = scale_mul_div_up(expected, change_ppb, PPB);
	uint64_t range = track->entry->clock.wrap_ticks + 1; /* 0 for a counter of 64 bits */

	return range && (doubt > range / AMBIGUOUS_SHARE || apart > range / AMBIGUOUS_SHARE);
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

/*
 * Whether the rate that TRACK's clock had in the window and the one that it claims give different counts of its wraps:
 * the clock of a guest that was stopped as a whole leaps.
 */
static bool
is_doubtful(const struct survey *survey, const struct survey_track *track, uint64_t expected, uint64_t now_tsc)
{
	uint64_t range = track->entry->clock.wrap_ticks + 1, period = survey_periods(survey, &track->entry->clock, 1);
	uint64_t claimed = period ? (now_tsc - track->tsc) / period : 0;

	return range && survey_apart(expected, claimed) > range / AMBIGUOUS_SHARE;
}

/* What the TSC's rate is taken for is not in RATE. */
static bool
is_beside_the_scale(const struct survey *survey, const struct rate_interval *rate)
{
	uint64_t microhz = scale_mul_div(survey->scale.hz.num, SURVEY_MICROHZ_PER_HZ, survey->scale.hz.den);

	return rate->known && (microhz < rate->low || microhz > rate->high);
}

/* A guest's edge clock over a stretch as long as the window, of which no edge is missed, or half a second less. */
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
 * An edge clock's next edge, its ticks counted on. Where they can't be, a guest's clock still has a rate: one that
 * leapt in the window is not left to the window alone.
 */
static void
take_edge(struct survey *survey, struct survey_track *track, struct sample *end)
{
	const struct sample *sample = &survey->samples[SURVEY_FOLLOW_SAMPLES - 1];
	uint64_t expected;
	bool countable;

	survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
	expected = survey_track_expected(track, sample->end);
	countable = !is_ambiguous(track, expected, 0) && !is_doubtful(survey, track, expected, sample->end);
	survey_track_to(track, sample, expected);
	if (!countable && survey->report->hypervisor[0])
		follow_edges(survey, track);
	else if (countable && !went_back(survey, track) && survey_wait_for_edge(survey, track, NULL))
		*end = track->edge;
}

/*
 * One more end of each clock that was followed through the window, of all but the edge clocks with the ticks as they
 * are read: those of the edge clocks first, then all others at once. So the stretch since the window is the same one
 * for all, and what happened to the TSC in it shows alike in all.
 */
static void
take_last_ends(struct survey *survey, struct sample *ends)
{
	const size_t count = survey->report->clock_count;

	for (size_t i = 0; i < count; i++)
		if (survey_track_goes_on(&survey->tracks[i]) && survey->tracks[i].entry->clock.edges_only)
			take_edge(survey, &survey->tracks[i], &ends[i]);
	for (size_t i = 0; i < count; i++) {
		if (survey_track_goes_on(&survey->tracks[i]) && !survey->tracks[i].entry->clock.edges_only)
			ends[i] = survey_track_tightest(survey, &survey->tracks[i]);
	}
}

/*
 * Counts TRACK's ticks on to END. Of a clock that wraps the least change is seen that explains its reading. False:
 * there is no such end, or it says nothing.
 */
static bool
count_on(const struct survey *survey, struct survey_track *track, uint64_t change_ppb, struct sample *end)
{
	uint64_t expected;

	if (!end->end)
		return false;
	if (track->entry->clock.edges_only)
		return !is_ambiguous(track, end->ticks - track->last.ticks, change_ppb);
	expected = survey_track_expected(track, end->end);
	if (is_ambiguous(track, expected, change_ppb))
		return false;
	survey_track_to(track, end, expected);
	end->ticks = track->ticks;
	return !went_back(survey, track);
}

/* How far from 0 all of an interval lies. */
static uint64_t
least_size(const struct interval_ppb *change)
{
	return change->known ? offset_nearest((struct offset){ change->low, change->high }) : 0;
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

/* What changed since the window by ENDS, the clocks that wrap last first: by them others' wraps are counted. */
static void
record_changes(struct survey *survey, struct sample *ends)
{
	uint64_t change_ppb = 0;
	uint32_t done = 0;

	for (size_t i; (i = wraps_last(survey, done)) < REPORT_CLOCKS_MAX;) {
		struct report_clock *entry = &survey->report->clocks[i];
		struct survey_track *track = &survey->tracks[i];

		done |= set_of(i);
		if (!count_on(survey, track, change_ppb, &ends[i]))
			continue;
		entry->implied_since = survey_implied(survey, track, &track->last, &ends[i]);
		entry->since_ns = scale_ns(&survey->scale, ends[i].begin - track->last.begin);
		entry->change_since = survey_change(survey, track, &track->first, &track->last, &ends[i]);
		if (least_size(&entry->change_since) > change_ppb)
			change_ppb = least_size(&entry->change_since);
		if (least_size(&entry->change_since) > least_size(&entry->change) || !entry->change.known)
			entry->change = entry->change_since;
		track->end = ends[i];
	}
}

/*
 * The rate of TRACK's edge clock up to the edge in the middle of the window. This stretch shares no edge with the rest
 * of the run: one stop of the machine is in one of the two only.
 */
static struct rate_interval
first_half(const struct survey *survey, const struct survey_track *track)
{
	if (!track->middle.end || track->middle.begin >= track->last.begin)
		return (struct rate_interval){ .known = false };
	return survey_implied(survey, track, &track->first, &track->middle);
}

/* Edges are followed from a fresh reading: the core may have been away since the last one, for some edges. */
static void
follow_edges_anew(struct survey *survey, struct survey_track *track)
{
	survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
	survey_track_on(survey, track, &survey->samples[SURVEY_FOLLOW_SAMPLES - 1]);
	follow_edges(survey, track);
}

static bool
are_apart(const struct rate_interval *a, const struct rate_interval *b)
{
	return a->known && b->known && (a->low > b->high || b->low > a->high);
}

/*
 * A pause of the guest makes the edge that was due late. The stretches before and after this edge then both show a
 * false rate. So two stretches without a common edge are compared: the first half of the window and the rest of the
 * run, or else the window and one more stretch. That one is also measured if the last edge of the run was late.
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
 * Whether each clock was followed to the end that the firmware let count on, and none, and so not the TSC either,
 * changed on the way.
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
 * Whether all clocks changed against the TSC alike, by more than rates may be apart: so it is the TSC that did, and
 * what its rate was on average over the run it never was.
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

/* A pause of less than a second shows at an edge only. */
static void
observe_edges(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count && !survey_end_if_due(survey); i++) {
		const struct survey_track *track = &survey->tracks[i];
		struct sample edge = { track->edge.begin, track->raw, track->edge.end };

		if (track->entry && track->edge_seen && edge.end > survey->steps[i].then.end) {
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
	struct sample ends[REPORT_CLOCKS_MAX] = { { 0 } };

	survey_is_at(survey, SURVEY_AT_RATES_AGAIN);
	survey->hooks.progress(survey->hooks.context, "rates", survey->done_ns, survey->total_ns);
	if (!survey_end_if_due(survey) && !survey_observe(survey) && survey->cuts == survey->window_cuts)
		take_last_ends(survey, ends);
	observe_edges(survey);
	/* Ends that a TSC took which stopped meanwhile say nothing, and none beyond a cut. */
	if (survey_end_if_untimed(survey) || survey->cuts != survey->window_cuts)
		return;
	record_changes(survey, ends);
	confirm_edges(survey);
	if (is_steady(survey) || (survey->report->options.profile == PROFILE_SOAK && !has_tsc_changed(survey)))
		survey_conclude(survey);
	survey_series_rates(survey);
}
