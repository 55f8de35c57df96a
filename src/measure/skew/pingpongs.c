/* Runs a batch of ping-pongs, and adds the results to the measurement pass. See pair_pass.h. */
#include "measure/skew/pair_pass.h"

/* Additional time for each pair of a batch, because on a busy host the pairs may run one after another. */
#define PAIR_BOUND_NS (5 * SURVEY_NS_PER_MS)
#define SMP_BOUND_NS  (2 * SURVEY_NS_PER_S)  /* additional time for waking the cores, and for their return */

struct batch { /* parameters of a batch, which are the same for all its cores */
	const uint32_t *cores;
	struct pingpong *pingpongs;
	size_t count;
	sample_bracket *tsc;
	void (*pause)(void);
};

bool
survey_pair_pass_are_both_alive(const struct survey_pair_pass *pass, size_t a, size_t b)
{
	const struct smp *smp = pass->survey->smp;
	const uint32_t *core_of = pass->survey->memory.core_of;

	return smp->alive(smp->context, core_of[a]) && smp->alive(smp->context, core_of[b]);
}

static void
run_pingpong(void *argument, size_t core)
{
	const struct batch *batch = argument;

	for (size_t i = 0; i < 2 * batch->count; i++) {
		if (batch->cores[i] != core)
			continue;
		pingpong_play(&batch->pingpongs[i / 2], i % 2 ? PINGPONG_SECOND : PINGPONG_FIRST, batch->tsc,
			     batch->pause);
		return;
	}
}

static void
run_batch(struct survey_pair_pass *pass, size_t count)
{
	struct survey *survey = pass->survey;
	struct batch batch = {
		survey->memory.batch_cores, survey->memory.pingpongs, count, survey->hooks.tsc_ordered, survey->hooks.pause,
	};
	uint64_t bound_ns = pass->bound_ns + count * PAIR_BOUND_NS;

	for (size_t i = 0; i < count; i++)
		pingpong_begin(&batch.pingpongs[i], pass->trips_max, scale_ticks(&survey->scale, bound_ns));
	pass->batch.begin_tsc = survey->hooks.tsc_ordered();
	survey->smp->run_some(survey->smp->context, batch.cores, 2 * count, run_pingpong, &batch,
			       2 * bound_ns + SMP_BOUND_NS);
	pass->batch.end_tsc = survey->hooks.tsc_ordered();
	for (size_t i = 0; i < count; i++)
		pingpong_stop(&batch.pingpongs[i]);
}

static void
record_warps(struct survey_pair_pass *pass, size_t place, const struct pingpong_result *result)
{
	struct report *report = pass->survey->report;
	struct report_skew *skew = &report->skew;
	const uint32_t *cores = pass->survey->memory.batch_cores + 2 * place;

	skew->warps += result->warps;
	if (result->worst_ticks <= skew->worst_warp_ticks)
		return;
	skew->worst_warp_ticks = result->worst_ticks;
	skew->worst_warp_ns = scale_ns(&pass->survey->scale, result->worst_ticks);
	skew->worst_warp_a = report->cores[cores[result->ahead]].apic_id;
	skew->worst_warp_b = report->cores[cores[!result->ahead]].apic_id;
}

/*
 * Stores a result of a pair if its interval is not wider than the stored one. Each interval comes from one ping-pong,
 * and is valid at that time. Intervals are not intersected, because the TSC may have stepped in between. If two
 * intervals contradict each other, either may be right, so the first stays. If the offset moved during a ping-pong,
 * there is no interval; the pair keeps its earlier one, or gets another ping-pong.
 */
static void
store_result(struct survey_pair_pass *pass, const uint32_t *ranks, const struct pingpong_result *result)
{
	struct offset before = offsets_pair(pass->offsets, ranks[0], ranks[1]);
	uint64_t gap_ticks = offset_gap(before, result->offset);

	offsets_record_moved(pass->offsets, ranks[0], ranks[1], result->moved_ticks);
	offsets_record_moved(pass->offsets, ranks[0], ranks[1], gap_ticks);
	if (gap_ticks || !offset_is_known(result->offset) || offset_width(result->offset) > offset_width(before))
		return;
	offsets_set(pass->offsets, ranks[0], ranks[1], result->offset);
	offsets_set_moment(pass->offsets, ranks[0], ranks[1], pass->batch);
}

/*
 * Returns true if the pair had a ping-pong. If its offset moved during the ping-pong, the offset is unknown, but the
 * result is still true.
 */
static bool
has_exchanged(const struct offsets *offsets, const uint32_t *ranks)
{
	return offset_is_known(offsets_pair(offsets, ranks[0], ranks[1])) ||
	       offsets_moved(offsets, ranks[0], ranks[1]) > 0;
}

static void
count_pingpong(struct survey_pair_pass *pass, const uint32_t *ranks, const uint32_t *cores)
{
	struct survey *survey = pass->survey;

	if (has_exchanged(pass->offsets, ranks)) {
		pass->again++;
		return;
	}
	pass->pingpongs++;
	if (pass->offsets == &survey->memory.first) {
		survey->report->cores[cores[0]].pingpongs++;
		survey->report->cores[cores[1]].pingpongs++;
	}
}

/*
 * Stores the result of the pair at PLACE. Returns its median round trip, or 0 if no message was exchanged or a core
 * died.
 */
static uint64_t
store_pair_result(struct survey_pair_pass *pass, size_t place)
{
	struct survey *survey = pass->survey;
	const uint32_t *cores = survey->memory.batch_cores + 2 * place, *ranks = survey->memory.batch_ranks + 2 * place;
	struct pingpong_result result = pingpong_result(&survey->memory.pingpongs[place],
								survey->tsc_resolution_ticks);

	if (!result.played || !survey_pair_pass_are_both_alive(pass, ranks[0], ranks[1]))
		return 0;
	count_pingpong(pass, ranks, cores);
	store_result(pass, ranks, &result);
	record_warps(pass, place, &result);
	if (result.median_trip_ticks)
		histogram_record(&survey->scratch->histogram, result.median_trip_ticks);
	if (result.best_trip_ticks && result.best_trip_ticks < pass->best_trip_ticks)
		pass->best_trip_ticks = result.best_trip_ticks;
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
survey_pair_pass_run(struct survey_pair_pass *pass, size_t count)
{
	uint64_t *medians = pass->survey->memory.medians;
	size_t played = 0;
	bool untimed;

	run_batch(pass, count);
	untimed = survey_end_if_untimed(pass->survey);
	for (size_t i = 0; i < count && !untimed; i++) {
		uint64_t median = store_pair_result(pass, i);

		if (median)
			survey_insert(medians, played++, median);
	}
	return played;
}
