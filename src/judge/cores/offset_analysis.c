/*
 * Offset analysis finds the cores that are off, and by how much they differ from the others. Drift analysis finds the
 * cores that drift, their rate of drift, and whether they drift steadily or by a step. See offset_analysis.h.
 */
#include "judge/cores/offset_analysis.h"

#include "rules/rules.h"
#include "sync/outliers.h"

#define TRIPS     4 /* the limit for synchronised cores is at least so many times the best round trip */
#define TRIPS_NS_MAX UINT64_C(10000) /* but at most 10 us: cores with longer round trips share a processor */
#define TICKS_MAX (INT64_C(1) << 60) /* 12 years at 3 GHz: a bound that is not known */

const struct report_core *
view_core(const struct view *view, size_t rank)
{
	return &view->report->cores[view->skew->core_of[rank]];
}

struct moment
moment_hull(struct moment a, struct moment b)
{
	return (struct moment){ a.begin_tsc < b.begin_tsc ? a.begin_tsc : b.begin_tsc,
				a.end_tsc > b.end_tsc ? a.end_tsc : b.end_tsc };
}

static struct offset
ticks_to_ns(const struct view *view, struct offset ticks)
{
	if (!offset_is_known(ticks))
		return OFFSET_UNKNOWN;
	return (struct offset){ scale_ns_down(&view->scale, ticks.low), scale_ns_up(&view->scale, ticks.high) };
}

struct offset
view_size_ns(const struct view *view, uint64_t ticks)
{
	int64_t size = ticks < (uint64_t)TICKS_MAX ? (int64_t)ticks : TICKS_MAX;

	return ticks_to_ns(view, (struct offset){ size, size });
}

struct offset
view_offset(const struct view *view, size_t other, size_t rank)
{
	return ticks_to_ns(view, offsets_proven(view->offsets, other, rank));
}

/* ---- drifts ---- */

/*
 * In a star schedule each core is measured against the boot core only. Two other cores are not compared then, because
 * the boot core may have moved.
 */
struct offset
view_drift(const struct view *view, size_t other, size_t rank)
{
	const struct offsets *offsets = &view->skew->offsets;
	size_t a = other < rank ? other : rank, b = other < rank ? rank : other;
	struct offset drift;

	if (a == b || (offsets->kind == PAIR_SCHEDULE_STAR && a > 0))
		return OFFSET_UNKNOWN;
	drift = view->skew->drifts[pair_schedule_index(offsets->kind, offsets->cores, a, b)];
	return other < rank ? drift : offset_negate(drift);
}

static struct offset
get_drift(const void *view, size_t a, size_t b)
{
	return view_drift(view, a, b);
}

struct moment
view_pass_time(const struct view *view, size_t other, size_t rank)
{
	if (rank && other && view->offsets->kind == PAIR_SCHEDULE_STAR)
		return (struct moment){ view->offsets->begin_tsc, view->offsets->end_tsc };
	return offsets_moment(view->offsets, other, rank);
}

/* Returns the time from the pair's measurement in the first pass to its measurement in the last pass. */
static struct moment
time_between_passes(const struct view *view, size_t other, size_t rank)
{
	return (struct moment){ offsets_moment(&view->skew->offsets, other, rank).begin_tsc,
				offsets_moment(&view->skew->latest, other, rank).end_tsc };
}

/*
 * Returns true if an interval of at most WIDTH ppb proves that RANK drifts against OTHER: faster if AHEAD, otherwise
 * slower.
 */
static bool
proves_drift(const struct view *view, size_t other, size_t rank, bool ahead, uint64_t width)
{
	struct offset drift = view_drift(view, other, rank);

	return offset_min_size(drift) > view->drift_limit_ppb && (drift.low > 0) == ahead && offset_width(drift) <= width;
}

static size_t
count_proofs(const struct view *view, size_t rank, bool ahead, uint64_t width)
{
	size_t count = 0;

	for (size_t i = 0; i < view->skew->offsets.cores; i++)
		count += proves_drift(view, i, rank, ahead, width);
	return count;
}

/* Returns the smallest WIDTH for proves_drift() that lets more than half of the cores prove the drift. */
static uint64_t
width_for_majority(const struct view *view, size_t rank, bool ahead)
{
	uint64_t width = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
		if (2 * count_proofs(view, rank, ahead, width + bit - 1) <= view->skew->offsets.cores)
			width += bit;
	return width;
}

/*
 * Uses the narrowest intervals of more than half of the cores. They were measured over different times, and a step
 * seems slower over a longer time. So each minimum is scaled to the whole time from their first start to their last
 * end.
 */
struct offset
view_drift_from_most(const struct view *view, size_t rank, struct moment *moment)
{
	size_t cores = view->skew->offsets.cores;
	bool ahead = 2 * count_proofs(view, rank, true, UINT64_MAX) > cores;
	uint64_t width = width_for_majority(view, rank, ahead);
	struct offset most = { INT64_MAX, 0 };

	*moment = MOMENT_NEVER;
	for (size_t i = 0; i < cores; i++)
		if (proves_drift(view, i, rank, ahead, width))
			*moment = moment_hull(*moment, time_between_passes(view, i, rank));
	for (size_t i = 0; i < cores; i++) {
		struct moment own = time_between_passes(view, i, rank);
		struct offset drift = ahead ? view_drift(view, i, rank) : offset_negate(view_drift(view, i, rank));
		int64_t low;

		if (!proves_drift(view, i, rank, ahead, width))
			continue;
		low = (int64_t)scale_mul_div((uint64_t)drift.low, own.end_tsc - own.begin_tsc,
					     moment->end_tsc - moment->begin_tsc);
		most.low = low < most.low ? low : most.low;
		most.high = drift.high > most.high ? drift.high : most.high;
	}
	return ahead ? most : offset_negate(most);
}

/* Returns the time between the two passes in which MOTION shows a movement of the pair. */
static struct moment
time_of_motion(const struct report_skew *skew, enum motion motion, size_t other, size_t rank)
{
	const struct offsets *from = motion == MOTION_STEP_LATE ? &skew->middle : &skew->offsets;
	const struct offsets *to = motion == MOTION_STEP_EARLY ? &skew->middle : &skew->latest;

	return (struct moment){ offsets_moment(from, other, rank).begin_tsc, offsets_moment(to, other, rank).end_tsc };
}

enum motion
view_motion(const struct view *view, size_t rank, bool ahead, struct moment *moment)
{
	const struct report_skew *skew = view->skew;
	size_t count[MOTION_UNEVEN + 1] = { 0 };
	struct moment moments[MOTION_UNEVEN + 1];

	for (enum motion i = MOTION_UNKNOWN; i <= MOTION_UNEVEN; i++)
		moments[i] = MOMENT_NEVER;
	for (size_t i = 0; i < skew->offsets.cores && skew->middle_measured; i++) {
		enum motion motion;

		if (!proves_drift(view, i, rank, ahead, UINT64_MAX))
			continue;
		motion = offsets_motion(&skew->offsets, &skew->middle, &skew->latest, i, rank);
		count[motion]++;
		moments[motion] = moment_hull(moments[motion], time_of_motion(skew, motion, i, rank));
	}
	for (enum motion i = MOTION_STEADY; i <= MOTION_UNEVEN; i++) {
		*moment = moments[i];
		if (2 * count[i] > skew->offsets.cores)
			return i;
	}
	return MOTION_UNKNOWN;
}

/* Marks the drifting cores in the report, and counts them. */
static void
find_drifts(struct view *view)
{
	struct report *report = view->report;
	struct report_skew *skew = view->skew;
	struct minority minority;

	skew->any_moved = false;
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].drifts = false;
	if (!skew->drift_measured)
		return;
	minority = minority_find(get_drift, view, view->drift_limit_ppb, skew->offsets.cores, skew->moved, skew->disputed);
	view->drifting = minority.outliers;
	skew->any_moved = minority.any_differs;
	for (size_t i = 0; i < skew->offsets.cores; i++) {
		struct report_core *core = &report->cores[skew->core_of[i]];
		struct moment moment;

		core->drifts = skew->moved[i];
		core->from_most = core->drifts ? view_drift_from_most(view, i, &moment) : (struct offset){ 0, 0 };
	}
}

/* ---- offsets ---- */

/* Returns true if the core belongs to the majority. */
static bool
is_in_majority(const struct view *view, size_t rank)
{
	return !view->outlier[rank] && !view_core(view, rank)->drifts;
}

/*
 * In a star schedule every core is measured against the boot core only. If the boot core's TSC steps midway, cores that
 * were measured before the step seem to differ from cores measured after it. The next pass shows whether they do.
 */

/* Returns the pass after the one in VIEW. */
static const struct offsets *
next_pass(const struct view *view)
{
	const struct report_skew *skew = view->skew;

	if (skew->middle_measured)
		return &skew->middle;
	return view->offsets == &skew->offsets ? &skew->latest : &skew->offsets;
}

/*
 * Returns true if the next pass confirms the offsets of all cores in a star schedule. It is not enough to confirm a
 * core that is off: the boot core may have stepped just before it measured that core, the last one. Returns false if
 * there is no other pass.
 */
static bool
next_pass_confirms(const struct view *view)
{
	const struct report_skew *skew = view->skew;
	const struct offsets *next = next_pass(view);

	if (!skew->drift_measured || skew->any_moved)
		return false;
	for (size_t i = 1; i < view->offsets->cores; i++)
		if (offset_gap(offsets_pair(view->offsets, 0, i), offsets_pair(next, 0, i)))
			return false;
	return true;
}

/*
 * Returns true if the next pass, too, proves that RANK differs from a core of the majority. A pass with wide intervals
 * is consistent with any offset, so consistency is not enough. Returns true for a pass of all pairs, and for the boot
 * core.
 */
static bool
next_pass_proves(const struct view *view, size_t rank)
{
	const struct offsets *next = next_pass(view);

	if (view->offsets->kind != PAIR_SCHEDULE_STAR || rank == 0)
		return true;
	for (size_t i = 1; i < view->offsets->cores; i++) {
		struct offset offset = ticks_to_ns(view, offsets_proven(next, i, rank));

		if (is_in_majority(view, i) && offset_min_size(offset) > view->offset_limit_ns)
			return true;
	}
	return false;
}

size_t
view_furthest(const struct view *view, size_t rank)
{
	size_t furthest = rank;
	uint64_t most_ticks = 0;

	for (size_t i = 0; i < view->offsets->cores; i++) {
		uint64_t ticks = offset_min_size(offsets_proven(view->offsets, i, rank));

		if (!is_in_majority(view, i) || ticks <= most_ticks)
			continue;
		most_ticks = ticks;
		furthest = i;
	}
	return furthest;
}

bool
view_is_off_majority(const struct view *view, size_t rank)
{
	return view->outlier[rank] && !view_core(view, rank)->drifts && !view->star_open && next_pass_proves(view, rank) &&
	       offset_min_size(view_offset(view, view_furthest(view, rank), rank)) > view->offset_limit_ns;
}

/* Returns true if a finding names the core. */
static bool
has_finding(const struct view *view, size_t rank)
{
	const struct report_core *core = view_core(view, rank);

	return core->steps_back || core->drifts || core->off_majority || view_is_off_majority(view, rank);
}

/* Returns the pair of cores without a finding that has the largest SIZE_OF, if that is above 0. */
static struct pair
find_odd_pair(const struct view *view, uint64_t (*size_of)(const struct view *view, size_t a, size_t b))
{
	struct pair odd = { 0, 0 };
	uint64_t worst = 0;

	for (size_t b = 1; b < view->offsets->cores; b++) {
		for (size_t a = 0; a < b && !has_finding(view, b); a++) {
			uint64_t size = size_of(view, a, b);

			if (size <= worst || has_finding(view, a))
				continue;
			worst = size;
			odd = (struct pair){ a, b };
		}
	}
	return odd;
}

/* Leaves out pairs that contradict all other pairs, because these have a finding of their own. */
static uint64_t
odd_offset_ticks(const struct view *view, size_t a, size_t b)
{
	bool is_odd = !offsets_moved(view->offsets, a, b) &&
		      offset_min_size(view_offset(view, a, b)) > view->offset_limit_ns;

	return is_odd ? offset_min_size(offsets_pair(view->offsets, a, b)) : 0;
}

static uint64_t
odd_drift_ppb(const struct view *view, size_t a, size_t b)
{
	uint64_t ppb = offset_min_size(view_drift(view, a, b));

	return ppb > view->drift_limit_ppb ? ppb : 0;
}

struct pair
view_pair_with_odd_offset(const struct view *view)
{
	return find_odd_pair(view, odd_offset_ticks);
}

struct pair
view_pair_with_odd_drift(const struct view *view)
{
	return view->skew->any_moved ? find_odd_pair(view, odd_drift_ppb) : (struct pair){ 0, 0 };
}

/*
 * Returns the largest offset with which cores count as synchronised. It is a few round trips or more, because no
 * smaller bound can be measured. But if messages wait because cores share a processor, such a limit would be of no use.
 */
static uint64_t
sync_limit_ns(const struct report *report)
{
	uint64_t limit_ns = rules_limit_of(report, "tsc-sync"), trips_ns = report->skew.best_trip_ns;

	if (limit_ns != rules_find("tsc-sync")->limit)
		return limit_ns;
	trips_ns = trips_ns < TRIPS_NS_MAX / TRIPS ? TRIPS * trips_ns : TRIPS_NS_MAX;
	return limit_ns < trips_ns ? trips_ns : limit_ns;
}

/* Marks the cores that are off the majority in the pass of VIEW. */
static void
mark_off_majority(const struct view *view)
{
	for (size_t i = 0; i < view->offsets->cores && !view->no_majority; i++) {
		struct report_core *core = &view->report->cores[view->skew->core_of[i]];
		bool was_off = core->drifts && view->outlier[i] && view->offsets == &view->skew->offsets;

		if (core->off_majority || (!was_off && !view_is_off_majority(view, i)))
			continue;
		core->off_majority = true;
		if (!view->skew->off_tsc)
			view->skew->off_tsc = view->offsets->end_tsc;
	}
}

/*
 * Decides whether the cores are synchronised: no core is off in the first or last pass, and no core moved until then.
 */
static void
decide_synchrony(const struct view *view)
{
	struct report_skew *skew = view->skew;
	uint64_t first = skew->summary.bound_ticks, latest = skew->drift_measured ? skew->latest_summary.bound_ticks : first;
	size_t off = 0, stepping = 0;

	for (size_t i = 0; i < skew->offsets.cores; i++) {
		off += view_core(view, i)->off_majority;
		stepping += view_core(view, i)->steps_back;
	}
	/* A warp proves that two TSCs once differed by more than the passes show. */
	skew->within_known = first != UINT64_MAX && latest != UINT64_MAX && !skew->any_moved && !stepping &&
			    !report_warps(skew) && !skew->summary.contradictions && !skew->latest_summary.contradictions;
	skew->within_ns = (uint64_t)view_size_ns(view, first > latest ? first : latest).high;
	skew->synchronised = skew->within_known && skew->drift_measured && !off && !skew->summary.no_majority &&
			     !skew->latest_summary.no_majority && skew->within_ns <= sync_limit_ns(view->report);
}

static bool
moves_against_a_member(const struct view *view, size_t rank)
{
	for (size_t i = 0; i < view->offsets->cores; i++)
		if (is_in_majority(view, i) && offset_min_size(view_drift(view, i, rank)) > view->drift_limit_ppb)
			return true;
	return false;
}

/*
 * Returns true if MEMBER and REPRESENTATIVE are proven to be nearer to each other than to RANK, and not proven to drift
 * against each other.
 */
static bool
are_nearer_than(const struct view *view, size_t representative, size_t member, size_t rank)
{
	uint64_t spread = representative == member ? 0 : offset_max_size(offsets_pair(view->offsets, representative, member));

	return offset_min_size(offsets_pair(view->offsets, representative, rank)) > spread &&
	       offset_min_size(offsets_pair(view->offsets, member, rank)) > spread &&
	       offset_min_size(view_drift(view, representative, member)) <= view->drift_limit_ppb;
}

/* Returns true if more than half of all cores are near one of them, and RANK is proven to be further from each. */
static bool
is_apart_from_majority(const struct view *view, size_t rank)
{
	for (size_t representative = 0; representative < view->offsets->cores; representative++) {
		size_t members = 0;

		for (size_t i = 0; i < view->offsets->cores; i++)
			members += i != rank && representative != rank && is_in_majority(view, i) &&
				   are_nearer_than(view, representative, i, rank);
		if (2 * members > view->offsets->cores)
			return true;
	}
	return false;
}

static bool
are_all_apart_from_majority(const struct view *view)
{
	size_t off = 0;

	for (size_t i = 0; i < view->offsets->cores; i++) {
		if (!view_is_off_majority(view, i))
			continue;
		if (!is_apart_from_majority(view, i))
			return false;
		off++;
	}
	return off > 0;
}

/*
 * Returns true if the majority exists only because its offsets are inexact: some of its cores are proven to drift
 * against each other, and the remaining ones are at most half of all cores. Returns false if each core that is off is
 * apart from one group of more than half of all cores, in which none drifts.
 */
static bool
is_majority_split(const struct view *view)
{
	size_t split = 0, united = 0;

	for (size_t i = 0; i < view->offsets->cores && view->skew->any_moved; i++) {
		bool moves = is_in_majority(view, i) && moves_against_a_member(view, i);

		split += moves;
		united += is_in_majority(view, i) && !moves;
	}
	return split && 2 * united <= view->offsets->cores && !are_all_apart_from_majority(view);
}

void
view_analyse(struct report *report, struct view *first, struct view *last)
{
	struct report_skew *skew = &report->skew;

	*first = (struct view){ .report = report, .skew = skew, .scale = report_scale(report),
				.offset_limit_ns = rules_limit_of(report, "tsc-offset"),
				.drift_limit_ppb = rules_limit_of(report, "tsc-drift"),
				.offsets = &skew->offsets, .outlier = skew->outlier, .summary = &skew->summary };
	find_drifts(first);
	*last = *first;
	last->offsets = &skew->latest;
	last->outlier = skew->latest_outlier;
	last->summary = &skew->latest_summary;
	first->star_open = skew->offsets.kind == PAIR_SCHEDULE_STAR && !next_pass_confirms(first);
	last->star_open = skew->latest.kind == PAIR_SCHEDULE_STAR && !next_pass_confirms(last);
	first->no_majority = skew->summary.no_majority || is_majority_split(first);
	last->no_majority = skew->latest_summary.no_majority || is_majority_split(last);
	skew->off_tsc = 0;
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].off_majority = false;
	mark_off_majority(first);
	mark_off_majority(last);
	decide_synchrony(first);
}
