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
#define TICKS_MAX (INT64_C(1) << 60) /* more ticks than this (12 years at 3 GHz) mean that the bound is unknown */

const struct report_core *
pass_get_measured_core(const struct pass_analysis *pass, size_t rank)
{
	return &pass->report->cores[pass->skew->core_of[rank]];
}

struct moment
moment_union(struct moment a, struct moment b)
{
	return (struct moment){ a.begin_tsc < b.begin_tsc ? a.begin_tsc : b.begin_tsc,
				a.end_tsc > b.end_tsc ? a.end_tsc : b.end_tsc };
}

static struct offset
offset_ticks_to_ns(const struct pass_analysis *pass, struct offset ticks)
{
	if (!offset_is_known(ticks))
		return OFFSET_UNKNOWN;
	return (struct offset){ scale_ticks_to_ns_down(&pass->scale, ticks.low),
				scale_ticks_to_ns_up(&pass->scale, ticks.high) };
}

struct offset
pass_ticks_to_ns(const struct pass_analysis *pass, uint64_t ticks)
{
	int64_t size = ticks < (uint64_t)TICKS_MAX ? (int64_t)ticks : TICKS_MAX;

	return offset_ticks_to_ns(pass, (struct offset){ size, size });
}

struct offset
pass_offset_ns(const struct pass_analysis *pass, size_t other, size_t rank)
{
	return offset_ticks_to_ns(pass, offsets_get_proven_offset(&pass->result->offsets, other, rank));
}

/* ---- drifts ---- */

/*
 * Returns OFFSET_UNKNOWN for two cores other than the boot core in a star schedule, where each core is measured against
 * the boot core only. The boot core's TSC may have changed between the measurements of the two cores.
 */
struct offset
pass_drift_ppb(const struct pass_analysis *pass, size_t other, size_t rank)
{
	const struct offsets *offsets = &pass->skew->first.offsets;
	size_t a = other < rank ? other : rank, b = other < rank ? rank : other;
	struct offset drift;

	if (a == b || (offsets->kind == PAIR_SCHEDULE_STAR && a > 0))
		return OFFSET_UNKNOWN;
	drift = pass->skew->drifts[pair_schedule_index_of_pair(offsets->kind, offsets->cores, a, b)];
	return other < rank ? drift : offset_negate(drift);
}

static struct offset
get_pair_drift_of_pass(const void *pass, size_t a, size_t b)
{
	return pass_drift_ppb(pass, a, b);
}

struct moment
pass_measuring_time_of_pair(const struct pass_analysis *pass, size_t other, size_t rank)
{
	if (rank && other && pass->result->offsets.kind == PAIR_SCHEDULE_STAR)
		return (struct moment){ pass->result->offsets.begin_tsc, pass->result->offsets.end_tsc };
	return offsets_get_time_of_pair(&pass->result->offsets, other, rank);
}

/*
 * Returns the time interval in which the pair's offset changed by the kind of change MOTION. It starts with the pair's
 * measurement in one pass, and ends with its measurement in a later pass. For an unknown MOTION these are the first and
 * the last pass.
 */
static struct moment
find_time_of_motion(const struct report_skew *skew, enum motion motion, size_t other, size_t rank)
{
	const struct offsets *from = motion == MOTION_STEP_LATE ? &skew->middle.offsets : &skew->first.offsets;
	const struct offsets *to = motion == MOTION_STEP_EARLY ? &skew->middle.offsets : &skew->last.offsets;

	return (struct moment){ offsets_get_time_of_pair(from, other, rank).begin_tsc,
				offsets_get_time_of_pair(to, other, rank).end_tsc };
}

/*
 * Returns true if RANK is proven to drift against OTHER: faster if AHEAD, otherwise slower. The interval that contains
 * the drift must not be wider than WIDTH ppb.
 */
static bool
is_drift_proven(const struct pass_analysis *pass, size_t other, size_t rank, bool ahead, uint64_t width)
{
	struct offset drift = pass_drift_ppb(pass, other, rank);

	return offset_min_abs(drift) > pass->drift_limit_ppb && (drift.low > 0) == ahead && offset_width(drift) <= width;
}

static size_t
count_cores_that_prove_drift(const struct pass_analysis *pass, size_t rank, bool ahead, uint64_t width)
{
	size_t count = 0;

	for (size_t i = 0; i < pass->skew->first.offsets.cores; i++)
		count += is_drift_proven(pass, i, rank, ahead, width);
	return count;
}

/*
 * Returns the smallest width in ppb with which is_drift_proven() is true against more than half of the cores. Returns
 * UINT64_MAX if no width is sufficient, because too few drifts are proven.
 */
static uint64_t
min_width_that_proves_drift_ppb(const struct pass_analysis *pass, size_t rank, bool ahead)
{
	uint64_t width = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
		if (2 * count_cores_that_prove_drift(pass, rank, ahead, width + bit - 1) <= pass->skew->first.offsets.cores)
			width += bit;
	return width;
}

/*
 * Returns an interval that contains RANK's proven drifts against more than half of the cores: those with the narrowest
 * intervals. If at most half of the cores prove a drift, it contains all proven drifts.
 *
 * Each pair was measured over its own time interval. If the TSC made one step, a pair with a longer time interval shows
 * a slower drift. Therefore the lower bound of each drift is scaled to MOMENT, which contains the time intervals of all
 * these pairs.
 */
struct offset
pass_drift_from_majority_ppb(const struct pass_analysis *pass, size_t rank, struct moment *moment)
{
	size_t cores = pass->skew->first.offsets.cores;
	bool ahead = count_cores_that_prove_drift(pass, rank, true, UINT64_MAX) >
		     count_cores_that_prove_drift(pass, rank, false, UINT64_MAX);
	uint64_t width = min_width_that_proves_drift_ppb(pass, rank, ahead);
	struct offset most = { INT64_MAX, 0 };

	*moment = MOMENT_NEVER;
	for (size_t i = 0; i < cores; i++)
		if (is_drift_proven(pass, i, rank, ahead, width))
			*moment = moment_union(*moment, find_time_of_motion(pass->skew, MOTION_UNKNOWN, i, rank));
	for (size_t i = 0; i < cores; i++) {
		struct moment own = find_time_of_motion(pass->skew, MOTION_UNKNOWN, i, rank);
		struct offset drift = ahead ? pass_drift_ppb(pass, i, rank) : offset_negate(pass_drift_ppb(pass, i, rank));
		int64_t low;

		if (!is_drift_proven(pass, i, rank, ahead, width))
			continue;
		low = (int64_t)scale_mul_div((uint64_t)drift.low, own.end_tsc - own.begin_tsc,
					     moment->end_tsc - moment->begin_tsc);
		most.low = low < most.low ? low : most.low;
		most.high = drift.high > most.high ? drift.high : most.high;
	}
	return ahead ? most : offset_negate(most);
}

enum motion
pass_find_motion_of_core(const struct pass_analysis *pass, size_t rank, bool ahead, struct moment *moment)
{
	const struct report_skew *skew = pass->skew;
	size_t count[MOTION_UNEVEN + 1] = { 0 };
	struct moment moments[MOTION_UNEVEN + 1];

	for (enum motion i = MOTION_UNKNOWN; i <= MOTION_UNEVEN; i++)
		moments[i] = MOMENT_NEVER;
	for (size_t i = 0; i < skew->first.offsets.cores && skew->middle.measured; i++) {
		enum motion motion;

		if (!is_drift_proven(pass, i, rank, ahead, UINT64_MAX))
			continue;
		motion = offsets_classify_motion(&skew->first.offsets, &skew->middle.offsets, &skew->last.offsets, i, rank);
		count[motion]++;
		moments[motion] = moment_union(moments[motion], find_time_of_motion(skew, motion, i, rank));
	}
	for (enum motion i = MOTION_STEADY; i <= MOTION_UNEVEN; i++) {
		*moment = moments[i];
		if (2 * count[i] > skew->first.offsets.cores)
			return i;
	}
	return MOTION_UNKNOWN;
}

/* Marks the drifting cores in the report, and counts them. */
static void
mark_drifting_cores(struct pass_analysis *pass)
{
	struct report *report = pass->report;
	struct report_skew *skew = pass->skew;
	struct outliers found;

	skew->any_moved = false;
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].drifts = false;
	if (!skew->last.measured)
		return;
	found = outliers_find(get_pair_drift_of_pass, pass, pass->drift_limit_ppb, skew->first.offsets.cores, skew->moved,
			      skew->disputed);
	pass->drifting = found.outliers;
	skew->any_moved = found.any_differs;
	for (size_t i = 0; i < skew->first.offsets.cores; i++) {
		struct report_core *core = &report->cores[skew->core_of[i]];
		struct moment moment;

		core->drifts = skew->moved[i];
		core->from_most = core->drifts ? pass_drift_from_majority_ppb(pass, i, &moment) : (struct offset){ 0, 0 };
	}
}

/* ---- offsets ---- */

/* Returns true if the core belongs to the majority and does not drift. */
static bool
is_core_in_majority(const struct pass_analysis *pass, size_t rank)
{
	return !pass->result->outlier[rank] && !pass_get_measured_core(pass, rank)->drifts;
}

/*
 * Returns another pass, which shows whether offsets of this pass are right. In a star schedule every core is measured
 * against the boot core only. If the boot core's TSC steps midway, cores that were measured before the step seem to
 * differ from cores measured after it.
 */
static const struct offsets *
get_offsets_of_other_pass(const struct pass_analysis *pass)
{
	const struct report_skew *skew = pass->skew;

	if (skew->middle.measured)
		return &skew->middle.offsets;
	return pass->result == &skew->first ? &skew->last.offsets : &skew->first.offsets;
}

/*
 * Returns true if another pass confirms the offsets of all cores in a star schedule. Returns false if there is no other
 * pass. All offsets must be confirmed: if the boot core's TSC stepped just before the last core was measured, the last
 * core is right, and all others seem to differ.
 */
static bool
does_other_pass_confirm_offsets(const struct pass_analysis *pass)
{
	const struct report_skew *skew = pass->skew;
	const struct offsets *other = get_offsets_of_other_pass(pass);

	if (!skew->last.measured || skew->any_moved)
		return false;
	for (size_t i = 1; i < pass->result->offsets.cores; i++)
		if (offset_gap_between(offsets_get_offset(&pass->result->offsets, 0, i), offsets_get_offset(other, 0, i)))
			return false;
	return true;
}

/*
 * Returns true if another pass, too, proves that RANK differs from a core of the majority. It is not enough that the
 * other pass does not contradict the offset, because its intervals may be wide. Returns true without proof for a pass
 * of all pairs, and for the boot core.
 */
static bool
does_other_pass_prove_offset(const struct pass_analysis *pass, size_t rank)
{
	const struct offsets *other = get_offsets_of_other_pass(pass);

	if (pass->result->offsets.kind != PAIR_SCHEDULE_STAR || rank == 0)
		return true;
	for (size_t i = 1; i < pass->result->offsets.cores; i++) {
		struct offset offset = offset_ticks_to_ns(pass, offsets_get_proven_offset(other, i, rank));

		if (is_core_in_majority(pass, i) && offset_min_abs(offset) > pass->offset_limit_ns)
			return true;
	}
	return false;
}

size_t
pass_find_core_furthest_from(const struct pass_analysis *pass, size_t rank)
{
	size_t furthest = rank;
	uint64_t most_ticks = 0;

	for (size_t i = 0; i < pass->result->offsets.cores; i++) {
		uint64_t ticks = offset_min_abs(offsets_get_proven_offset(&pass->result->offsets, i, rank));

		if (!is_core_in_majority(pass, i) || ticks <= most_ticks)
			continue;
		most_ticks = ticks;
		furthest = i;
	}
	return furthest;
}

bool
pass_is_core_off_majority(const struct pass_analysis *pass, size_t rank)
{
	return pass->result->outlier[rank] && !pass_get_measured_core(pass, rank)->drifts && !pass->star_open &&
	       does_other_pass_prove_offset(pass, rank) &&
	       offset_min_abs(pass_offset_ns(pass, pass_find_core_furthest_from(pass, rank), rank)) > pass->offset_limit_ns;
}

/* Returns true if a finding names the core. */
static bool
does_core_cause_offset_finding(const struct pass_analysis *pass, size_t rank)
{
	const struct report_core *core = pass_get_measured_core(pass, rank);

	return core->steps_back || core->drifts || core->off_majority || pass_is_core_off_majority(pass, rank);
}

struct pair
pass_find_worst_pair(const struct pass_analysis *pass, pass_size_of_pair *size_of)
{
	struct pair worst_pair = { 0, 0 };
	uint64_t worst = 0;

	for (size_t b = 1; b < pass->result->offsets.cores; b++) {
		for (size_t a = 0; a < b && !does_core_cause_offset_finding(pass, b); a++) {
			uint64_t size = size_of(pass, a, b);

			if (size <= worst || does_core_cause_offset_finding(pass, a))
				continue;
			worst = size;
			worst_pair = (struct pair){ a, b };
		}
	}
	return worst_pair;
}

uint64_t
pass_proven_offset_ticks(const struct pass_analysis *pass, size_t a, size_t b)
{
	bool is_proven = !offsets_get_movement_ticks(&pass->result->offsets, a, b) &&
		      offset_min_abs(pass_offset_ns(pass, a, b)) > pass->offset_limit_ns;

	return is_proven ? offset_min_abs(offsets_get_offset(&pass->result->offsets, a, b)) : 0;
}

uint64_t
pass_proven_drift_ppb(const struct pass_analysis *pass, size_t a, size_t b)
{
	uint64_t ppb = offset_min_abs(pass_drift_ppb(pass, a, b));

	return ppb > pass->drift_limit_ppb ? ppb : 0;
}

/*
 * Returns the largest offset with which cores count as synchronised. Unless the user sets this limit, it is at least
 * TRIPS times the best round trip, because no smaller bound can be measured. Round trips raise it to at most 10 us,
 * because longer round trips only show that virtual cores share a processor.
 */
static uint64_t
sync_limit_ns(const struct report *report)
{
	uint64_t limit_ns = rules_get_limit_by_id(report, "tsc-sync"), trips_ns = report->skew.best_trip_ns;

	if (limit_ns != rules_find("tsc-sync")->limit)
		return limit_ns;
	trips_ns = trips_ns < TRIPS_NS_MAX / TRIPS ? TRIPS * trips_ns : TRIPS_NS_MAX;
	return limit_ns < trips_ns ? trips_ns : limit_ns;
}

/* Marks the cores whose TSC differs from the majority's in this pass. */
static void
mark_cores_off_majority(const struct pass_analysis *pass)
{
	for (size_t i = 0; i < pass->result->offsets.cores && !pass->no_majority; i++) {
		struct report_core *core = &pass->report->cores[pass->skew->core_of[i]];
		bool was_off = core->drifts && pass->result->outlier[i] && pass->result == &pass->skew->first;

		if (core->off_majority || (!was_off && !pass_is_core_off_majority(pass, i)))
			continue;
		core->off_majority = true;
		if (!pass->skew->off_tsc)
			pass->skew->off_tsc = pass->result->offsets.end_tsc;
	}
}

/*
 * Decides whether the cores are synchronised. No core may differ from the majority in the first or last pass, and no
 * core's offset may have changed between the two passes. Warps, steps back and contradictions also exclude
 * synchronisation. The largest possible offset must be at most sync_limit_ns().
 */
static void
decide_if_cores_are_synchronised(const struct pass_analysis *pass)
{
	struct report_skew *skew = pass->skew;
	uint64_t first = skew->first.summary.bound_ticks;
	uint64_t last = skew->last.measured ? skew->last.summary.bound_ticks : first;
	size_t off = 0, stepping = 0;

	for (size_t i = 0; i < skew->first.offsets.cores; i++) {
		off += pass_get_measured_core(pass, i)->off_majority;
		stepping += pass_get_measured_core(pass, i)->steps_back;
	}
	/*
	 * A warp proves that two TSCs once differed by more than the passes show. The bound of the offsets is then
	 * unknown.
	 */
	skew->within_known = first != UINT64_MAX && last != UINT64_MAX && !skew->any_moved && !stepping &&
			    !report_count_warps(skew) && !skew->first.summary.contradictions &&
			    !skew->last.summary.contradictions;
	skew->within_ns = (uint64_t)pass_ticks_to_ns(pass, first > last ? first : last).high;
	skew->synchronised = skew->within_known && skew->last.measured && !off && !skew->first.summary.no_majority &&
			     !skew->last.summary.no_majority && skew->within_ns <= sync_limit_ns(pass->report);
}

static bool
does_core_drift_against_majority(const struct pass_analysis *pass, size_t rank)
{
	for (size_t i = 0; i < pass->result->offsets.cores; i++)
		if (is_core_in_majority(pass, i) && pass_proven_drift_ppb(pass, i, rank))
			return true;
	return false;
}

/*
 * Returns true if MEMBER and REPRESENTATIVE are proven to be nearer to each other than to RANK, and not proven to drift
 * against each other.
 */
static bool
is_pair_closer_together_than_to_core(const struct pass_analysis *pass, size_t representative, size_t member,
				     size_t rank)
{
	const struct offsets *offsets = &pass->result->offsets;
	uint64_t spread = representative == member ? 0 :
			  offset_max_abs(offsets_get_offset(offsets, representative, member));

	return offset_min_abs(offsets_get_offset(offsets, representative, rank)) > spread &&
	       offset_min_abs(offsets_get_offset(offsets, member, rank)) > spread &&
	       !pass_proven_drift_ppb(pass, representative, member);
}

/*
 * Returns true if RANK is proven to be outside of a group of more than half of all cores. The group consists of one
 * core as its representative, and of the cores that is_pair_closer_together_than_to_core() finds nearer to it than to
 * RANK.
 */
static bool
is_core_proven_outside_majority(const struct pass_analysis *pass, size_t rank)
{
	for (size_t representative = 0; representative < pass->result->offsets.cores; representative++) {
		size_t members = 0;

		for (size_t i = 0; i < pass->result->offsets.cores; i++)
			members += i != rank && representative != rank && is_core_in_majority(pass, i) &&
				   is_pair_closer_together_than_to_core(pass, representative, i, rank);
		if (2 * members > pass->result->offsets.cores)
			return true;
	}
	return false;
}

static bool
are_all_cores_off_proven_outside(const struct pass_analysis *pass)
{
	size_t off = 0;

	for (size_t i = 0; i < pass->result->offsets.cores; i++) {
		if (!pass_is_core_off_majority(pass, i))
			continue;
		if (!is_core_proven_outside_majority(pass, i))
			return false;
		off++;
	}
	return off > 0;
}

/*
 * Returns true if the majority exists only because its offsets are inexact: some of its cores are proven to drift
 * against each other, and its remaining cores are at most half of all cores. Returns false if there are cores that
 * differ, and each of them is proven to be outside of a group of more than half of all cores.
 */
static bool
is_majority_split_by_drift(const struct pass_analysis *pass)
{
	size_t split = 0, united = 0;

	for (size_t i = 0; i < pass->result->offsets.cores && pass->skew->any_moved; i++) {
		bool moves = is_core_in_majority(pass, i) && does_core_drift_against_majority(pass, i);

		split += moves;
		united += is_core_in_majority(pass, i) && !moves;
	}
	return split && 2 * united <= pass->result->offsets.cores && !are_all_cores_off_proven_outside(pass);
}

void
analyse_offsets(struct report *report, struct pass_analysis *first, struct pass_analysis *last)
{
	struct report_skew *skew = &report->skew;

	*first = (struct pass_analysis){ .report = report, .skew = skew, .scale = report_get_tsc_scale(report),
					 .offset_limit_ns = rules_get_limit_by_id(report, "tsc-offset"),
					 .drift_limit_ppb = rules_get_limit_by_id(report, "tsc-drift"),
					 .result = &skew->first };
	mark_drifting_cores(first);
	*last = *first;
	last->result = &skew->last;
	skew->off_tsc = 0;
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].off_majority = false;
	for (struct pass_analysis *pass = first; pass; pass = pass == first ? last : NULL) {
		pass->star_open = pass->result->offsets.kind == PAIR_SCHEDULE_STAR && !does_other_pass_confirm_offsets(pass);
		pass->no_majority = pass->result->summary.no_majority || is_majority_split_by_drift(pass);
		mark_cores_off_majority(pass);
	}
	decide_if_cores_are_synchronised(first);
}
