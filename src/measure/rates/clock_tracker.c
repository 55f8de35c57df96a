/* Follows one clock: unwraps its counter, and takes its ends and edges. See clock_tracker.h. */
#include "measure/rates/clock_tracker.h"

#define FOLLOW_NS         (10 * SURVEY_NS_PER_MS) /* the PIT wraps in 55 ms */
#define EDGE_SAMPLES      64  /* samples of an edge clock (an RTC, see clock.h) between two looks at the time */
#define EDGE_TURNS        2400000 /* a batch takes at least a microsecond: bounds a wait of 2.4 s by a count */
/* Longer than this from one batch to the next, the core was preempted, and the wait starts anew. */
#define AWAY_NS      (100 * SURVEY_NS_PER_MS)
#define AWAYS_MAX    4       /* at most this often */
/* Half of that wait, 1.2 s, is enough for a clock whose rate is known to be right. */
#define KNOWN_SHARE       2
#define KNOWN_LATE_NUM    6       /* 6/5 of its period is enough for a clock whose known rate is lower */
#define KNOWN_LATE_DEN    5

void
survey_track_begin(struct survey_track *track, struct report_clock *entry, const struct sample *sample)
{
	*track = (struct survey_track){ .entry = entry, .raw = sample->ticks, .begin = sample->begin,
					.tsc = sample->end, .counted_tsc = sample->end, .every = 1 };
}

bool
survey_track_goes_on(const struct survey_track *track)
{
	return track->entry && survey_usable(track->entry) && track->entry->implied.known && !track->stood;
}

uint64_t
survey_track_expected(const struct survey *survey, const struct survey_track *track, uint64_t passed_tsc)
{
	const struct rate *claimed = &track->entry->clock.claimed;

	if (survey_track_goes_on(track))
		return scale_mul_div(track->last.ticks - track->first.ticks, passed_tsc,
				     track->last.begin - track->first.begin);
	return survey->paces[track - survey->tracks] *
	       scale_mul_div(scale_ns(&survey->scale, passed_tsc), claimed->num, claimed->den * SURVEY_NS_PER_S);
}

void
survey_track_to(const struct survey *survey, struct survey_track *track, const struct sample *sample)
{
	uint64_t expected_ticks = survey_track_expected(survey, track, sample->end - track->tsc);

	track->ticks += rate_unwrap(&track->entry->clock, track->raw, sample->ticks, expected_ticks);
	track->raw = sample->ticks;
	track->begin = sample->begin;
	track->tsc = sample->end;
}

/* How far the clock moves in 2^32 TSC ticks, by the provisional rate. */
static uint64_t
rise(const struct survey *survey, const struct survey_track *track)
{
	const struct rate *claimed = &track->entry->clock.claimed, *tsc = &survey->scale.hz;

	return scale_ratio((unsigned __int128)claimed->num * tsc->den, survey->paces[track - survey->tracks] << 32,
			   (unsigned __int128)claimed->den * tsc->num, SCALE_NEAREST);
}

void
survey_track_add(const struct survey *survey, struct survey_track *track, const struct sample *samples, size_t count,
		 size_t number, uint64_t ticks)
{
	const struct clock *clock = &track->entry->clock;
	struct sample tightest = rate_tightest(samples, count);
	size_t kept = 0;

	if (number % track->every)
		return;
	if (number == RATE_BETWEEN_MAX * track->every) {
		track->every *= 2;
		for (size_t i = 0; i < track->look_count; i++) {
			if (track->looks[i].number % track->every == 0)
				track->looks[kept++] = track->looks[i];
			if (i + 1 == track->fit_looks)
				track->fit_looks = kept;
		}
		track->look_count = kept;
	}
	tightest.ticks = ticks;
	track->looks[track->look_count++] = (struct survey_look){
		tightest, number,
		rate_corners(clock, survey_trust_ticks(survey, clock), rise(survey, track), samples, count),
	};
}

struct sample
survey_track_tightest(struct survey *survey, struct survey_track *track)
{
	struct report_clock *entry = track->entry;
	const struct sample *samples = survey->samples;
	struct sample tightest;

	survey_batch(survey, &entry->clock, SURVEY_END_SAMPLES);
	resolution_add(&entry->resolution, &entry->clock, survey_trust_ticks(survey, &entry->clock), samples,
		       SURVEY_END_SAMPLES);
	tightest = rate_tightest(samples, SURVEY_END_SAMPLES);
	survey_track_to(survey, track, &tightest);
	survey_track_add(survey, track, samples, SURVEY_END_SAMPLES, 0, track->ticks);
	if (survey_is_stopped(survey, &entry->clock, samples, SURVEY_END_SAMPLES))
		survey_mark_stuck(survey, entry,
				  scale_ns(&survey->scale, samples[SURVEY_END_SAMPLES - 1].end - samples[0].begin),
				  samples[SURVEY_END_SAMPLES - 1].end);
	tightest.ticks = track->ticks;
	return tightest;
}

/* Records a change between two readings, which may belong to two batches. */
static void
fold_change(struct survey_track *track, uint64_t before_ticks, const struct sample *after)
{
	const struct sample pair[] = { { after->begin, before_ticks, after->begin }, *after };

	resolution_add(&track->entry->resolution, &track->entry->clock, 0, pair, 2);
}

bool
survey_track_edges(const struct survey *survey, struct survey_track *track, size_t count,
		   const struct survey_window *window)
{
	bool seen = false;

	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &survey->samples[i];
		uint64_t raw = track->raw, begin = track->begin;

		survey_track_to(survey, track, sample);
		if (sample->ticks == raw)
			continue;
		track->edge = (struct sample){ begin, track->ticks, sample->end };
		fold_change(track, raw, sample);
		if (window && track->edge_seen && survey_apart(track->edge.end, window->middle_tsc) <
						 survey_apart(track->middle.end, window->middle_tsc))
			track->middle = track->edge;
		track->edge_seen = seen = true;
	}
	return seen;
}

/* The latest edge of an edge clock is more exact than a later reading without an edge. */
static struct sample
latest(const struct survey *survey, size_t i, bool *at_edge)
{
	const struct survey_track *track = &survey->tracks[i];
	struct sample sample = { track->begin, track->raw, track->tsc };

	*at_edge = track->edge_seen && track->edge.end > survey->steps.clocks[i].then.end;
	if (*at_edge) {
		sample.begin = track->edge.begin;
		sample.end = track->edge.end;
	}
	return sample;
}

void
survey_compare_tracks(struct survey *survey)
{
	bool cut;

	for (size_t i = 0; i < survey->report->clock_count; i++) {
		bool at_edge;
		struct sample sample = latest(survey, i, &at_edge);

		if (survey->tracks[i].entry)
			survey_step_take(survey, i, &sample, at_edge);
	}
	cut = survey_steps_compare(survey, true);
	survey_check_counts(survey, cut);
	if (cut)
		return;
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		track->fit_looks = track->look_count;
		if (track->entry && !track->entry->clock.edges_only)
			track->fit = (struct sample){ track->begin, track->ticks, track->tsc };
		else if (track->edge_seen)
			track->fit = track->edge;
	}
}

bool
survey_follow_others(struct survey *survey, struct survey_window *window, uint64_t now_tsc)
{
	if (now_tsc < window->next_tsc)
		return false;
	window->next_tsc = now_tsc + scale_ticks(&survey->scale, FOLLOW_NS);
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];
		struct sample tightest;

		if (!track->entry || !survey_usable(track->entry) || track->entry->clock.edges_only)
			continue;
		survey_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
		tightest = rate_tightest(survey->samples, SURVEY_FOLLOW_SAMPLES);
		survey_track_to(survey, track, &tightest);
		survey_track_add(survey, track, survey->samples, SURVEY_FOLLOW_SAMPLES, track->between++, track->ticks);
		survey_track_to(survey, track, &survey->samples[SURVEY_FOLLOW_SAMPLES - 1]);
	}
	survey_compare_tracks(survey);
	return true;
}

/* Longest wait for TRACK's next edge, shorter if its rate is known. */
static uint64_t
edge_bound_ticks(const struct survey *survey, const struct survey_track *track)
{
	uint64_t right_ticks = survey->edge_bound_ticks / KNOWN_SHARE, own_ticks;

	if (!track->last.end)
		return survey->edge_bound_ticks;
	own_ticks = scale_mul_div(track->last.end - track->first.begin, KNOWN_LATE_NUM,
				  (track->last.ticks - track->first.ticks) * KNOWN_LATE_DEN);
	return own_ticks > right_ticks ? own_ticks : right_ticks;
}

/*
 * The other clocks are not read in the first moments, because the edge is near then. If the core is preempted
 * during an RTC update, the seconds read as before however long that took, so the wait starts anew.
 */
bool
survey_wait_for_edge(struct survey *survey, struct survey_track *track, struct survey_window *window)
{
	const struct clock *clock = &track->entry->clock;
	unsigned aways = 0;
	uint64_t start = track->tsc, bound_ticks = edge_bound_ticks(survey, track);

	if (window)
		window->next_tsc = start + scale_ticks(&survey->scale, FOLLOW_NS);
	for (unsigned turn = 0; turn < EDGE_TURNS && !survey_end_if_due(survey); turn++) {
		uint64_t before = track->tsc;

		survey_batch(survey, clock, EDGE_SAMPLES);
		if (survey_track_edges(survey, track, EDGE_SAMPLES, window))
			return true;
		if (track->tsc - before > scale_ticks(&survey->scale, AWAY_NS) && aways++ < AWAYS_MAX)
			start = track->tsc;
		if (track->tsc - start > bound_ticks)
			break;
		if (window)
			survey_follow_others(survey, window, track->tsc);
		if (window && survey_is_cut(survey, window))
			return false;
	}
	if (survey_observe(survey) || survey->report->incomplete)
		return false; /* after a discontinuity the waiting time by the TSC is wrong */
	survey_mark_stuck(survey, track->entry, scale_ns(&survey->scale, track->tsc - start), track->tsc);
	return false;
}
