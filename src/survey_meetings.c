/* One batch of meetings: it is played, and what comes of it goes into its tournament. See survey_internal.h. */
#include "survey_internal.h"

#define PAIR_BOUND_NS (5 * SURVEY_NS_PER_MS) /* and more for each pair beside: they may take turns */
#define CREW_BOUND_NS (2 * SURVEY_NS_PER_S)  /* besides, for waking up and for coming back */

struct batch { /* what the cores of one batch are told */
	const uint32_t *playing;
	struct meeting *meetings;
	size_t count;
	sample_bracket *tsc;
	void (*pause)(void);
};

static void
meet(void *argument, size_t core)
{
	const struct batch *batch = argument;

	for (size_t i = 0; i < 2 * batch->count; i++) {
		if (batch->playing[i] != core)
			continue;
		meeting_play(&batch->meetings[i / 2], i % 2 ? MEETING_SECOND : MEETING_FIRST, batch->tsc,
			     batch->pause);
		return;
	}
}

static void
play(struct survey_tour *tour, size_t count)
{
	struct survey *survey = tour->survey;
	struct batch batch = {
		survey->room.playing, survey->room.meetings, count, survey->hooks.tsc_ordered, survey->hooks.pause,
	};
	uint64_t bound_ns = tour->bound_ns + count * PAIR_BOUND_NS;

	for (size_t i = 0; i < count; i++)
		meeting_begin(&batch.meetings[i], tour->trips_max, scale_ticks(&survey->scale, bound_ns));
	survey->crew->run_some(survey->crew->context, batch.playing, 2 * count, meet, &batch,
			       2 * bound_ns + CREW_BOUND_NS);
	for (size_t i = 0; i < count; i++)
		meeting_stop(&batch.meetings[i]);
}

static void
note_warps(struct survey_tour *tour, size_t place, const struct meeting_result *result)
{
	struct report *report = tour->survey->report;
	struct report_skew *skew = &report->skew;
	const uint32_t *cores = tour->survey->room.playing + 2 * place;

	skew->warps += result->warps;
	if (result->worst_ticks <= skew->worst_warp_ticks)
		return;
	skew->worst_warp_ticks = result->worst_ticks;
	skew->worst_warp_ns = scale_ns(&tour->survey->scale, result->worst_ticks);
	skew->worst_warp_a = report->cores[cores[result->ahead]].apic_id;
	skew->worst_warp_b = report->cores[cores[!result->ahead]].apic_id;
}

/*
 * Of two meetings both hold, so the truth lies where they overlap: if the offset moves, it is there at some
 * moment from the one to the other. Where they don't overlap, the first is as good as the second, and it stays.
 * Of one in which it moved nothing holds: the pair stays as it was, and where that is unknown, it meets again.
 */
static void
keep(struct survey_tour *tour, const uint32_t *seats, const struct meeting_result *result)
{
	struct offset before = offsets_pair(tour->offsets, seats[0], seats[1]);
	uint64_t gap_ticks = offset_gap(before, result->offset);

	offsets_note_moved(tour->offsets, seats[0], seats[1], result->moved_ticks);
	offsets_note_moved(tour->offsets, seats[0], seats[1], gap_ticks);
	if (!gap_ticks)
		offsets_set(tour->offsets, seats[0], seats[1], offset_intersect(before, result->offset));
}

/* Known or not: of a pair that moved nothing may be known yet. */
static bool
has_met(const struct offsets *offsets, const uint32_t *seats)
{
	return offset_is_known(offsets_pair(offsets, seats[0], seats[1])) ||
	       offsets_moved(offsets, seats[0], seats[1]) > 0;
}

static void
count_meeting(struct survey_tour *tour, const uint32_t *seats, const uint32_t *cores)
{
	struct survey *survey = tour->survey;

	if (has_met(tour->offsets, seats)) {
		tour->again++;
		return;
	}
	tour->meetings++;
	if (tour->offsets == &survey->room.first) {
		survey->report->cores[cores[0]].meetings++;
		survey->report->cores[cores[1]].meetings++;
	}
}

/* The median round trip; 0 where nothing was played, or by a core that died, whose word is gone. */
static uint64_t
take_result(struct survey_tour *tour, size_t place)
{
	struct survey *survey = tour->survey;
	const uint32_t *cores = survey->room.playing + 2 * place, *seats = survey->room.seats + 2 * place;
	struct meeting_result result = meeting_result(&survey->room.meetings[place]);

	if (!result.played || !survey_tour_can_meet(tour, seats[0], seats[1]))
		return 0;
	count_meeting(tour, seats, cores);
	keep(tour, seats, &result);
	note_warps(tour, place, &result);
	if (result.median_trip_ticks)
		histogram_record(&survey->scratch->histogram, result.median_trip_ticks);
	if (result.best_trip_ticks && result.best_trip_ticks < tour->best_trip_ticks)
		tour->best_trip_ticks = result.best_trip_ticks;
	return result.median_trip_ticks;
}

void
survey_insert(uint64_t *sorted, size_t count, uint64_t value)
{
	size_t i = count;

	for (; i > 0 && sorted[i - 1] > value; i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = value;
}

size_t
survey_tour_play(struct survey_tour *tour, size_t count)
{
	uint64_t *medians = tour->survey->room.medians;
	size_t played = 0;
	bool untimed;

	play(tour, count);
	untimed = survey_untimed(tour->survey);
	for (size_t i = 0; i < count && !untimed; i++) {
		uint64_t median = take_result(tour, i);

		if (median)
			survey_insert(medians, played++, median);
	}
	return played;
}
