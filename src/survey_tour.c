/* One tournament of the cores: batch by batch, as wide as the machine bears. See survey_internal.h. */
#include "survey_internal.h"

/*
 * One trip in a few hundred is as short as they get, and it decides: a thousand are ample. The figures below
 * are for the worst case, a virtual machine: there a trip takes a microsecond, and waking a pair 100.
 */
#define TRIPS_MANY       1000
#define TRIPS_FEW        200 /* with many players, where waking them costs as much, and where time is short */
#define PLAYERS_MANY     32
#define MEETING_PLAN_NS  (2 * SURVEY_NS_PER_MS)
/*
 * From a core's coming to its end, since the other may be dead. On a host that is busy with something else
 * two cores seldom run at the same moment: with few pairs there is time to wait for one.
 */
#define MEETING_MIN_NS   (250 * SURVEY_NS_PER_MS)
#define MEETING_MAX_NS   (2 * SURVEY_NS_PER_S)
#define PAIR_BOUND_NS    (5 * SURVEY_NS_PER_MS)   /* and more for each pair beside: they may take turns */
#define CREW_BOUND_NS    (2 * SURVEY_NS_PER_S)    /* besides, for waking up and for coming back */

#define BUDGET_QUICK_NS    (3 * SURVEY_NS_PER_S)
#define BUDGET_STANDARD_NS (60 * SURVEY_NS_PER_S)
#define BUDGET_SOAK_NS     (600 * SURVEY_NS_PER_S)

struct batch { /* what the cores of one batch are told */
	const uint32_t *playing;
	struct meeting *meetings;
	size_t count;
	sample_bracket *tsc;
	void (*pause)(void);
};

uint64_t
survey_tournament_budget_ns(const struct report *report)
{
	switch (report->options.profile) {
	case PROFILE_QUICK:
		return BUDGET_QUICK_NS;
	case PROFILE_SOAK:
		return BUDGET_SOAK_NS;
	default:
		return BUDGET_STANDARD_NS;
	}
}

uint64_t
survey_tournament_ns(const struct report *report, size_t players)
{
	uint64_t all_ns = tournament_pairs(TOURNAMENT_ALL, players) * MEETING_PLAN_NS;
	uint64_t budget_ns = survey_tournament_budget_ns(report);

	return all_ns < budget_ns ? all_ns : budget_ns;
}

/* As long as all meetings would fit into half of the budget, if each took so long. */
static uint64_t
meeting_bound_ns(const struct survey *survey, enum tournament kind, size_t players)
{
	size_t pairs = tournament_pairs(kind, players);
	uint64_t share_ns = survey_tournament_budget_ns(survey->report) / 2 / pairs;

	if (share_ns < MEETING_MIN_NS)
		return MEETING_MIN_NS;
	return share_ns < MEETING_MAX_NS ? share_ns : MEETING_MAX_NS;
}

void
survey_tour_begin(struct survey_tour *tour, struct survey *survey, struct offsets *offsets,
		  enum tournament kind)
{
	bool few = survey->report->options.profile == PROFILE_QUICK || offsets->players > PLAYERS_MANY;

	*tour = (struct survey_tour){
		.survey = survey,
		.offsets = offsets,
		.trips_max = few ? TRIPS_FEW : TRIPS_MANY,
		.bound_ns = meeting_bound_ns(survey, kind, offsets->players),
		.plan_ns = survey_tournament_ns(survey->report, offsets->players),
		.best_trip_ticks = UINT64_MAX,
	};
	width_init(&tour->width, kind == TOURNAMENT_STAR ? 1 : offsets->players / 2);
	histogram_clear(&survey->scratch->histogram);
	offsets->kind = kind;
	offsets_clear(offsets);
	offsets->begin_tsc = survey->hooks.tsc_ordered();
}

uint64_t
survey_tour_elapsed_ns(const struct survey_tour *tour)
{
	uint64_t now = tour->survey->hooks.tsc_ordered();

	return now > tour->offsets->begin_tsc ?
		scale_ns(&tour->survey->scale, now - tour->offsets->begin_tsc) : 0;
}

bool
survey_tour_can_meet(const struct survey_tour *tour, size_t a, size_t b)
{
	const struct crew *crew = tour->survey->crew;
	const uint32_t *players = tour->survey->room.players;

	return crew->alive(crew->context, players[a]) && crew->alive(crew->context, players[b]);
}

void
survey_tour_seat(struct survey_tour *tour, size_t a, size_t b, size_t place)
{
	struct survey_room *room = &tour->survey->room;

	room->seats[2 * place] = (uint32_t)a;
	room->seats[2 * place + 1] = (uint32_t)b;
	room->playing[2 * place] = room->players[a];
	room->playing[2 * place + 1] = room->players[b];
}

/* Whom the next player meets this round, once for both, where both live; else TOURNAMENT_NOBODY. */
static size_t
opponent_of_next(const struct survey_tour *tour)
{
	size_t opponent = tournament_opponent(tour->offsets->kind, tour->offsets->players, tour->round,
					      tour->player);

	if (opponent == TOURNAMENT_NOBODY || opponent < tour->player ||
	    !survey_tour_can_meet(tour, tour->player, opponent))
		return TOURNAMENT_NOBODY;
	return opponent;
}

bool
survey_tour_is_over(struct survey_tour *tour)
{
	size_t rounds = tournament_rounds(tour->offsets->kind, tour->offsets->players);

	for (; tour->round < rounds; tour->round++, tour->player = 0)
		for (; tour->player < tour->offsets->players; tour->player++)
			if (opponent_of_next(tour) != TOURNAMENT_NOBODY)
				return false;
	return true;
}

/* How many meetings come next: of one round, so that nobody has a seat in two. 0: all is played. */
static size_t
seat_batch(struct survey_tour *tour)
{
	bool is_over = survey_tour_is_over(tour);
	size_t round = tour->round, count = 0;

	for (; !is_over && tour->round == round && count < tour->width.now; is_over = survey_tour_is_over(tour)) {
		survey_tour_seat(tour, tour->player, opponent_of_next(tour), count++);
		tour->player++;
	}
	if (count > 0)
		tour->rounds_begun = round + 1;
	return count;
}

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

/* That what was measured of the two excludes what was measured of them before, by TICKS. */
static void
note_moved(struct survey_tour *tour, const uint32_t *seats, uint64_t ticks)
{
	struct survey_moved *moved = &tour->moved;

	moved->pairs++;
	if (ticks <= moved->ticks)
		return;
	moved->ticks = ticks;
	moved->a = seats[0];
	moved->b = seats[1];
}

/*
 * Of two meetings both hold, so the truth lies where they overlap: if the offset moves, it is there at some
 * moment from the one to the other. Where they don't overlap, the first is as good as the second, and it stays.
 */
static void
keep(struct survey_tour *tour, const uint32_t *seats, struct offset offset)
{
	struct offset both = offset_intersect(offsets_pair(tour->offsets, seats[0], seats[1]), offset);

	if (both.low <= both.high)
		offsets_set(tour->offsets, seats[0], seats[1], both);
	else
		note_moved(tour, seats, (uint64_t)both.low - (uint64_t)both.high);
}

static void
count_meeting(struct survey_tour *tour, const uint32_t *seats, const uint32_t *cores)
{
	struct survey *survey = tour->survey;

	if (offset_is_known(offsets_pair(tour->offsets, seats[0], seats[1]))) {
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
	keep(tour, seats, result.offset);
	if (result.moved)
		note_moved(tour, seats, (uint64_t)result.offset.high - (uint64_t)result.offset.low);
	note_warps(tour, place, &result);
	if (result.median_trip_ticks)
		histogram_record(&survey->scratch->histogram, result.median_trip_ticks);
	if (result.best_trip_ticks && result.best_trip_ticks < tour->best_trip_ticks)
		tour->best_trip_ticks = result.best_trip_ticks;
	return result.median_trip_ticks;
}

/* In order, from the least; by insertion: a batch has a few hundred at most. */
static void
insert(uint64_t *medians, size_t count, uint64_t median)
{
	size_t i = count;

	for (; i > 0 && medians[i - 1] > median; i--)
		medians[i] = medians[i - 1];
	medians[i] = median;
}

size_t
survey_tour_play(struct survey_tour *tour, size_t count)
{
	uint64_t *medians = tour->survey->room.medians;
	size_t played = 0;

	play(tour, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t median = take_result(tour, i);

		if (median)
			insert(medians, played++, median);
	}
	return played;
}

/* The width learns from batches that are as wide as it says: a narrower one has less to suffer. */
static void
learn(struct survey_tour *tour, size_t count, size_t played, uint64_t spent_ns)
{
	size_t width = tour->width.now;

	if (count == width && played > 0)
		width_learn(&tour->width, tour->survey->room.medians[played / 2]);
	if (tour->width.now != width)
		tour->steady.batches = 0;
	else if (tour->steady.batches < SURVEY_STEADY_MAX)
		insert(tour->steady.pair_ns, tour->steady.batches++, spent_ns / count);
}

bool
survey_tour_batch(struct survey_tour *tour)
{
	struct survey *survey = tour->survey;
	size_t rounds = tournament_rounds(tour->offsets->kind, tour->offsets->players);
	uint64_t begin_ns = survey_tour_elapsed_ns(tour);
	size_t count, played;

	if (survey_expired(survey) ||
	    begin_ns > SURVEY_OVERRUN_FACTOR * survey_tournament_budget_ns(survey->report))
		return false;
	count = seat_batch(tour);
	if (count == 0)
		return false;
	played = survey_tour_play(tour, count);
	learn(tour, count, played, survey_tour_elapsed_ns(tour) - begin_ns);
	survey->hooks.progress(survey->hooks.context, "pairs of cores",
			       survey->done_ns + tour->plan_ns * tour->round / rounds, survey->total_ns);
	return true;
}

void
survey_tour_end(struct survey_tour *tour)
{
	tour->offsets->end_tsc = tour->survey->hooks.tsc_ordered();
}
