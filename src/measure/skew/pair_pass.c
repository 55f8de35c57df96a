/*
 * Runs a measurement pass over the pairs of cores, in batches of pairs that do not delay each other. See pair_pass.h.
 */
#include "measure/skew/pair_pass.h"

/*
 * Number of round trips of a ping-pong. The shortest trip determines the result, and one trip in a few hundred is that
 * short, so a thousand are enough. The slowest case is a virtual machine: a trip takes a microsecond, and waking a pair
 * of cores takes 100 us.
 */
#define TRIPS_MANY       1000
/*
 * number of round trips in short runs, and with more than CORES_MANY cores; so few trips take about as long as waking
 * the cores
 */
#define TRIPS_FEW        200
#define CORES_MANY       32

void
survey_pair_pass_begin(struct survey_pair_pass *pass, struct survey *survey, enum pair_schedule kind, uint16_t stage)
{
	struct offsets *offsets = &survey->memory.offsets;
	bool few = survey_current_profile(survey->report) == PROFILE_QUICK || offsets->cores > CORES_MANY;

	survey->passes.stage = stage;
	*pass = (struct survey_pair_pass){
		.survey = survey,
		.number = stage ? ++survey->passes.count : 0,
		.offsets = offsets,
		.trips_max = few ? TRIPS_FEW : TRIPS_MANY,
		.bound_ns = survey_max_pingpong_ns(survey->report, kind, offsets->cores),
		.end_tsc = survey_core_pass_end_tsc(survey),
		.plan_ns = survey_planned_pair_pass_ns(survey->report, offsets->cores),
		.late_ns = survey_expected_host_delay_of_pair_pass_ns(survey),
	};
	concurrency_init(&pass->concurrency, kind == PAIR_SCHEDULE_STAR ? 1 : offsets->cores / 2);
	offsets->kind = kind;
	offsets_clear(offsets);
	offsets->begin_tsc = survey->hooks.tsc_ordered();
}

uint64_t
survey_pair_pass_elapsed_ns(const struct survey_pair_pass *pass)
{
	uint64_t now = pass->survey->hooks.tsc_ordered();

	return now > pass->offsets->begin_tsc ?
		scale_ns(&pass->survey->scale, now - pass->offsets->begin_tsc) : 0;
}

void
survey_pair_pass_add_pair_to_batch(struct survey_pair_pass *pass, size_t a, size_t b, size_t place)
{
	struct survey_memory *memory = &pass->survey->memory;

	memory->batch_ranks[2 * place] = (uint32_t)a;
	memory->batch_ranks[2 * place + 1] = (uint32_t)b;
	memory->batch_cores[2 * place] = memory->core_of[a];
	memory->batch_cores[2 * place + 1] = memory->core_of[b];
}

/*
 * Returns the partner of the core with rank pass->rank in this round. The result is also a rank: an index among the
 * measured cores. Returns PAIR_SCHEDULE_IDLE if one of the two cores is not alive, or if the partner's rank is lower.
 * The pair was then already returned for the partner.
 */
static size_t
find_partner_of_next_core(const struct survey_pair_pass *pass)
{
	size_t peer = pair_schedule_get_partner(pass->offsets->kind, pass->offsets->cores, pass->round,
					     pass->rank);

	if (peer == PAIR_SCHEDULE_IDLE || peer < pass->rank ||
	    !survey_pair_pass_are_both_alive(pass, pass->rank, peer))
		return PAIR_SCHEDULE_IDLE;
	return peer;
}

bool
survey_pair_pass_is_over(struct survey_pair_pass *pass)
{
	size_t rounds = pair_schedule_count_rounds(pass->offsets->kind, pass->offsets->cores);

	for (; pass->round < rounds; pass->round++, pass->rank = 0)
		for (; pass->rank < pass->offsets->cores; pass->rank++)
			if (find_partner_of_next_core(pass) != PAIR_SCHEDULE_IDLE)
				return false;
	return true;
}

/*
 * Fills the next batch with pairs from one round, so that no core is in two pairs. Returns the number of pairs, or 0 if
 * all pairs are done.
 */
static size_t
fill_batch(struct survey_pair_pass *pass)
{
	bool is_over = survey_pair_pass_is_over(pass);
	size_t round = pass->round, count = 0;

	for (; !is_over && pass->round == round && count < pass->concurrency.now;
	     is_over = survey_pair_pass_is_over(pass)) {
		survey_pair_pass_add_pair_to_batch(pass, pass->rank, find_partner_of_next_core(pass), count++);
		pass->rank++;
	}
	if (count > 0)
		pass->rounds_begun = round + 1;
	return count;
}

/*
 * Adapts the number of concurrent pairs after a batch of COUNT pairs, which took SPENT_NS. REACHED is the number of
 * pairs that exchanged messages. If COUNT is lower than the number of concurrent pairs, this number does not change,
 * because the pairs of the batch delayed each other less.
 */
static void
adapt_number_of_concurrent_pairs(struct survey_pair_pass *pass, size_t count, size_t reached, uint64_t spent_ns)
{
	size_t width = pass->concurrency.now;

	if (count == width && reached > 0)
		concurrency_update(&pass->concurrency, pass->survey->memory.medians[reached / 2]);
	if (pass->concurrency.now != width)
		pass->steady.batches = 0;
	else if (pass->steady.batches < SURVEY_STEADY_MAX)
		survey_insert_sorted(pass->steady.pair_ns, pass->steady.batches++, spent_ns / count);
}

bool
survey_pair_pass_run_next_batch(struct survey_pair_pass *pass)
{
	struct survey *survey = pass->survey;
	size_t rounds = pair_schedule_count_rounds(pass->offsets->kind, pass->offsets->cores);
	uint64_t begin_ns = survey_pair_pass_elapsed_ns(pass);
	size_t count, reached;

	if (survey_end_run_if_due(survey) || survey_is_core_pass_over(survey, pass->end_tsc) ||
	    begin_ns > SURVEY_OVERRUN_FACTOR * survey_max_pair_pass_ns(survey->report))
		return false;
	count = fill_batch(pass);
	if (count == 0)
		return false;
	reached = survey_pair_pass_run_batch(pass, count);
	adapt_number_of_concurrent_pairs(pass, count, reached, survey_pair_pass_elapsed_ns(pass) - begin_ns);
	survey_pair_pass_show_progress(pass, pass->plan_ns * pass->round / rounds);
	return true;
}

void
survey_pair_pass_show_progress(const struct survey_pair_pass *pass, uint64_t planned_ns)
{
	uint64_t late_ns = survey_smaller(survey_pair_pass_elapsed_ns(pass), pass->late_ns);

	survey_show_progress(pass->survey, "pairs of cores", planned_ns + late_ns);
}

void
survey_pair_pass_end(struct survey_pair_pass *pass, uint16_t reason)
{
	struct survey *survey = pass->survey;
	struct offsets *offsets = pass->offsets;
	struct record_pass entry = {
		.pass = pass->number, .stage = survey->passes.stage, .schedule = offsets->kind == PAIR_SCHEDULE_ALL, .reason = reason,
		.concurrency = (uint32_t)pass->concurrency.now, .rounds = (uint32_t)pass->rounds_begun,
		.begin_tsc = offsets->begin_tsc,
	};

	survey->passes.stage = 0;
	offsets->end_tsc = entry.end_tsc = survey->hooks.tsc_ordered();
	record_put(&survey->record, RECORD_PASS, &entry, survey->memory.members, survey_core_sets(survey->memory.cores));
}
