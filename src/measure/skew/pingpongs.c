/* Runs a batch of ping-pongs, and records the results. See pair_pass.h. */
#include "measure/skew/pair_pass.h"

/* additional time limit for each pair of a batch, because on a busy host the pairs may run one after another */
#define PAIR_BOUND_NS (5 * SURVEY_NS_PER_MS)
#define SMP_BOUND_NS  (2 * SURVEY_NS_PER_S)  /* additional time limit for waking the cores, and for ending their jobs */
#define PAIRS_MAX     64 /* maximum number of pairs in an entry of the record */

struct batch { /* parameters of a batch, which are the same for all its cores */
	const struct survey *survey;
	size_t count; /* number of pairs */
};

bool
survey_pair_pass_are_both_alive(const struct survey_pair_pass *pass, size_t a, size_t b)
{
	const struct smp *smp = pass->survey->smp;
	const uint32_t *core_of = pass->survey->memory.core_of;

	return smp->alive(smp->context, core_of[a]) && smp->alive(smp->context, core_of[b]);
}

static void
run_side_of_pingpong(void *argument, size_t core)
{
	const struct batch *batch = argument;
	const struct survey_memory *memory = &batch->survey->memory;

	for (size_t i = 0; i < 2 * batch->count; i++) {
		if (memory->batch_cores[i] != core)
			continue;
		pingpong_run_side(&memory->pingpongs[i / 2], i % 2 ? PINGPONG_SECOND : PINGPONG_FIRST,
				  batch->survey->hooks.tsc_ordered, batch->survey->hooks.pause);
		return;
	}
}

/* Runs COUNT ping-pongs at the same time. Stores their start and end in EXCHANGE. */
static void
run_pingpongs_of_batch(struct survey_pair_pass *pass, size_t count, struct record_exchange *exchange)
{
	struct survey *survey = pass->survey;
	struct pingpong *pingpongs = survey->memory.pingpongs;
	struct batch batch = { survey, count };
	uint64_t bound_ns = pass->bound_ns + count * PAIR_BOUND_NS;

	for (size_t i = 0; i < count; i++)
		pingpong_begin(&pingpongs[i], pass->trips_max, scale_ns_to_ticks(&survey->scale, bound_ns));
	exchange->begin_tsc = survey->hooks.tsc_ordered();
	survey->smp->run_some(survey->smp->context, survey->memory.batch_cores, 2 * count, run_side_of_pingpong, &batch,
			       2 * bound_ns + SMP_BOUND_NS);
	exchange->end_tsc = survey->hooks.tsc_ordered();
	for (size_t i = 0; i < count; i++)
		pingpong_stop(&pingpongs[i]);
}

static int64_t
smaller_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Adds a soak's ping-pong between a core and the boot core to the sums for this core in the record. The record has only
 * one entry for each core, because the number of rounds has no limit.
 */
static void
record_sum_of_soak_pingpongs(struct survey *survey, const struct record_exchange *exchange,
			     const struct record_pingpong *pingpong)
{
	struct survey_pingpongs *sum = &survey->memory.sums[pingpong->second];

	if (!sum->at) {
		sum->exchange = *exchange;
		sum->pingpong = *pingpong;
	} else {
		sum->exchange.end_tsc = exchange->end_tsc;
		sum->pingpong.trips += pingpong->trips;
		sum->pingpong.warps += pingpong->warps;
		sum->pingpong.least_to_second = smaller_of(sum->pingpong.least_to_second, pingpong->least_to_second);
		sum->pingpong.least_to_first = smaller_of(sum->pingpong.least_to_first, pingpong->least_to_first);
	}
	record_put_or_replace(&survey->record, &sum->at, RECORD_EXCHANGE, &sum->exchange, &sum->pingpong, 1);
}

/*
 * Stores the result of the batch's pair with index PLACE in the pass, in PINGPONG, and in the current row of a soak.
 * Returns false if no message was exchanged or a core died.
 */
static bool
store_pingpong_result(struct survey_pair_pass *pass, size_t place, struct record_pingpong *pingpong)
{
	struct survey *survey = pass->survey;
	const uint32_t *cores = survey->memory.batch_cores + 2 * place, *ranks = survey->memory.batch_ranks + 2 * place;
	struct pingpong_result result = pingpong_get_result(&survey->memory.pingpongs[place], survey->tsc.resolution_ticks);

	if (!result.played || !survey_pair_pass_are_both_alive(pass, ranks[0], ranks[1]))
		return false;
	pass->pingpongs++;
	offsets_add_pingpong(pass->offsets, ranks[0], ranks[1], result.offset, result.moved_ticks, (struct moment){ 0, 0 });
	*pingpong = (struct record_pingpong){
		.first = (uint16_t)cores[0], .second = (uint16_t)cores[1],
		.trips = (uint32_t)result.trips, .warps = (uint32_t)result.warps,
		.best_trip_ticks = (uint32_t)survey_smaller(result.best_trip_ticks, UINT32_MAX),
		.median_trip_ticks = (uint32_t)survey_smaller(result.median_trip_ticks, UINT32_MAX),
		.least_to_second = result.least_to_second, .least_to_first = result.least_to_first,
	};
	if (ranks[0] == 0 && offset_is_known(result.offset))
		series_add_offset(&survey->report->series, cores[1],
				  (struct offset){ offset_negate_bound(result.least_to_first), result.least_to_second });
	return true;
}

/* Records the results of a batch. Returns the number of pairs that exchanged messages. */
static size_t
record_results_of_batch(struct survey_pair_pass *pass, size_t count, const struct record_exchange *exchange)
{
	struct survey *survey = pass->survey;
	struct record_pingpong pingpongs[PAIRS_MAX];
	size_t medians = 0, filled = 0;

	for (size_t i = 0; i < count; i++) {
		struct record_pingpong *pingpong = &pingpongs[filled];

		if (store_pingpong_result(pass, i, pingpong)) {
			if (pingpong->median_trip_ticks)
				survey_insert_sorted(survey->memory.medians, medians++, pingpong->median_trip_ticks);
			if (pass->is_soak)
				record_sum_of_soak_pingpongs(survey, exchange, pingpong);
			else
				filled++;
		}
		if (filled && (filled == PAIRS_MAX || i + 1 == count)) {
			record_put(&survey->record, RECORD_EXCHANGE, exchange, pingpongs, filled);
			filled = 0;
		}
	}
	return medians;
}

void
survey_insert_sorted(uint64_t *sorted, size_t count, uint64_t value)
{
	size_t i = count;

	for (; i > 0 && sorted[i - 1] > value; i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = value;
}

size_t
survey_pair_pass_run_batch(struct survey_pair_pass *pass, size_t count)
{
	struct record_exchange exchange = { .pass = pass->number, .concurrency = (uint16_t)count };

	run_pingpongs_of_batch(pass, count, &exchange);
	return survey_end_if_untimed(pass->survey) ? 0 : record_results_of_batch(pass, count, &exchange);
}
