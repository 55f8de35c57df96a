/* All cores at once on one shared last value. See warp.h. */
#include "survey_tournament.h"

#define TURNS_ALL   (UINT64_C(1) << 17) /* of all cores together, so that many cores don't take longer */
#define TURNS_MIN   UINT64_C(256)       /* of each */
#define TURNS_MAX   UINT64_C(20000)
#define PLAY_NS     (5 * SURVEY_NS_PER_S)  /* after which a core takes no further turn */
#define BOUND_NS    (20 * SURVEY_NS_PER_S)

struct warp_job {
	struct warp_table *table;
	size_t expected;
	sample_bracket *tsc;
	void (*pause)(void);
};

static void
play(void *argument, size_t core)
{
	const struct warp_job *job = argument;

	warp_play(job->table, core, job->expected, job->tsc, job->pause);
}

static struct report_contended
describe(const struct survey *survey, const struct warp_result *result)
{
	const struct report_core *cores = survey->report->cores;

	return (struct report_contended){
		.measured = true,
		.starved = result->starved,
		.cores = result->cores,
		.iterations = result->turns,
		.warps = result->warps,
		.worst_ticks = result->worst_ticks,
		.worst_ns = scale_ns(&survey->scale, result->worst_ticks),
		.worst_a = cores[result->worst_ahead].apic_id,
		.worst_b = cores[result->worst_behind].apic_id,
	};
}

static uint64_t
turns_each(size_t living)
{
	uint64_t turns = TURNS_ALL / living;

	if (turns < TURNS_MIN)
		return TURNS_MIN;
	return turns < TURNS_MAX ? turns : TURNS_MAX;
}

/* Nothing is measured with less than two cores, where the deadline has passed, or where the TSC stops meanwhile. */
static struct report_contended
check(struct survey *survey, enum warp_kind kind)
{
	const struct smp *smp = survey->smp;
	struct warp_table *table = survey->memory.warp;
	size_t living = survey_living(survey);
	struct warp_job job = { table, living, survey->hooks.tsc_ordered, survey->hooks.pause };

	if (living < 2 || smp->count > WARP_CORES_MAX || survey_end_if_due(survey))
		return (struct report_contended){ .measured = false };
	survey->hooks.progress(survey->hooks.context, "warp check", survey->done_ns, survey->total_ns);
	warp_begin(table, kind, smp->count, turns_each(living), survey->hooks.tsc_ordered());
	table->bound_ticks = scale_ticks(&survey->scale, PLAY_NS);
	smp->run_all(smp->context, play, &job, BOUND_NS);
	warp_stop(table);
	if (survey_end_if_untimed(survey))
		return (struct report_contended){ .measured = false };

	struct warp_result result = warp_result(table, living);

	return describe(survey, &result);
}

void
survey_warps(struct survey *survey)
{
	struct report *report = survey->report;

	if (!survey->memory.cores)
		return;
	survey_is_at(survey, SURVEY_AT_WARPS);
	report->skew.locked = check(survey, WARP_LOCKED);
	report->skew.lock_free = check(survey, WARP_LOCK_FREE);
}
