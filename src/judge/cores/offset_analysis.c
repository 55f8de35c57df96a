/*
 * Finds the cores whose TSC differs from the majority's, and by how much. Also finds the cores that drift, their rate
 * of drift, and whether they drift steadily or by a step. See offset_analysis.h.
 */
#include "judge/cores/offset_analysis.h"

#include "rules/rules.h"
#include "sync/outliers.h"

/*
 * The limit for offsets of synchronised cores is raised to this multiple of the shortest round trip between cores, but
 * at most to TRIPS_NS_MAX.
 */
#define TRIPS     4
/* 10 us. Longer round trips only show that virtual cores share a processor, so they do not raise the limit further. */
#define TRIPS_NS_MAX UINT64_C(10000)
/*
 * 20 ms. Two virtual cores that share a processor of the host exchange messages once in a time slice, so a pass shows
 * this bound or a smaller one. A larger bound shows nothing about the cores.
 */
#define INEXACT_NS_MAX UINT64_C(20000000)

struct moment
moment_union(struct moment a, struct moment b)
{
	return (struct moment){ a.begin_tsc < b.begin_tsc ? a.begin_tsc : b.begin_tsc,
				a.end_tsc > b.end_tsc ? a.end_tsc : b.end_tsc };
}

struct offset
pair_offset_ns(const struct report *report, const struct report_pass *pass, size_t other, size_t rank)
{
	return report_offset_to_ns(report, offsets_get_proven_offset(&pass->offsets, other, rank));
}

bool
pair_has_proven_offset(const struct report *report, const struct report_pass *pass, size_t other, size_t rank)
{
	return offset_excludes_zero(offsets_get_proven_offset(&pass->offsets, other, rank)) &&
	       offset_min_abs(pair_offset_ns(report, pass, other, rank)) > report->outcomes.sync.offset_limit_ns;
}

/* ---- drifts ---- */

static struct offset
get_drift_of_pair(const void *report, size_t a, size_t b)
{
	return report_get_pair_drift(report, a, b);
}

uint64_t
pair_proven_drift_ppb(const struct report *report, size_t a, size_t b)
{
	uint64_t ppb = offset_min_abs(report_get_pair_drift(report, a, b));

	return ppb > report->outcomes.sync.drift_limit_ppb ? ppb : 0;
}

/* The passes between which the pair's offset changed by the kind of change MOTION. */
struct change_of_pair {
	const struct report_pass *from, *to;
};

static struct change_of_pair
find_passes_around_motion(const struct report *report, enum motion motion)
{
	const struct report_pass *passes = report->figures.skew.passes;

	return (struct change_of_pair){ &passes[motion == MOTION_STEP_LATE ? 1 : 0],
					motion == MOTION_STEP_EARLY ? &passes[1] : report_get_last_pass(report) };
}

struct offset
pair_step_ns(const struct report *report, struct pair pair, enum motion motion)
{
	struct change_of_pair change = find_passes_around_motion(report, motion);

	return offset_add(pair_offset_ns(report, change.to, pair.a, pair.b),
			  offset_negate(pair_offset_ns(report, change.from, pair.a, pair.b)));
}

/*
 * Returns the time interval in which the pair's offset changed by the kind of change MOTION. It starts with the pair's
 * measurement in one pass, and ends with its measurement in a later pass. For an unknown MOTION these are the first and
 * the last pass.
 */
static struct moment
find_time_of_motion(const struct report *report, enum motion motion, size_t other, size_t rank)
{
	struct change_of_pair change = find_passes_around_motion(report, motion);

	return (struct moment){ offsets_get_time_of_pair(&change.from->offsets, other, rank).begin_tsc,
				offsets_get_time_of_pair(&change.to->offsets, other, rank).end_tsc };
}

enum motion
pair_find_motion(const struct report *report, struct pair pair, struct moment *moment)
{
	const struct report_pass *passes = report->figures.skew.passes;
	enum motion motion = MOTION_UNKNOWN;

	if (report->figures.skew.pass_count == REPORT_PASSES)
		motion = offsets_classify_motion(&passes[0].offsets, &passes[1].offsets, &passes[2].offsets, pair.a, pair.b);
	*moment = find_time_of_motion(report, motion, pair.a, pair.b);
	return motion;
}

/* Returns true if the core belongs to the majority in PASS, which may be NULL, and does not drift. */
static bool
is_core_in_majority(const struct report *report, const struct report_pass *pass, size_t rank)
{
	return !(pass && pass->outlier[rank]) && !report_get_outcome_of_rank(report, rank)->drifts;
}

size_t
find_core_furthest_from(const struct report *report, const struct report_pass *pass, size_t rank)
{
	size_t furthest = rank;
	uint64_t most = 0;

	for (size_t i = 0; i < report->figures.skew.passes[0].offsets.cores; i++) {
		uint64_t size = pass ? offset_min_abs(offsets_get_proven_offset(&pass->offsets, i, rank)) :
				       pair_proven_drift_ppb(report, i, rank);

		if (!is_core_in_majority(report, pass, i) || size <= most)
			continue;
		most = size;
		furthest = i;
	}
	return furthest;
}

/* Returns true if the TSC of RANK is proven to have moved by a step, and by how much. */
static bool
has_core_stepped(const struct report *report, size_t rank)
{
	struct pair pair = { find_core_furthest_from(report, NULL, rank), rank };
	struct moment moment;
	enum motion motion = pair_find_motion(report, pair, &moment);

	return (motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE) &&
	       offset_excludes_zero(pair_step_ns(report, pair, motion));
}

static void
mark_drifting_cores(const struct report *report, struct sync_outcome *sync)
{
	const struct report_skew *skew = &report->figures.skew;

	sync->any_moved = outliers_find(get_drift_of_pair, report, sync->drift_limit_ppb, skew->drifts.cores,
					sync->moved).any_differs;
	for (size_t i = 0; i < report->facts.core_count; i++) {
		size_t rank = report->figures.cores[i].rank;

		sync->cores[i].drifts = rank < skew->drifts.cores && sync->moved[rank];
	}
	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct core_outcome *core = &sync->cores[i];
		size_t rank = report->figures.cores[i].rank;

		core->stepped = core->drifts && has_core_stepped(report, rank);
		if (core->drifts)
			core->from_most = report_get_pair_drift(report, find_core_furthest_from(report, NULL, rank), rank);
	}
}

/* ---- offsets ---- */

/* Returns the next pass or, for the last one, the previous pass. */
static const struct report_pass *
get_other_pass(const struct report *report, const struct report_pass *pass)
{
	return pass == report->figures.skew.passes ? pass + 1 : pass - 1;
}

/*
 * Returns true if the other pass confirms the offsets of all cores in a star schedule, in which every core is measured
 * against the boot core only. If the boot core's TSC steps midway, cores that were measured before the step seem to
 * differ from cores measured after it. If it drifts, or steps in each pass, cores seem to differ in both passes.
 * Therefore no offset may have changed. Returns true for a pass of all pairs.
 */
static bool
does_other_pass_confirm_offsets(const struct report *report, const struct report_pass *pass)
{
	const struct report_pass *other = get_other_pass(report, pass);

	if (pass->offsets.kind != PAIR_SCHEDULE_STAR)
		return true;
	if (report->figures.skew.pass_count < 2 || report->outcomes.sync.any_moved)
		return false;
	for (size_t i = 1; i < pass->offsets.cores; i++)
		if (offset_gap_between(offsets_get_offset(&pass->offsets, 0, i), offsets_get_offset(&other->offsets, 0, i)))
			return false;
	return true;
}

/*
 * Returns true if the other pass, too, proves that RANK differs from a core of the majority. It is not enough that the
 * other pass does not contradict the offset, because its intervals may be wide. Returns true without proof for a pass
 * of all pairs, and for the boot core.
 */
static bool
does_other_pass_prove_offset(const struct report *report, const struct report_pass *pass, size_t rank)
{
	if (pass->offsets.kind != PAIR_SCHEDULE_STAR || rank == 0)
		return true;
	for (size_t i = 1; i < pass->offsets.cores; i++)
		if (is_core_in_majority(report, pass, i) && pair_has_proven_offset(report, get_other_pass(report, pass), i, rank))
			return true;
	return false;
}

static bool
is_core_off_majority(const struct report *report, const struct report_pass *pass, size_t rank)
{
	return pass->outlier[rank] && !report_get_outcome_of_rank(report, rank)->drifts &&
	       does_other_pass_prove_offset(report, pass, rank) &&
	       pair_has_proven_offset(report, pass, find_core_furthest_from(report, pass, rank), rank);
}

/* Returns true if a finding names the core. */
static bool
does_core_cause_offset_finding(const struct report *report, const struct report_pass *pass, size_t rank)
{
	const struct core_outcome *core = report_get_outcome_of_rank(report, rank);

	return core->steps_back || core->drifts || core->off_majority ||
	       report_get_pass_outcome(report, pass)->off[rank];
}

static uint64_t
pair_proven_offset_ticks(const struct report *report, const struct report_pass *pass, size_t a, size_t b)
{
	if (offsets_get_movement_ticks(&pass->offsets, a, b) || !pair_has_proven_offset(report, pass, a, b))
		return 0;
	return offset_min_abs(offsets_get_offset(&pass->offsets, a, b));
}

struct pair
pass_find_worst_pair(const struct report *report, const struct report_pass *pass, bool by_drift)
{
	struct pair worst_pair = { 0, 0 };
	uint64_t worst = 0;

	for (size_t b = 1; b < pass->offsets.cores; b++) {
		for (size_t a = 0; a < b && !does_core_cause_offset_finding(report, pass, b); a++) {
			uint64_t size = by_drift ? pair_proven_drift_ppb(report, a, b) :
						   pair_proven_offset_ticks(report, pass, a, b);

			if (size <= worst || does_core_cause_offset_finding(report, pass, a))
				continue;
			worst = size;
			worst_pair = (struct pair){ a, b };
		}
	}
	return worst_pair;
}

/*
 * Returns the largest offset with which cores count as synchronised. Unless the user sets this limit, it is at least
 * TRIPS times the best round trip, because no smaller bound can be measured. Round trips raise it to at most 10 us,
 * because longer round trips only show that virtual cores share a processor.
 */
static uint64_t
sync_limit_ns(const struct report *report)
{
	uint64_t limit_ns = rules_get_limit_by_id(report, "tsc-sync"), trips_ns = report->figures.skew.best_trip_ns;

	if (limit_ns != rules_find("tsc-sync")->limit)
		return limit_ns;
	trips_ns = trips_ns < TRIPS_NS_MAX / TRIPS ? TRIPS * trips_ns : TRIPS_NS_MAX;
	return limit_ns < trips_ns ? trips_ns : limit_ns;
}

/*
 * Returns true if the majority exists only because its offsets are inexact: some of its cores are proven to drift
 * against each other, and none of its cores has the same rate, as far as is proven, as more than half of all cores.
 */
static bool
is_majority_split_by_drift(const struct report *report, const struct report_pass *pass)
{
	bool split = false;

	for (size_t one = 0; one < pass->offsets.cores && report->outcomes.sync.any_moved; one++) {
		size_t members = 0;

		for (size_t i = 0; i < pass->offsets.cores && is_core_in_majority(report, pass, one); i++) {
			bool drifts = pair_proven_drift_ppb(report, one, i);

			split |= drifts && is_core_in_majority(report, pass, i);
			members += !drifts && is_core_in_majority(report, pass, i);
		}
		if (2 * members > pass->offsets.cores)
			return false;
	}
	return split;
}

/* Finds the cores whose TSC differs from the majority's in PASS. Marks them in the report if there is a majority. */
static void
analyse_pass(const struct report *report, const struct report_pass *pass, struct sync_outcome *sync)
{
	bool is_first = pass == report->figures.skew.passes, confirmed = does_other_pass_confirm_offsets(report, pass);
	struct pass_outcome *outcome = &sync->passes[pass - report->figures.skew.passes];

	for (size_t i = 0; i < pass->offsets.cores; i++)
		outcome->off[i] = confirmed && is_core_off_majority(report, pass, i);
	outcome->no_majority = pass->summary.no_majority || is_majority_split_by_drift(report, pass);
	for (size_t i = 0; i < pass->offsets.cores && !outcome->no_majority; i++) {
		struct core_outcome *core = &sync->cores[report->figures.skew.core_of[i]];

		if (!outcome->off[i] && !(is_first && core->drifts && pass->outlier[i]))
			continue;
		core->off_majority = outcome->marks_cores = true;
	}
}

/*
 * Decides whether the cores are synchronised. No core may differ from the majority in the first or last pass, and no
 * core's offset may have changed between the two passes. Warps, steps back and contradictions also exclude
 * synchronisation. The largest possible offset must be at most sync_limit_ns().
 */
static void
decide_if_cores_are_synchronised(const struct report *report, struct sync_outcome *sync)
{
	const struct report_skew *skew = &report->figures.skew;
	const struct offsets_summary *first = &skew->passes[0].summary, *last = &report_get_last_pass(report)->summary;
	uint64_t bound_ticks = first->bound_ticks > last->bound_ticks ? first->bound_ticks : last->bound_ticks;
	struct core_faults faults = report_count_core_faults(report);

	/*
	 * A warp proves that two TSCs once differed by more than the passes show. The bound of the offsets is then
	 * unknown.
	 */
	sync->within_known = skew->pass_count && bound_ticks != UINT64_MAX && !sync->any_moved && !faults.stepping_back &&
			     !report_count_warps(report) && !first->contradictions && !last->contradictions;
	sync->within_ns = (uint64_t)report_ticks_to_ns(report, bound_ticks).high;
	sync->synchronised = sync->within_known && skew->pass_count > 1 && !faults.off_majority && !first->no_majority &&
			     !last->no_majority && sync->within_ns <= sync_limit_ns(report);
}

/* Finds the pass that alone is exact: see one_is_exact. */
static void
find_only_exact_pass(const struct report *report, struct sync_outcome *sync)
{
	const struct report_skew *skew = &report->figures.skew;
	size_t last = (size_t)(report_get_last_pass(report) - skew->passes);
	uint64_t first_ns = report_get_bound_of_pass_ns(report, skew->passes);
	uint64_t last_ns = report_get_bound_of_pass_ns(report, &skew->passes[last]);

	sync->exact = first_ns < last_ns ? 0 : last;
	sync->one_is_exact = sync->within_known && !sync->synchronised && last &&
			     !report_count_core_faults(report).off_majority && !skew->passes[0].summary.no_majority &&
			     !skew->passes[last].summary.no_majority &&
			     (sync->exact ? last_ns : first_ns) <= sync_limit_ns(report) &&
			     sync->within_ns <= INEXACT_NS_MAX;
}

void
analyse_offsets(const struct report *report, struct sync_outcome *sync)
{
	sync->offset_limit_ns = rules_get_limit_by_id(report, "tsc-offset");
	sync->drift_limit_ppb = rules_get_limit_by_id(report, "tsc-drift");
	mark_drifting_cores(report, sync);
	analyse_pass(report, report->figures.skew.passes, sync);
	analyse_pass(report, report_get_last_pass(report), sync);
	decide_if_cores_are_synchronised(report, sync);
	find_only_exact_pass(report, sync);
}
