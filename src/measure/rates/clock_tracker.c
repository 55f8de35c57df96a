/*
 * Follows one clock: counts its wraps, takes its samples, and finds the edges (ticks) of an RTC. See clock_tracker.h.
 */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"

/* interval between readings that count a clock's wraps; it is short because the PIT wraps in 55 ms */
#define FOLLOW_NS         (10 * SURVEY_NS_PER_MS)
/* number of samples of an edge clock (an RTC, see clock.h) between two checks of the time */
#define EDGE_SAMPLES      64
#define WRAP_QUARTERS     4
#define RISE_TSC_TICKS    (UINT64_C(1) << 32) /* unit of the argument RISE of rate_find_corners() */
#define EDGES_KEPT        1000 /* maximum number of edges that are recorded in a rate window */
/* maximum number of batches in a wait of 2.4 s; a batch takes at least a microsecond */
#define EDGE_TURNS        2400000
/*
 * If two batches are further apart than AWAY_NS, the core was preempted, and the wait for an edge starts again. This
 * happens at most AWAYS_MAX times.
 */
#define AWAY_NS      (100 * SURVEY_NS_PER_MS)
#define AWAYS_MAX    4
/*
 * If the clock's rate is known, the longest wait for an edge is 6/5 (KNOWN_LATE_NUM / KNOWN_LATE_DEN) of its measured
 * period, but at least half (1 / KNOWN_SHARE) of the usual 2.4 s.
 */
#define KNOWN_SHARE       2
#define KNOWN_LATE_NUM    6
#define KNOWN_LATE_DEN    5

bool
survey_can_clock_be_followed(const struct survey *survey, const struct survey_track *track)
{
	return track->entry && survey_usable(track->entry) &&
	       report_get_figures(survey->report, track->entry)->implied.known && track->last.begin > track->first.begin;
}

uint64_t
survey_track_expected_ticks(const struct survey *survey, const struct survey_track *track, uint64_t passed_tsc)
{
	if (survey_can_clock_be_followed(survey, track))
		return rate_expected_ticks(&track->first, &track->last, passed_tsc);
	return wraps_expected_ticks(&track->count, &survey->scale, passed_tsc);
}

/*
 * Returns true if the record needs another reading to count the wraps of TRACK's counter. The counter's ticks since the
 * last recorded reading are compared with the prediction by its rate in the rate window. The reading is needed if the
 * difference is more than a quarter of the counter's range.
 */
static bool
is_extra_reading_needed_for_wraps(const struct survey *survey, const struct survey_track *track)
{
	const struct sample *from = track->recorded.end ? &track->recorded : &track->last;
	uint64_t range = (uint64_t)wraps_range(&track->entry->clock), passed = track->count.latest.end - from->end;
	uint64_t ticks = track->count.latest.ticks - from->ticks;

	return range && survey_can_clock_be_followed(survey, track) && !(passed >> 63) &&
	       survey_apart(ticks, survey_track_expected_ticks(survey, track, passed)) > range / WRAP_QUARTERS;
}

void
survey_track_update(struct survey *survey, struct survey_track *track, const struct sample *sample)
{
	const struct survey_batch_end before = { .tightest = track->count.latest };

	wraps_count_until_reading(&track->count, sample,
		       survey_track_expected_ticks(survey, track, wraps_passed(&track->count, sample->end)));
	if (before.tightest.end == track->recorded.end || !is_extra_reading_needed_for_wraps(survey, track))
		return;
	track->is_unrecorded |= survey->record.entries_of[RECORD_BATCH] >= SURVEY_BATCHES_MAX;
	if (!track->is_unrecorded)
		survey_record_batch_end(survey, track, RECORD_BETWEEN, 0, &before);
	track->recorded = before.tightest;
}

/* Returns the resolution of TRACK's counter, from the readings by all its read methods. */
static struct resolution
resolution_of_counter(const struct survey *survey, const struct survey_track *track)
{
	struct resolution all = { .steps = 0 };

	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		const struct report_clock *other = &survey->report->facts.clocks[i];

		if (text_equal(other->clock.main, track->entry->clock.main))
			resolution_merge_other(&all, &other->resolution);
	}
	return all;
}

static size_t
copy_corners_to_record(const struct rate_corner *corners, size_t count, bool upper, struct record_corner *items)
{
	for (size_t i = 0; i < count; i++)
		items[i] = (struct record_corner){ (uint64_t)corners[i].tsc, (uint64_t)corners[i].ticks, upper };
	return count;
}

void
survey_record_batch_end(struct survey *survey, struct survey_track *track, enum record_stage stage, uint16_t flags,
			const struct survey_batch_end *end)
{
	struct resolution resolution = resolution_of_counter(survey, track);
	const struct record_batch batch = {
		.clock = (uint16_t)(track - survey->tracks), .stage = (uint16_t)stage, .window = survey->rates.count, .flags = flags,
		.number = stage == RECORD_FIRST ? track->count.pace : stage == RECORD_LOOK ? track->batch_count : 0,
		.begin = end->tightest.begin, .ticks = wraps_reading(&track->entry->clock, end->tightest.ticks),
		.end = end->tightest.end, .unread_ticks = end->unread_ticks,
		.gcd_ticks = resolution.gcd_ticks, .smallest_ticks = resolution.smallest_ticks,
	};
	struct record_corner items[2 * RATE_CORNERS_MAX];
	size_t count = copy_corners_to_record(end->corners.lower, end->corners.lower_count, false, items);

	count += copy_corners_to_record(end->corners.upper, end->corners.upper_count, true, items + count);
	record_put(&survey->record, RECORD_BATCH, &batch, items, count);
	if (stage == RECORD_FIRST)
		track->first = end->tightest;
	if (stage == RECORD_LAST || flags & RECORD_JUMPED)
		track->last = end->tightest;
}

void
survey_record_edge(struct survey *survey, struct survey_track *track, enum record_stage stage, uint16_t flags,
		   const struct sample *sample)
{
	struct survey_batch_end end = { .tightest = *sample };

	if (!track->entry->clock.edges_only && sample->end)
		end.corners = rate_find_corners(&track->entry->clock, 0, 0, sample, 1);
	survey_record_batch_end(survey, track, stage, flags, &end);
}

void
survey_track_read(struct survey *survey, struct survey_track *track)
{
	survey_sample_batch(survey, &track->entry->clock, SURVEY_FOLLOW_SAMPLES);
	survey_track_update(survey, track, &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1]);
}

struct survey_batch_end
survey_track_take_batch(struct survey *survey, struct survey_track *track, size_t count)
{
	const struct clock *clock = &track->entry->clock;
	struct survey_batch_end end;

	survey_sample_batch(survey, clock, count);
	end.tightest = rate_shortest_sample(survey->buffer.samples, count);
	end.unread_ticks = wraps_passed(&track->count, end.tightest.end);
	end.corners = rate_find_corners(clock, survey_max_ticks_between_compared_reads(survey, clock),
					wraps_expected_ticks(&track->count, &survey->scale, RISE_TSC_TICKS),
					survey->buffer.samples, count);
	survey_track_update(survey, track, &end.tightest);
	end.tightest.ticks = track->count.latest.ticks;
	return end;
}

struct survey_batch_end
survey_take_batch_at_window_or_run_end(struct survey *survey, struct survey_track *track)
{
	struct report_clock *entry = track->entry;
	const struct sample *samples = survey->buffer.samples;
	/* if the clock moves, its value changes within this time */
	uint64_t enough = survey_tsc_ticks_in_clock_periods(survey, &entry->clock, SURVEY_STUCK_PERIODS);
	struct survey_batch_end end = survey_track_take_batch(survey, track, SURVEY_END_SAMPLES);

	resolution_add_samples(&entry->resolution, &entry->clock,
			       survey_max_ticks_between_compared_reads(survey, &entry->clock), samples,
			       SURVEY_END_SAMPLES);
	if (enough && !survey_any_differs(samples, SURVEY_END_SAMPLES) &&
	    samples[SURVEY_END_SAMPLES - 1].begin - samples[0].end > enough)
		survey_mark_clock_stuck(entry,
					scale_ns(&survey->scale, samples[SURVEY_END_SAMPLES - 1].end - samples[0].begin),
					samples[SURVEY_END_SAMPLES - 1].end);
	return end;
}

/*
 * Returns true if TRACK's new edge is nearer to the window's middle than the edge BEFORE, or if BEFORE is the window's
 * first edge.
 */
static bool
is_edge_nearer_to_window_middle(const struct survey_track *track, const struct sample *before,
				const struct survey_window *window)
{
	return before->end == track->first.end ||
	       survey_apart(track->edge.end, window->middle_tsc) < survey_apart(before->end, window->middle_tsc);
}

bool
survey_track_find_edges_in_batch(struct survey *survey, struct survey_track *track, size_t count,
				 const struct survey_window *window)
{
	bool seen = false;

	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &survey->buffer.samples[i];
		uint64_t raw = wraps_reading(&track->entry->clock, track->count.latest.ticks), begin = track->count.latest.begin;

		survey_track_update(survey, track, sample);
		if (!survey_is_edge(survey, &track->entry->clock, raw, sample->ticks))
			continue;
		const struct sample before = track->edge;
		/* the two readings around the edge, which may belong to different batches */
		const struct sample pair[] = { { sample->begin, raw, sample->begin }, *sample };

		track->edge = (struct sample){ begin, track->count.latest.ticks, sample->end };
		resolution_add_samples(&track->entry->resolution, &track->entry->clock, 0, pair, 2);
		if (window && before.end && is_edge_nearer_to_window_middle(track, &before, window))
			survey_record_edge(survey, track, RECORD_MIDDLE, 0, &track->edge);
		else if (window && track->batch_count++ < EDGES_KEPT)
			survey_record_edge(survey, track, RECORD_LOOK, 0, &track->edge);
		seen = true;
	}
	return seen;
}

/* Compares the latest readings of all clocks, to find a clock that jumped or stopped. */
static void
look_for_jump_in_latest_readings(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];
		struct sample latest = track->count.latest;

		if (!track->entry || survey_store_newer_edge(survey, i))
			continue;
		latest.ticks = wraps_reading(&track->entry->clock, latest.ticks);
		survey_store_reading(survey, i, &latest, false);
	}
	if (survey_end_step_and_find_disagreement(survey, true))
		return;
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (track->entry && !track->entry->clock.edges_only)
			track->fit = track->count.latest;
		else if (track->edge.end)
			track->fit = track->edge;
	}
}

/*
 * Returns true if the wraps of a counter cannot be counted without the batch END. Batches are 10 ms apart, unless the
 * core was preempted. Consecutive batches in the record must be less than half of the counter's range apart.
 */
static bool
is_batch_needed_for_wraps(const struct survey *survey, const struct survey_track *track,
			  const struct survey_batch_end *end)
{
	uint64_t quarter = survey_max_ticks_between_compared_reads(survey, &track->entry->clock);
	uint64_t every = 2 * quarter / scale_ns_to_ticks(&survey->scale, FOLLOW_NS);

	return quarter && (end->unread_ticks > quarter || every == 0 || track->batch_count % every == 0);
}

/*
 * Records the batches in ENDS that the analysis needs. A batch that is only needed to count wraps is recorded without
 * the points that limit the rate (corners, see rate_fit.h). If a counter may have wrapped more than once since its
 * previous reading (MISCOUNTED), the batches of all clocks are recorded, because counters with a larger range show the
 * error.
 */
static void
record_batches_of_clocks(struct survey *survey, const struct survey_batch_end *ends, bool miscounted)
{
	bool is_space = survey->record.entries_of[RECORD_BATCH] < SURVEY_BATCHES_MAX;

	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];
		struct survey_batch_end end = ends[i];

		if (!end.tightest.end)
			continue;
		if (track->batch_count % rate_batches_per_kept_batch(track->batch_count))
			end.corners.lower_count = end.corners.upper_count = 0;
		if (end.corners.lower_count || (is_space && (miscounted || is_batch_needed_for_wraps(survey, track, &end))))
			survey_record_batch_end(survey, track, RECORD_LOOK, 0, &end);
		track->batch_count++;
	}
}

bool
survey_follow_clocks_if_due(struct survey *survey, struct survey_window *window, uint64_t now_tsc)
{
	struct survey_batch_end ends[REPORT_CLOCKS_MAX] = { { .unread_ticks = 0 } };
	uint64_t quarter;
	bool miscounted = false;

	if (now_tsc < window->next_tsc)
		return false;
	window->next_tsc = now_tsc + scale_ns_to_ticks(&survey->scale, FOLLOW_NS);
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct survey_track *track = &survey->tracks[i];

		if (!track->entry || !survey_usable(track->entry) || track->entry->clock.edges_only)
			continue;
		ends[i] = survey_track_take_batch(survey, track, SURVEY_FOLLOW_SAMPLES);
		quarter = survey_max_ticks_between_compared_reads(survey, &track->entry->clock);
		miscounted |= quarter && ends[i].unread_ticks > WRAP_QUARTERS * quarter;
		survey_track_update(survey, track, &survey->buffer.samples[SURVEY_FOLLOW_SAMPLES - 1]);
	}
	record_batches_of_clocks(survey, ends, miscounted);
	look_for_jump_in_latest_readings(survey);
	return true;
}

struct rate_outcome
survey_analyse_rates(const struct survey *survey)
{
	return analysis_calculate_rates(survey->record.bytes, survey->record.length, survey->rate_limit_ppb, survey->report,
					&survey->report->figures);
}

/* Returns the longest wait for TRACK's next edge. It is shorter if the clock's rate is known. */
static uint64_t
longest_wait_for_edge_ticks(const struct survey *survey, const struct survey_track *track)
{
	uint64_t right_ticks = survey->rates.edge_bound_ticks / KNOWN_SHARE, own_ticks;

	if (!track->last.end || track->last.ticks == track->first.ticks)
		return survey->rates.edge_bound_ticks;
	own_ticks = scale_mul_div(track->last.end - track->first.begin, KNOWN_LATE_NUM,
				  (track->last.ticks - track->first.ticks) * KNOWN_LATE_DEN);
	return own_ticks > right_ticks ? own_ticks : right_ticks;
}

/*
 * Waits for the next edge. For the first 10 ms no other clock is read, because the edge may be near. If the core is
 * preempted for long during an update of the RTC, the reading still shows the old second. Therefore the time limit
 * starts again after a long preemption.
 */
bool
survey_wait_for_edge(struct survey *survey, struct survey_track *track, struct survey_window *window)
{
	const struct clock *clock = &track->entry->clock;
	unsigned aways = 0;
	uint64_t start = track->count.latest.end, bound_ticks = longest_wait_for_edge_ticks(survey, track);

	if (window)
		window->next_tsc = start + scale_ns_to_ticks(&survey->scale, FOLLOW_NS);
	for (unsigned turn = 0; turn < EDGE_TURNS && !survey_end_run_if_due(survey); turn++) {
		struct sample before = track->count.latest;

		survey_sample_batch(survey, clock, EDGE_SAMPLES);
		if (survey_track_find_edges_in_batch(survey, track, EDGE_SAMPLES, window))
			return true;
		/* a clock that moved without an edge is not stuck */
		if (track->count.latest.ticks != before.ticks ||
		    (track->count.latest.end - before.end > scale_ns_to_ticks(&survey->scale, AWAY_NS) && aways++ < AWAYS_MAX))
			start = track->count.latest.end;
		if (track->count.latest.end - start > bound_ticks)
			break;
		if (window)
			survey_follow_clocks_if_due(survey, window, track->count.latest.end);
		if (window && survey_is_cut(survey))
			return false;
	}
	if (survey_read_and_compare_clocks(survey) || survey->report->facts.run.incomplete)
		return false; /* after a discontinuity the waiting time by the TSC is wrong */
	survey_mark_clock_stuck(track->entry, scale_ns(&survey->scale, track->count.latest.end - start),
				track->count.latest.end);
	return false;
}
