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

#define BUDGET_QUICK_NS    (3 * SURVEY_NS_PER_S)
#define BUDGET_STANDARD_NS (60 * SURVEY_NS_PER_S)
#define BUDGET_SOAK_NS     (600 * SURVEY_NS_PER_S)

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
		survey_insert(tour->steady.pair_ns, tour->steady.batches++, spent_ns / count);
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
