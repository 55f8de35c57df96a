/* All cores at once on one shared last value. See warp.h. */
#include "survey_internal.h"

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

static void
fill_skew(struct survey *survey, const struct warp_result *result)
{
	struct report *report = survey->report;

	report->skew = (struct report_skew){
		.measured = true,
		.starved = result->starved,
		.cores = result->cores,
		.iterations = result->turns,
		.warps = result->warps,
		.worst_ticks = result->worst_ticks,
		.worst_ns = scale_ns(&survey->scale, result->worst_ticks),
		.worst_a = report->cores[result->worst_ahead].apic_id,
		.worst_b = report->cores[result->worst_behind].apic_id,
	};
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].warp_iterations = survey->warp->slots[i].turns;
}

void
survey_warps(struct survey *survey)
{
	const struct crew *crew = survey->crew;
	size_t living = 0;
	uint64_t turns;

	for (size_t i = 0; i < crew->count; i++)
		living += crew->alive(crew->context, i);
	if (!survey->warp || living < 2 || survey_expired(survey))
		return;
	turns = TURNS_ALL / living;
	if (turns < TURNS_MIN)
		turns = TURNS_MIN;
	if (turns > TURNS_MAX)
		turns = TURNS_MAX;
	survey->hooks.progress(survey->hooks.context, "warp check", survey->done_ns, survey->total_ns);
	warp_begin(survey->warp, crew->count, turns);
	survey->warp->bound_ticks = scale_ticks(&survey->scale, PLAY_NS);

	struct warp_job job = { survey->warp, living, survey->hooks.tsc_ordered, survey->hooks.pause };

	crew->run_all(crew->context, play, &job, BOUND_NS);
	warp_stop(survey->warp);

	struct warp_result result = warp_result(survey->warp, living);

	fill_skew(survey, &result);
}
