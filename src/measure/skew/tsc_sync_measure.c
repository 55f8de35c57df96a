/* Reads facts about each core, and measures the offsets and drifts of the cores' TSCs. See survey_skew.h. */
#include "measure/skew/pair_pass.h"

/* Time limit for reading a core's facts: a few CPUID and RDMSR instructions, which may all be emulated. */
#define FACTS_BOUND_NS (2 * SURVEY_NS_PER_S)

/*
 * Number of batches with the same number of concurrent pairs that the rehearsal (a trial of the first pairs) needs. A
 * single preemption does not change the median duration of so many batches.
 */
#define STEADY_BATCHES    4

/*
 * The middle pass runs only if the first pass took at most 1/20 (1 / MIDDLE_SHARE) of the run's plan. With hundreds of
 * cores a pass takes long, because the number of pairs grows with the square of the number of cores. The middle pass is
 * only needed if a core's offset changes.
 */
#define MIDDLE_SHARE   20
/* The middle pass, which repeats no ping-pong, takes at most this many times the duration of the first pass. */
#define MIDDLE_OVERRUN 2

#define SOAK_TRIPS  200 /* round trips of a ping-pong: fewer than in a full pass, because a soak has many rounds */
#define SOAK_PASS_NS (2 * SURVEY_NS_PER_S)

struct facts_job {
	void (*core_facts)(struct core_facts *facts);
	struct core_facts facts;
};

static void
read_facts_on_core(void *argument, size_t)
{
	struct facts_job *job = argument;

	job->core_facts(&job->facts);
}

void
survey_read_core_facts(struct survey *survey)
{
	const struct smp *smp = survey->smp;
	size_t living = survey_count_living_cores(survey), asked = 0;
	uint64_t end_tsc = survey_core_pass_end_tsc(survey), begin_tsc = survey->hooks.tsc_ordered(), now;

	for (size_t core = 0; core < survey->memory.cores && core < smp->count; core++) {
		struct report_core *row = &survey->report->facts.cores[core];
		struct facts_job job = { .core_facts = survey->hooks.core_facts };

		if (!smp->alive(smp->context, core))
			continue;
		if (survey_is_core_pass_over(survey, end_tsc)) {
			notes_add(&survey->report->notes, "TSC_ADJUST and the topology were not checked on %zu of %zu cores: that would "
				  "have taken too much of the time left.", living - asked, living);
			break;
		}
		asked++;
		if (!smp->run(smp->context, core, read_facts_on_core, &job, FACTS_BOUND_NS))
			continue;
		row->facts = job.facts;
		row->facts_known = true;
	}
	now = survey->hooks.tsc_ordered();
	if (asked && now > begin_tsc)
		survey->joint_job_ticks = (now - begin_tsc) / asked * survey_count_living_cores(survey);
}

/* Lists the living cores for this pass and for all later passes. Returns their number. */
static size_t
list_living_cores(struct survey *survey)
{
	const struct smp *smp = survey->smp;
	struct survey_memory *memory = &survey->memory;
	size_t cores = 0;

	for (size_t i = 0; i < survey_core_sets(memory->cores); i++)
		memory->members[i].cores = 0;
	for (size_t core = 0; core < smp->count; core++) {
		if (!smp->alive(smp->context, core))
			continue;
		memory->core_of[cores++] = (uint32_t)core;
		memory->members[core / RECORD_MEMBERS_CORES].cores |= UINT64_C(1) << core % RECORD_MEMBERS_CORES;
	}
	return memory->offsets.cores = cores;
}

/*
 * Returns the estimated duration of a pass over all pairs. The estimate uses the median duration of the batches,
 * because a few batches may be delayed. Returns UINT64_MAX before the first batch.
 */
static uint64_t
estimate_pass_over_all_pairs_ns(const struct survey_pair_pass *pass)
{
	size_t batches = pass->steady.batches;
	uint64_t pairs = pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, pass->offsets->cores);

	return batches ? scale_mul_div(pairs, pass->steady.pair_ns[(batches - 1) / 2], 1) : UINT64_MAX;
}

/*
 * Returns true if the best number of concurrent pairs and the duration of a batch are known well enough. More batches
 * are required if all pairs seem not to fit into the budget.
 */
static bool
is_rehearsal_sufficient(const struct survey_pair_pass *pass, uint64_t budget_ns)
{
	if (survey_pair_pass_elapsed_ns(pass) > budget_ns)
		return true;
	return pass->concurrency.settled && pass->steady.batches >= STEADY_BATCHES &&
	       (estimate_pass_over_all_pairs_ns(pass) <= budget_ns || pass->steady.batches == SURVEY_STEADY_MAX);
}

/*
 * Runs a rehearsal: measures the first pairs, or all pairs if they are few, before the real pass. This also executes
 * all code once, and finds the number of concurrent pairs for the real pass. It takes at most half of the time until
 * END_TSC. Returns the estimated duration of a pass over all pairs.
 */
static uint64_t
run_rehearsal(struct survey *survey, struct concurrency *concurrency, uint64_t end_tsc)
{
	uint64_t budget_ns = survey_get_budget(survey->report)->pair_pass_max_ns, elapsed_ns, estimated_ns;
	struct survey_pair_pass pass;

	survey_pair_pass_begin(&pass, survey, PAIR_SCHEDULE_ALL, 0);
	pass.end_tsc = end_tsc - (end_tsc - pass.offsets->begin_tsc) / 2;
	for (unsigned i = 0; i < SURVEY_REHEARSAL_BATCHES && !is_rehearsal_sufficient(&pass, budget_ns); i++)
		if (!survey_pair_pass_run_next_batch(&pass))
			break;
	*concurrency = pass.concurrency;
	elapsed_ns = survey_pair_pass_elapsed_ns(&pass);
	estimated_ns = estimate_pass_over_all_pairs_ns(&pass);
	return survey_pair_pass_is_over(&pass) && elapsed_ns < estimated_ns ? elapsed_ns : estimated_ns;
}

/* Decides whether a pass measures all pairs of cores. Returns RECORD_PASS_FULL if it does, or the reason why not. */
static enum record_pass_reason
choose_pair_schedule(struct survey *survey, struct concurrency *concurrency, uint64_t end_tsc)
{
	const struct survey_memory *memory = &survey->memory;

	if (pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, memory->offsets.cores) >
	    pair_schedule_count_pairs(memory->widest, memory->cores))
		return RECORD_PASS_NO_MEMORY;
	if (run_rehearsal(survey, concurrency, end_tsc) > survey_get_budget(survey->report)->pair_pass_max_ns)
		return RECORD_PASS_TOO_LONG;
	return RECORD_PASS_FULL;
}

static void
run_pair_pass(struct survey_pair_pass *pass)
{
	while (survey_pair_pass_run_next_batch(pass))
		;
	survey_pair_pass_repeat_wide_pairs(pass);
}

/* Adds a note if the pass was cut short. The note starts with WHICH. */
static void
note_if_pass_was_cut_short(struct survey_pair_pass *pass, const char *which)
{
	const struct offsets *offsets = pass->offsets;
	struct report *report = pass->survey->report;

	if (!survey_pair_pass_is_over(pass) && !report->facts.run.incomplete)
		notes_add(&report->notes, "%s pass over the pairs of cores was stopped after %lu s, with %zu of %zu rounds started.",
			  which, survey_pair_pass_elapsed_ns(pass) / SURVEY_NS_PER_S, pass->rounds_begun,
			  pair_schedule_count_rounds(offsets->kind, offsets->cores));
}

static void
run_first_pass(struct survey *survey)
{
	struct concurrency concurrency;
	struct survey_pair_pass pass;
	uint64_t end_tsc = survey_core_pass_end_tsc(survey);
	enum record_pass_reason reason = choose_pair_schedule(survey, &concurrency, end_tsc);

	survey_pair_pass_begin(&pass, survey, reason ? PAIR_SCHEDULE_STAR : PAIR_SCHEDULE_ALL,
			       RECORD_PASS_FIRST);
	pass.end_tsc = end_tsc;
	if (!reason)
		pass.concurrency = concurrency;
	run_pair_pass(&pass);
	survey_pair_pass_end(&pass, (uint16_t)reason);
	survey->passes.kind = pass.offsets->kind;
	survey->passes.measured = pass.pingpongs > 0;
	survey->passes.elapsed_ns = scale_ns(&survey->scale, pass.offsets->end_tsc - pass.offsets->begin_tsc);
	note_if_pass_was_cut_short(&pass, "The");
}

void
survey_run_middle_pair_pass(struct survey *survey)
{
	uint64_t first_ns = survey->passes.elapsed_ns;
	struct survey_pair_pass pass;

	if (!survey->memory.cores || survey_end_run_if_due(survey) || !survey->passes.measured ||
	    first_ns > survey_planned_run_ns(survey) / MIDDLE_SHARE)
		return;
	survey_pair_pass_begin(&pass, survey, survey->passes.kind, RECORD_PASS_MIDDLE);
	while (survey_pair_pass_elapsed_ns(&pass) <= MIDDLE_OVERRUN * first_ns && survey_pair_pass_run_next_batch(&pass))
		;
	survey_pair_pass_end(&pass, RECORD_PASS_FULL);
}

void
survey_measure_offsets(struct survey *survey)
{
	struct survey_pair_pass pass;

	if (!survey->memory.cores || survey_end_run_if_due(survey))
		return;
	if (survey->passes.measured) {
		survey_pair_pass_begin(&pass, survey, survey->passes.kind, RECORD_PASS_LAST);
		run_pair_pass(&pass);
		survey_pair_pass_end(&pass, RECORD_PASS_FULL);
		note_if_pass_was_cut_short(&pass, "The last");
	} else if (list_living_cores(survey) > 1) {
		run_first_pass(survey);
	}
}

void
survey_measure_soak_row_offsets(struct survey *survey)
{
	struct survey_pair_pass pass;

	if (!series_get_open_row(&survey->report->facts.series) || survey->memory.offsets.cores < 2 ||
	    survey_end_run_if_due(survey))
		return;
	survey_pair_pass_begin(&pass, survey, PAIR_SCHEDULE_STAR, 0);
	pass.is_soak = true;
	pass.trips_max = SOAK_TRIPS;
	pass.round = survey->soak.star_next;
	while (survey_pair_pass_elapsed_ns(&pass) < SOAK_PASS_NS && survey_pair_pass_run_next_batch(&pass))
		;
	survey->soak.star_next = survey_pair_pass_is_over(&pass) ? 0 : pass.round;
}
