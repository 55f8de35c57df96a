/* Calculates the offsets and drifts of the cores' TSCs from the entries `exchange` and `pass`. See analysis.h. */
#include "analysis/analysis.h"

#include "base/histogram.h"
#include "report/report_memory.h"
#include "sync/pingpong.h"

#define MEDIAN 50000 /* in 1/100,000 */

_Static_assert(PAIR_SCHEDULE_STAR == 0 && PAIR_SCHEDULE_ALL == 1, "records contain these values, so they must not "
	       "change");

/*
 * A pass in the record: one measurement of the pairs of cores. If the record has several first, middle or last passes,
 * this is the latest of them.
 */
struct recorded_pass {
	struct record_pass entry; /* the entry of the pass; entry.pass is 0 if the record has no such pass */
	struct offsets *offsets;
	uint64_t pingpongs, again; /* number of pairs with a ping-pong, and number of repeated ping-pongs */
};

struct offset_analysis {
	struct report *report;
	struct recorded_pass passes[REPORT_PASSES]; /* in the order of report_skew.passes */
	struct scale scale;
	uint64_t resolution_ticks;
	uint64_t best_trip_ticks; /* shortest round trip of the first pass */
};

/* Removes the figures of an earlier call. The warp checks stay. */
static void
clear_offset_figures(struct report *report)
{
	struct report_skew *skew = &report->skew;

	__builtin_memset(&skew->kind, 0, sizeof(*skew) - offsetof(struct report_skew, kind));
	skew->kind_reason = "";
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].pingpongs = 0;
	if (skew->memory)
		report_divide_memory(report, skew->memory, skew->cores_max, skew->pairs_max);
}

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

/*
 * Reads the entry of a pass. Later passes use the cores of the first pass. A later pass with another schedule is
 * ignored.
 */
static void
read_pass_entry(struct offset_analysis *analysis, const struct record_entry *entry)
{
	struct report *report = analysis->report;
	const struct offsets *first = &report->skew.first.offsets;
	struct record_pass pass;
	enum pair_schedule kind;
	struct recorded_pass *stage;
	size_t cores;
	bool is_first;

	record_read_fixed_part(entry, &pass);
	is_first = pass.stage == RECORD_PASS_FIRST;
	if (!pass.pass || pass.stage < RECORD_PASS_FIRST || pass.stage > RECORD_PASS_LAST)
		return;
	stage = &analysis->passes[pass.stage - RECORD_PASS_FIRST];
	kind = schedule_of_pass(&pass);
	cores = is_first ? read_cores_of_pass(report->core_count, entry, NULL) : first->cores;
	if (cores < 2 || pair_schedule_count_pairs(kind, cores) > report->skew.pairs_max ||
	    (!is_first && kind != first->kind))
		return;
	if (is_first) {
		read_cores_of_pass(report->core_count, entry, report->skew.core_of);
		/*
		 * This is a new first pass. Removes the later passes, because their ranks belong to the cores of the
		 * old first pass.
		 */
		for (size_t i = 1; i < REPORT_PASSES; i++)
			analysis->passes[i].entry.pass = 0;
	}
	stage->entry = pass;
	stage->offsets->kind = kind;
	stage->offsets->cores = cores;
	stage->offsets->begin_tsc = pass.begin_tsc;
	stage->offsets->end_tsc = pass.end_tsc;
	offsets_clear(stage->offsets);
}

/* Finds the rank of CORE by bisection. Returns false if the core did not take part. */
static bool
find_rank_of_core(const struct report_skew *skew, size_t core, size_t *rank)
{
	size_t low = 0, high = skew->first.offsets.cores;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (skew->core_of[middle] < core)
			low = middle + 1;
		else
			high = middle;
	}
	*rank = low;
	return low < skew->first.offsets.cores && skew->core_of[low] == core;
}

static void
add_warps_of_pingpong(struct offset_analysis *analysis, const struct record_pingpong *pingpong,
		      const struct pingpong_result *result)
{
	struct report *report = analysis->report;
	struct report_skew *skew = &report->skew;
	bool is_second = result->ahead == PINGPONG_SECOND;

	skew->warps += pingpong->warps;
	if (result->worst_ticks <= skew->worst_warp_ticks)
		return;
	skew->worst_warp_ticks = result->worst_ticks;
	skew->worst_warp_ns = scale_ns(&analysis->scale, result->worst_ticks);
	skew->worst_warp_a = report->cores[is_second ? pingpong->second : pingpong->first].apic_id;
	skew->worst_warp_b = report->cores[is_second ? pingpong->first : pingpong->second].apic_id;
}

/*
 * Adds the round trips of a ping-pong of the first pass. If IS_FIRST_RESULT is true, it is the first ping-pong of its
 * pair, and is also counted in the rows of both cores.
 */
static void
add_round_trips(struct offset_analysis *analysis, const struct record_pingpong *pingpong, bool is_first_result)
{
	struct report *report = analysis->report;

	report->cores[pingpong->first].pingpongs += is_first_result;
	report->cores[pingpong->second].pingpongs += is_first_result;
	if (pingpong->median_trip_ticks)
		histogram_record(report->skew.trips, pingpong->median_trip_ticks);
	if (pingpong->best_trip_ticks && pingpong->best_trip_ticks < analysis->best_trip_ticks)
		analysis->best_trip_ticks = pingpong->best_trip_ticks;
}

/*
 * Adds a ping-pong that was measured in the time interval MOMENT. If PASS is NULL, the ping-pong belongs to no pass,
 * and only its warps are added.
 */
static void
add_pingpong(struct offset_analysis *analysis, struct recorded_pass *pass, struct moment moment,
	      const struct record_pingpong *pingpong)
{
	struct pingpong_result result = { .played = true, .least_to_second = pingpong->least_to_second,
					  .least_to_first = pingpong->least_to_first };
	const struct report *report = analysis->report;
	size_t a, b;

	if (pingpong->first >= report->core_count || pingpong->second >= report->core_count)
		return;
	pingpong_complete_result(&result, analysis->resolution_ticks);
	add_warps_of_pingpong(analysis, pingpong, &result);
	if (!pass || !find_rank_of_core(&report->skew, pingpong->first, &a) ||
	    !find_rank_of_core(&report->skew, pingpong->second, &b) ||
	    a >= b || (a && pass->offsets->kind == PAIR_SCHEDULE_STAR))
		return;
	bool is_first_result = offsets_add_pingpong(pass->offsets, a, b, result.offset, result.moved_ticks, moment);

	pass->pingpongs += is_first_result;
	pass->again += !is_first_result;
	if (pass == &analysis->passes[0])
		add_round_trips(analysis, pingpong, is_first_result);
}

static void
read_exchange_entry(struct offset_analysis *analysis, const struct record_entry *entry)
{
	struct record_exchange exchange;
	struct record_pingpong pingpong;
	struct recorded_pass *pass = NULL;

	record_read_fixed_part(entry, &exchange);
	for (size_t i = 0; i < REPORT_PASSES && exchange.pass; i++)
		if (analysis->passes[i].entry.pass == exchange.pass)
			pass = &analysis->passes[i];
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

/* Calculates each core's offset from the pairs of PASS, and stores it in skew->solved. */
static void
solve_core_offsets(struct report_skew *skew, struct report_pass *pass)
{
	pass->summary = offsets_calculate_core_offsets(&pass->offsets, skew->solved, pass->outlier, skew->disputed);
}

static void
report_first_pass(struct offset_analysis *analysis)
{
	const struct recorded_pass *pass = &analysis->passes[0];
	struct report *report = analysis->report;
	struct report_skew *skew = &report->skew;

	skew->kind = pass->offsets->kind;
	if (pass->entry.reason == RECORD_PASS_NO_MEMORY)
		skew->kind_reason = "There is not enough memory for all pairs of cores.";
	else if (pass->entry.reason == RECORD_PASS_TOO_LONG)
		skew->kind_reason = "Measuring all pairs would take longer than this profile allows.";
	skew->concurrency = pass->entry.concurrency;
	skew->rounds = pass->entry.rounds;
	if (pass->entry.end_tsc > pass->entry.begin_tsc)
		skew->elapsed_ns = scale_ns(&analysis->scale, pass->entry.end_tsc - pass->entry.begin_tsc);
	skew->pingpongs = pass->pingpongs;
	skew->again = pass->again;
	if (skew->trips->total) {
		skew->best_trip_ns = scale_ns(&analysis->scale, analysis->best_trip_ticks);
		skew->median_trip_ns = scale_ns(&analysis->scale, histogram_quantile(skew->trips, MEDIAN));
	}
	solve_core_offsets(skew, &skew->first);
	for (size_t i = 0; i < pass->offsets->cores; i++)
		report->cores[skew->core_of[i]].offset = skew->solved[i];
}

/*
 * Calculates the drift of each pair that had a ping-pong in the first and in the last pass, from the offsets and the
 * times of these two ping-pongs. Drifts against the boot core are also stored in the core's row.
 */
static void
report_drifts(struct report *report)
{
	struct report_skew *skew = &report->skew;
	size_t pairs = pair_schedule_count_pairs(skew->kind, skew->first.offsets.cores), a, b;

	for (size_t i = 0; i < pairs; i++) {
		pair_schedule_pair_at_index(skew->kind, i, &a, &b);
		skew->drifts[i] = offsets_drift_ppb(&skew->first.offsets, &skew->last.offsets, a, b);
		if (a == 0)
			report->cores[skew->core_of[b]].drift_ppb = skew->drifts[i];
	}
	report->cores[skew->core_of[0]].drift_ppb = (struct offset){ 0, 0 };
}

static void
report_last_pass(struct offset_analysis *analysis)
{
	struct report *report = analysis->report;
	struct report_skew *skew = &report->skew;

	solve_core_offsets(skew, &skew->last);
	for (size_t i = 0; i < skew->last.offsets.cores; i++)
		report->cores[skew->core_of[i]].last_offset = skew->solved[i];
	report_drifts(report);
	skew->drift_span_ns = scale_ns(&analysis->scale, skew->last.offsets.end_tsc - skew->first.offsets.begin_tsc);
}

void
analysis_calculate_offsets(const void *record, size_t size, struct report *report)
{
	struct report_skew *skew = &report->skew;
	struct offset_analysis analysis = {
		.report = report,
		.resolution_ticks = 1,
		.best_trip_ticks = UINT64_MAX,
	};

	clear_offset_figures(report);
	if (!skew->memory)
		return;
	for (size_t i = 0; i < REPORT_PASSES; i++)
		analysis.passes[i].offsets = &skew->passes[i].offsets;
	histogram_clear(skew->trips);
	scale_init(&analysis.scale, report->tsc);
	read_passes_and_pingpongs(&analysis, record, size);
	skew->locked.worst_ns = scale_ns(&analysis.scale, skew->locked.worst_ticks);
	skew->lock_free.worst_ns = scale_ns(&analysis.scale, skew->lock_free.worst_ticks);
	report->series.tsc_resolution_ticks = analysis.resolution_ticks;
	if (analysis.passes[0].entry.pass)
		report_first_pass(&analysis);
	for (size_t i = 0; i < REPORT_PASSES; i++)
		skew->passes[i].measured = analysis.passes[i].pingpongs > 0;
	if (skew->last.measured)
		report_last_pass(&analysis);
	else
		skew->last.offsets.cores = 0;
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
