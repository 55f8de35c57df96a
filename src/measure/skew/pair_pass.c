/*
 * Runs a measurement pass over the pairs of cores, in batches of pairs that do not delay each other. See pair_pass.h.
 */
#include "measure/skew/pair_pass.h"

/*
 * Round trips of a ping-pong. The shortest trip determines the result. One trip in a few hundred is that short, so a
 * thousand are enough. These numbers are for the slowest case, a virtual machine: a trip takes a microsecond, and
 * waking a pair takes 100.
 */
#define TRIPS_MANY       1000
/* in short runs, and with more than CORES_MANY cores, where waking takes as long as the trips */
#define TRIPS_FEW        200
#define CORES_MANY       32
void
survey_tournament_begin(struct survey_tournament *tournament, struct survey *survey, struct offsets *offsets,
			enum tournament kind)
{
	bool few = survey_pace(survey->report) == PROFILE_QUICK || offsets->cores > CORES_MANY;

	*tournament = (struct survey_tournament){
		.survey = survey,
		.offsets = offsets,
		.trips_max = few ? TRIPS_FEW : TRIPS_MANY,
		.bound_ns = survey_pingpong_bound_ns(survey->report, kind, offsets->cores),
		.end_tsc = survey_pass_end(survey),
		.plan_ns = survey_tournament_ns(survey->report, offsets->cores),
		.late_ns = survey_late_tournament_ns(survey),
		.best_trip_ticks = UINT64_MAX,
	};
	concurrency_init(&tournament->concurrency, kind == TOURNAMENT_STAR ? 1 : offsets->cores / 2);
	histogram_clear(&survey->scratch->histogram);
	offsets->kind = kind;
	offsets_clear(offsets);
	offsets->begin_tsc = survey->hooks.tsc_ordered();
}

uint64_t
survey_tournament_elapsed_ns(const struct survey_tournament *tournament)
{
	uint64_t now = tournament->survey->hooks.tsc_ordered();

	return now > tournament->offsets->begin_tsc ?
		scale_ns(&tournament->survey->scale, now - tournament->offsets->begin_tsc) : 0;
}

void
survey_tournament_pair(struct survey_tournament *tournament, size_t a, size_t b, size_t place)
{
	struct survey_memory *memory = &tournament->survey->memory;

	memory->batch_ranks[2 * place] = (uint32_t)a;
	memory->batch_ranks[2 * place + 1] = (uint32_t)b;
	memory->batch_cores[2 * place] = memory->core_of[a];
	memory->batch_cores[2 * place + 1] = memory->core_of[b];
}

/*
 * Returns the rank of the next core's partner in this round, if both cores are alive. Returns TOURNAMENT_BYE otherwise,
 * and for the second core of each pair.
 */
static size_t
partner_of_next(const struct survey_tournament *tournament)
{
	size_t opponent = tournament_opponent(tournament->offsets->kind, tournament->offsets->cores, tournament->round,
					      tournament->rank);

	if (opponent == TOURNAMENT_BYE || opponent < tournament->rank ||
	    !survey_tournament_both_live(tournament, tournament->rank, opponent))
		return TOURNAMENT_BYE;
	return opponent;
}

bool
survey_tournament_is_over(struct survey_tournament *tournament)
{
	size_t rounds = tournament_rounds(tournament->offsets->kind, tournament->offsets->cores);

	for (; tournament->round < rounds; tournament->round++, tournament->rank = 0)
		for (; tournament->rank < tournament->offsets->cores; tournament->rank++)
			if (partner_of_next(tournament) != TOURNAMENT_BYE)
				return false;
	return true;
}

/*
 * Fills the next batch with pairs from one round, so that no core is in two pairs. Returns the number of pairs, or 0 if
 * all pairs are done.
 */
static size_t
fill_batch(struct survey_tournament *tournament)
{
	bool is_over = survey_tournament_is_over(tournament);
	size_t round = tournament->round, count = 0;

	for (; !is_over && tournament->round == round && count < tournament->concurrency.now;
	     is_over = survey_tournament_is_over(tournament)) {
		survey_tournament_pair(tournament, tournament->rank, partner_of_next(tournament), count++);
		tournament->rank++;
	}
	if (count > 0)
		tournament->rounds_begun = round + 1;
	return count;
}

/*
 * Adapts the number of concurrent pairs after a batch. A smaller batch is ignored, because its pairs delayed each other
 * less.
 */
static void
adapt_concurrency(struct survey_tournament *tournament, size_t count, size_t played, uint64_t spent_ns)
{
	size_t width = tournament->concurrency.now;

	if (count == width && played > 0)
		concurrency_learn(&tournament->concurrency, tournament->survey->memory.medians[played / 2]);
	if (tournament->concurrency.now != width)
		tournament->steady.batches = 0;
	else if (tournament->steady.batches < SURVEY_STEADY_MAX)
		survey_insert(tournament->steady.pair_ns, tournament->steady.batches++, spent_ns / count);
}

bool
survey_tournament_batch(struct survey_tournament *tournament)
{
	struct survey *survey = tournament->survey;
	size_t rounds = tournament_rounds(tournament->offsets->kind, tournament->offsets->cores);
	uint64_t begin_ns = survey_tournament_elapsed_ns(tournament);
	size_t count, played;

	if (survey_end_if_due(survey) || survey_pass_is_over(survey, tournament->end_tsc) ||
	    begin_ns > SURVEY_OVERRUN_FACTOR * survey_tournament_budget_ns(survey->report))
		return false;
	count = fill_batch(tournament);
	if (count == 0)
		return false;
	played = survey_tournament_play(tournament, count);
	adapt_concurrency(tournament, count, played, survey_tournament_elapsed_ns(tournament) - begin_ns);
	survey_tournament_show(tournament, tournament->plan_ns * tournament->round / rounds);
	return true;
}

void
survey_tournament_show(const struct survey_tournament *tournament, uint64_t planned_ns)
{
	struct survey *survey = tournament->survey;
	uint64_t late_ns = survey_tournament_elapsed_ns(tournament);

	if (late_ns > tournament->late_ns)
		late_ns = tournament->late_ns;
	survey->hooks.progress(survey->hooks.context, "pairs of cores", survey->done_ns + planned_ns + late_ns,
			       survey->total_ns);
}

void
survey_tournament_end(struct survey_tournament *tournament)
{
	tournament->offsets->end_tsc = tournament->survey->hooks.tsc_ordered();
}
