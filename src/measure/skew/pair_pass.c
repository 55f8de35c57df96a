/*
 * Runs a measurement pass over the pairs of cores, in batches of pairs that do not delay each other. Then repeats the
 * ping-pongs of pairs without a good result. On a busy host, the two virtual cores of such a pair may never have run at
 * the same time. See pair_pass.h.
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
/* additional time limit for each pair of a batch, because on a busy host the pairs may run one after another */
#define PAIR_BOUND_NS (5 * SURVEY_NS_PER_MS)
#define PAIRS_MAX     64 /* maximum number of pairs in an entry of the record */
/*
 * Number of round trips in a repeated ping-pong. Unlike in a first ping-pong, the number is not smaller in short runs,
 * because few pairs are repeated.
 */
#define TRIPS_AGAIN 1000
/* limit of the time for repeated ping-pongs, which is not part of the run's plan */
#define TIME_AGAIN_MAX_NS (10 * SURVEY_NS_PER_S)
/*
 * A pair whose interval is wider than this many median widths was disturbed. Different distances between cores explain
 * only a smaller factor.
 */
#define WIDE_FACTOR 4
/*
 * A ping-pong whose interval is wider than this is always repeated, because it cannot show that the cores are
 * synchronised. The width is the duration of two messages, one in each direction. A message takes only 197 ns between
 * the sockets of an EPYC 7R13 (tables of nviennot/core-to-core-latency).
 */
#define WIDE_NS     10000

static bool
are_both_alive(const struct survey_pair_pass *pass, size_t a, size_t b)
{
	const struct smp *smp = pass->survey->smp;
	const uint32_t *core_of = pass->survey->memory.core_of;

	return smp->alive(smp->context, core_of[a]) && smp->alive(smp->context, core_of[b]);
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

	if (!result.played || !are_both_alive(pass, ranks[0], ranks[1]))
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
		series_add_offset(&survey->report->facts.series, cores[1],
				  (struct offset){ offset_negate_bound(result.least_to_first), result.least_to_second });
	return true;
}

/* Inserts VALUE into COUNT values in ascending order. There must be space for one more value. */
static void
insert_sorted(uint64_t *sorted, size_t count, uint64_t value)
{
	size_t i = count;

	for (; i > 0 && sorted[i - 1] > value; i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = value;
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
				insert_sorted(survey->memory.medians, medians++, pingpong->median_trip_ticks);
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

/*
 * Runs the COUNT ping-pongs of the batch. Returns the number of pairs that exchanged messages. The medians of their
 * round trips are in survey->memory.medians, in ascending order. If the TSC stopped, discards the results and returns
 * 0.
 */
static size_t
run_batch(struct survey_pair_pass *pass, size_t count)
{
	struct record_exchange exchange = { .pass = pass->number, .concurrency = (uint16_t)count };

	survey_run_pingpongs(pass->survey, count, pass->trips_max, pass->bound_ns + count * PAIR_BOUND_NS, &exchange);
	return survey_end_if_untimed(pass->survey) ? 0 : record_results_of_batch(pass, count, &exchange);
}

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

/* Puts the pair with the ranks A < B into the next batch at PLACE. */
static void
add_pair_to_batch(struct survey_pair_pass *pass, size_t a, size_t b, size_t place)
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
	    !are_both_alive(pass, pass->rank, peer))
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
		add_pair_to_batch(pass, pass->rank, find_partner_of_next_core(pass), count++);
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
		insert_sorted(pass->steady.pair_ns, pass->steady.batches++, spent_ns / count);
}

bool
survey_pair_pass_run_next_batch(struct survey_pair_pass *pass)
{
	struct survey *survey = pass->survey;
	uint64_t begin_ns = survey_pair_pass_elapsed_ns(pass);
	size_t count, reached;

	if (survey_end_run_if_due(survey) || survey_is_core_pass_over(survey, pass->end_tsc) ||
	    begin_ns > SURVEY_OVERRUN_FACTOR * survey_get_budget(survey->report)->pair_pass_max_ns)
		return false;
	count = fill_batch(pass);
	if (count == 0)
		return false;
	reached = run_batch(pass, count);
	adapt_number_of_concurrent_pairs(pass, count, reached, survey_pair_pass_elapsed_ns(pass) - begin_ns);
	survey_show_progress(pass->survey, "pairs of cores", survey_pair_pass_elapsed_ns(pass));
	return true;
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

static size_t
count_pairs_narrower_than(const struct offsets *offsets, uint64_t width)
{
	size_t pairs = pair_schedule_count_pairs(offsets->kind, offsets->cores), count = 0;

	for (size_t i = 0; i < pairs; i++)
		count += offset_width(offsets->pairs[i]) < width;
	return count;
}

/* Returns the median width of the known intervals. It is found bit by bit, because there is no memory for sorting. */
static uint64_t
median_width_ticks(const struct offsets *offsets)
{
	size_t known = count_pairs_narrower_than(offsets, UINT64_MAX);
	uint64_t median = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
		if (count_pairs_narrower_than(offsets, median | bit) <= known / 2)
			median |= bit;
	return median;
}

/*
 * Returns the largest width of an offset's interval at which the ping-pong is not repeated. If the host disturbs a
 * whole pass, the median of this pass is wide, so the median of the first pass also counts.
 */
static uint64_t
allowed_width_ticks(const struct survey_pair_pass *pass)
{
	uint64_t median = median_width_ticks(pass->offsets), earlier = pass->survey->passes.median_width_ticks;
	uint64_t wide = scale_ns_to_ticks(&pass->survey->scale, WIDE_NS);

	if (earlier && earlier < median)
		median = earlier;
	return median < wide / WIDE_FACTOR ? WIDE_FACTOR * median : wide;
}

/* Returns true if another ping-pong may be repeated. The last one starts before END_NS since the start of the pass. */
static bool
may_repeat_pingpong(const struct survey_pair_pass *pass, uint64_t end_ns)
{
	return pass->repeats < SURVEY_REPEATS_MAX && !survey_end_run_if_due(pass->survey) &&
	       !survey_is_core_pass_over(pass->survey, pass->end_tsc) && survey_pair_pass_elapsed_ns(pass) < end_ns;
}

/*
 * Repeats the ping-pong of each pair whose interval is wider than ALLOWED. Returns false if there was no such pair, or
 * the time is over.
 */
static bool
repeat_wide_pairs(struct survey_pair_pass *pass, uint64_t allowed, uint64_t end_ns)
{
	const struct offsets *offsets = pass->offsets;
	size_t pairs = pair_schedule_count_pairs(offsets->kind, offsets->cores), a, b;
	bool any_wide = false;

	for (size_t i = 0; i < pairs; i++) {
		if (offset_width(offsets->pairs[i]) <= allowed)
			continue;
		pair_schedule_pair_at_index(offsets->kind, i, &a, &b);
		if (!are_both_alive(pass, a, b))
			continue;
		if (!may_repeat_pingpong(pass, end_ns))
			return false;
		add_pair_to_batch(pass, a, b, 0);
		run_batch(pass, 1);
		pass->repeats++;
		survey_show_progress(pass->survey, "pairs of cores", survey_pair_pass_elapsed_ns(pass));
		any_wide = true;
	}
	return any_wide;
}

void
survey_pair_pass_repeat_wide_pairs(struct survey_pair_pass *pass)
{
	/* latest time at which a repetition may start, since the start of the pass */
	uint64_t end_ns = survey_smaller(survey_pair_pass_elapsed_ns(pass) + TIME_AGAIN_MAX_NS,
					 survey_get_budget(pass->survey->report)->pair_pass_max_ns);

	if (!survey_pair_pass_is_over(pass))
		return;
	pass->trips_max = TRIPS_AGAIN;
	/* The pairs without a result come first, because they leave the bound of all offsets unknown. */
	repeat_wide_pairs(pass, UINT64_MAX - 1, end_ns);
	for (unsigned i = 1; i < SURVEY_RETRY_SWEEPS && repeat_wide_pairs(pass, allowed_width_ticks(pass), end_ns); i++)
		;
	if (pass->survey->passes.stage == RECORD_PASS_FIRST)
		pass->survey->passes.median_width_ticks = median_width_ticks(pass->offsets);
}
