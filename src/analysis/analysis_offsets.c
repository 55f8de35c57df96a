/* Calculates the offsets and drifts of the cores' TSCs from the entries `exchange` and `pass`. See analysis.h. */
#include "analysis/analysis.h"

#include "base/histogram.h"
#include "report/report_memory.h"
#include "sync/pingpong.h"

#define MEDIAN 50000 /* in 1/100,000 */

_Static_assert(PAIR_SCHEDULE_STAR == 0 && PAIR_SCHEDULE_ALL == 1, "records contain these values, so they must not "
	       "change");

struct offset_analysis {
	const struct report *report;
	struct figures *figures; /* the figures of REPORT */
	/*
	 * The record's numbers of the first, middle and last pass, which are in figures.skew.passes in this order until
	 * finish_passes() removes those without a ping-pong. If the record has several passes of one kind, the latest
	 * is used. The number is 0 if there is none.
	 */
	uint16_t numbers[REPORT_PASSES];
	struct scale scale;
	uint64_t resolution_ticks;
	uint64_t best_trip_ticks; /* shortest round trip of the first pass */
};

/*
 * Returns the number of cores that took part in the pass ENTRY, of CORE_COUNT cores in the report. Writes these cores
 * to CORE_OF in ascending order, unless CORE_OF is NULL. The rank of a core is its index in CORE_OF.
 */
static size_t
read_cores_of_pass(size_t core_count, const struct record_entry *entry, uint32_t *core_of)
{
	struct record_members set;
	size_t cores = 0;

	for (size_t i = 0; i < entry->item_count; i++) {
		record_read_item(entry, i, &set);
		for (size_t k = 0; k < RECORD_MEMBERS_CORES; k++) {
			size_t core = i * RECORD_MEMBERS_CORES + k;

			if (!(set.cores >> k & 1) || core >= core_count)
				continue;
			if (core_of)
				core_of[cores] = (uint32_t)core;
			cores++;
		}
	}
	return cores;
}

static enum pair_schedule
schedule_of_pass(const struct record_pass *pass)
{
	return pass->schedule ? PAIR_SCHEDULE_ALL : PAIR_SCHEDULE_STAR;
}

/* Sets the ranks of the cores to their order in the entry of the first pass. */
static void
set_ranks(const struct report *report, struct figures *figures, const struct record_entry *entry)
{
	size_t cores = read_cores_of_pass(report->facts.core_count, entry, figures->skew.core_of);

	for (size_t i = 0; i < report->facts.core_count; i++)
		figures->cores[i].rank = REPORT_NO_RANK;
	for (size_t rank = 0; rank < cores; rank++)
		figures->cores[figures->skew.core_of[rank]].rank = rank;
}

static const char *
explain_star_schedule(uint16_t reason)
{
	if (reason == RECORD_PASS_NO_MEMORY)
		return "There is not enough memory for all pairs of cores.";
	return reason == RECORD_PASS_TOO_LONG ? "Measuring all pairs would take longer than this profile allows." : "";
}

/*
 * Reads the entry of a pass. Later passes use the cores of the first pass. A later pass with another schedule is
 * ignored.
 */
static void
read_pass_entry(struct offset_analysis *analysis, const struct record_entry *entry)
{
	const struct report *report = analysis->report;
	struct report_skew *skew = &analysis->figures->skew;
	const struct offsets *first = &skew->passes[0].offsets;
	struct record_pass read;
	struct report_pass *pass;
	size_t cores;

	record_read_fixed_part(entry, &read);
	bool is_first = read.stage == RECORD_PASS_FIRST;
	if (!read.pass || read.stage < RECORD_PASS_FIRST || read.stage > RECORD_PASS_LAST)
		return;
	cores = is_first ? read_cores_of_pass(report->facts.core_count, entry, NULL) : first->cores;
	if (cores < 2 || pair_schedule_count_pairs(schedule_of_pass(&read), cores) > skew->pairs_max ||
	    (!is_first && schedule_of_pass(&read) != first->kind))
		return;
	if (is_first) {
		set_ranks(report, analysis->figures, entry);
		skew->kind_reason = explain_star_schedule(read.reason);
		/*
		 * This is a new first pass. Removes the later passes, because their ranks belong to the cores of the
		 * old first pass.
		 */
		__builtin_memset(analysis->numbers, 0, sizeof(analysis->numbers));
	}
	analysis->numbers[read.stage - RECORD_PASS_FIRST] = read.pass;
	pass = &skew->passes[read.stage - RECORD_PASS_FIRST];
	pass->concurrency = read.concurrency;
	pass->rounds = read.rounds;
	pass->offsets.kind = schedule_of_pass(&read);
	pass->offsets.cores = cores;
	pass->offsets.begin_tsc = read.begin_tsc;
	pass->offsets.end_tsc = read.end_tsc;
	offsets_clear(&pass->offsets);
}

static void
add_warps_of_pingpong(struct offset_analysis *analysis, const struct record_pingpong *pingpong,
		      const struct pingpong_result *result)
{
	const struct report *report = analysis->report;
	struct report_skew *skew = &analysis->figures->skew;
	bool is_second = result->ahead == PINGPONG_SECOND;

	skew->warps += pingpong->warps;
	if (result->worst_ticks <= skew->worst_warp_ticks)
		return;
	skew->worst_warp_ticks = result->worst_ticks;
	skew->worst_warp_ns = scale_ns(&analysis->scale, result->worst_ticks);
	skew->worst_warp_a = report->facts.cores[is_second ? pingpong->second : pingpong->first].apic_id;
	skew->worst_warp_b = report->facts.cores[is_second ? pingpong->first : pingpong->second].apic_id;
}

/*
 * Adds the round trips of a ping-pong of the first pass. If IS_FIRST_RESULT is true, it is the first ping-pong of its
 * pair, and is also counted in the rows of both cores.
 */
static void
add_round_trips(struct offset_analysis *analysis, const struct record_pingpong *pingpong, bool is_first_result)
{
	analysis->figures->cores[pingpong->first].pingpongs += is_first_result;
	analysis->figures->cores[pingpong->second].pingpongs += is_first_result;
	if (pingpong->median_trip_ticks)
		histogram_record(analysis->figures->skew.trips, pingpong->median_trip_ticks);
	if (pingpong->best_trip_ticks && pingpong->best_trip_ticks < analysis->best_trip_ticks)
		analysis->best_trip_ticks = pingpong->best_trip_ticks;
}

/*
 * Adds a ping-pong that was measured in the time interval MOMENT. If PASS is NULL, the ping-pong belongs to no pass,
 * and only its warps are added.
 */
static void
add_pingpong(struct offset_analysis *analysis, struct report_pass *pass, struct moment moment,
	     const struct record_pingpong *pingpong)
{
	struct pingpong_result result = { .played = true, .least_to_second = pingpong->least_to_second,
					  .least_to_first = pingpong->least_to_first };
	const struct report *report = analysis->report;
	size_t a, b;

	if (pingpong->first >= report->facts.core_count || pingpong->second >= report->facts.core_count)
		return;
	pingpong_complete_result(&result, analysis->resolution_ticks);
	add_warps_of_pingpong(analysis, pingpong, &result);
	a = analysis->figures->cores[pingpong->first].rank;
	b = analysis->figures->cores[pingpong->second].rank;
	if (!pass || a >= b || b == REPORT_NO_RANK || (a && pass->offsets.kind == PAIR_SCHEDULE_STAR))
		return;
	bool is_first_result = offsets_add_pingpong(&pass->offsets, a, b, result.offset, result.moved_ticks, moment);
	pass->pingpongs += is_first_result;
	pass->again += !is_first_result;
	if (pass == analysis->figures->skew.passes)
		add_round_trips(analysis, pingpong, is_first_result);
}

static void
read_exchange_entry(struct offset_analysis *analysis, const struct record_entry *entry)
{
	struct record_exchange exchange;
	struct record_pingpong pingpong;
	struct report_pass *pass = NULL;

	record_read_fixed_part(entry, &exchange);
	for (size_t i = 0; i < REPORT_PASSES && exchange.pass; i++)
		if (analysis->numbers[i] == exchange.pass)
			pass = &analysis->figures->skew.passes[i];
	for (size_t i = 0; i < entry->item_count; i++) {
		record_read_item(entry, i, &pingpong);
		add_pingpong(analysis, pass, (struct moment){ exchange.begin_tsc, exchange.end_tsc }, &pingpong);
	}
}

/* Reads all passes, and then their ping-pongs, because a pass is written after its ping-pongs. */
static void
read_passes_and_pingpongs(struct offset_analysis *analysis, const void *record, size_t size)
{
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;
	uint64_t step_ticks;

	while (record_read_next(&reader, &entry))
		if (entry.kind == RECORD_PASS)
			read_pass_entry(analysis, &entry);
	reader = record_open_without_checksums(record, size);
	while (record_read_next(&reader, &entry)) {
		if (entry.kind == RECORD_EXCHANGE)
			read_exchange_entry(analysis, &entry);
		if (entry.kind != RECORD_SCALE)
			continue;
		step_ticks = analysis_read_scale(&analysis->scale, &entry);
		analysis->resolution_ticks = step_ticks ? step_ticks : 1;
	}
}

/*
 * Removes the passes without a ping-pong, and calculates each core's offset from the pairs in the other passes. Without
 * a ping-pong in the first pass there are no passes, because the ranks and the round trips come from this pass.
 * A removed pass leaves its arrays unused until report_divide_memory() sets all addresses again.
 */
static void
finish_passes(struct offset_analysis *analysis)
{
	struct report_skew *skew = &analysis->figures->skew;

	for (size_t i = 0; i < REPORT_PASSES && skew->passes[0].pingpongs; i++) {
		struct report_pass *pass = &skew->passes[skew->pass_count];

		*pass = skew->passes[i];
		if (!pass->pingpongs)
			continue;
		if (pass->offsets.end_tsc > pass->offsets.begin_tsc)
			pass->elapsed_ns = scale_ns(&analysis->scale, pass->offsets.end_tsc - pass->offsets.begin_tsc);
		pass->summary = offsets_calculate_core_offsets(&pass->offsets, pass->core_offsets, pass->outlier);
		skew->pass_count++;
	}
	for (size_t i = skew->pass_count; i < REPORT_PASSES; i++)
		skew->passes[i].offsets.cores = 0;
}

/*
 * Calculates the drift of each pair that had a ping-pong in the first and in the last pass, from the offsets and the
 * times of these two ping-pongs.
 */
static void
report_drifts(struct offset_analysis *analysis)
{
	struct report_skew *skew = &analysis->figures->skew;
	const struct offsets *first = &skew->passes[0].offsets, *last = &report_get_last_pass(analysis->report)->offsets;
	size_t pairs = pair_schedule_count_pairs(first->kind, first->cores), a, b;

	skew->drifts.kind = first->kind;
	skew->drifts.cores = first->cores;
	for (size_t i = 0; i < pairs; i++) {
		pair_schedule_pair_at_index(first->kind, i, &a, &b);
		skew->drifts.pairs[i] = offsets_drift_ppb(first, last, a, b);
	}
	skew->drift_span_ns = scale_ns(&analysis->scale, last->end_tsc - first->end_tsc);
}

void
analysis_calculate_offsets(const void *record, size_t size, const struct report *report, struct figures *figures)
{
	struct report_skew *skew = &figures->skew;
	struct offset_analysis analysis = {
		.report = report,
		.figures = figures,
		.resolution_ticks = 1,
		.best_trip_ticks = UINT64_MAX,
	};

	report_clear_passes(figures);
	if (!skew->memory)
		return;
	histogram_clear(skew->trips);
	scale_init(&analysis.scale, figures->tsc);
	read_passes_and_pingpongs(&analysis, record, size);
	figures->tsc_resolution_ticks = analysis.resolution_ticks;
	if (skew->trips->total) {
		skew->best_trip_ns = scale_ns(&analysis.scale, analysis.best_trip_ticks);
		skew->median_trip_ns = scale_ns(&analysis.scale, histogram_quantile(skew->trips, MEDIAN));
	}
	finish_passes(&analysis);
	if (skew->pass_count > 1)
		report_drifts(&analysis);
}

size_t
analysis_max_pairs_in_pass(const void *record, size_t size, size_t cores)
{
	size_t largest = 0, pairs;
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;
	struct record_pass pass;

	while (record_read_next(&reader, &entry)) {
		if (entry.kind != RECORD_PASS)
			continue;
		record_read_fixed_part(&entry, &pass);
		pairs = pair_schedule_count_pairs(schedule_of_pass(&pass), read_cores_of_pass(cores, &entry, NULL));
		if (pairs > largest && pairs <= size)
			largest = pairs;
	}
	return largest;
}
