/* Which core is off, from which others, and how far. See view.h. */
#include "view.h"

#include "minority.h"
#include "rules.h"

#define TRIPS     4 /* what counts as synchronised is no less than so many of the best round trip */
#define TICKS_MAX (INT64_C(1) << 60) /* what scale_ns_down() takes */

const struct report_core *
view_core(const struct view *view, size_t rank)
{
	return &view->report->cores[view->skew->core_of[rank]];
}

static struct distance
distance_of(struct offset offset)
{
	if (!offset_is_known(offset))
		return (struct distance){ .near = 0 };
	return (struct distance){ offset_nearest(offset), offset_farthest(offset), offset.low > 0 };
}

/* In a star two cores that had no ping-pong are not compared: the boot core between may be the one that moved. */
static struct offset
drift_from(const struct view *view, size_t other, size_t rank)
{
	const struct offsets *offsets = &view->skew->offsets;
	size_t a = other < rank ? other : rank, b = other < rank ? rank : other;
	struct offset drift;

	if (a == b || (offsets->kind == TOURNAMENT_STAR && a > 0))
		return OFFSET_UNKNOWN;
	drift = view->skew->drifts[tournament_index(offsets->kind, offsets->cores, a, b)];
	return other < rank ? drift : offset_negate(drift);
}

struct distance
view_drift_ppb(const struct view *view, size_t other, size_t rank)
{
	return distance_of(drift_from(view, other, rank));
}

static struct offset
ask(const void *context, size_t a, size_t b)
{
	return drift_from(context, a, b);
}

struct moment
view_moment(const struct view *view, size_t other, size_t rank)
{
	if (rank && other && view->offsets->kind == TOURNAMENT_STAR)
		return (struct moment){ view->offsets->begin_tsc, view->offsets->end_tsc };
	return offsets_moment(view->offsets, other, rank);
}

struct moment
view_last_moment(const struct view *view, size_t other, size_t rank)
{
	return offsets_moment(&view->skew->latest, other, rank);
}

/* From the first of the pair's ping-pongs to the last. */
static struct moment
whole_moment(const struct view *view, size_t other, size_t rank)
{
	return (struct moment){ offsets_moment(&view->skew->offsets, other, rank).begin_tsc,
				view_last_moment(view, other, rank).end_tsc };
}

/* Whether RANK is proven to move against OTHER, AHEAD or not, by an interval no wider than WIDTH. */
static bool
is_proof(const struct view *view, size_t other, size_t rank, bool ahead, uint64_t width)
{
	struct distance drift = view_drift_ppb(view, other, rank);

	return drift.near > view->drift_limit_ppb && drift.ahead == ahead && drift.far - drift.near <= width;
}

static size_t
count_proofs(const struct view *view, size_t rank, bool ahead, uint64_t width)
{
	size_t count = 0;

	for (size_t i = 0; i < view->skew->offsets.cores; i++)
		count += is_proof(view, i, rank, ahead, width);
	return count;
}

static uint64_t
width_of_most(const struct view *view, size_t rank, bool ahead)
{
	uint64_t width = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
		if (2 * count_proofs(view, rank, ahead, width + bit - 1) <= view->skew->offsets.cores)
			width += bit;
	return width;
}

/*
 * By the narrowest intervals of more than half. What moves by a step is slower over a longer time: the least is what it
 * is over all the time that these intervals are of.
 */
struct distance
view_drift_from_most(const struct view *view, size_t rank, struct moment *moment)
{
	size_t cores = view->skew->offsets.cores;
	bool ahead = 2 * count_proofs(view, rank, true, UINT64_MAX) > cores;
	uint64_t width = width_of_most(view, rank, ahead);
	struct distance most = { .near = UINT64_MAX, .ahead = ahead };

	*moment = (struct moment){ UINT64_MAX, 0 };
	for (size_t i = 0; i < cores; i++) {
		struct moment own = whole_moment(view, i, rank);

		if (!is_proof(view, i, rank, ahead, width))
			continue;
		moment->begin_tsc = own.begin_tsc < moment->begin_tsc ? own.begin_tsc : moment->begin_tsc;
		moment->end_tsc = own.end_tsc > moment->end_tsc ? own.end_tsc : moment->end_tsc;
	}
	for (size_t i = 0; i < cores; i++) {
		struct moment own = whole_moment(view, i, rank);
		struct distance drift = view_drift_ppb(view, i, rank);
		uint64_t near;

		if (!is_proof(view, i, rank, ahead, width))
			continue;
		near = scale_mul_div(drift.near, own.end_tsc - own.begin_tsc, moment->end_tsc - moment->begin_tsc);
		most.near = near < most.near ? near : most.near;
		most.far = drift.far > most.far ? drift.far : most.far;
	}
	return most;
}

enum motion
view_motion(const struct view *view, size_t rank, bool ahead, struct moment *moment)
{
	const struct report_skew *skew = view->skew;
	size_t count[MOTION_UNEVEN + 1] = { 0 };
	enum motion motion = MOTION_UNTOLD;

	for (size_t pass = 0; pass < 2 && skew->middle_measured; pass++) {
		*moment = (struct moment){ UINT64_MAX, 0 };
		for (size_t i = 0; i < skew->offsets.cores; i++) {
			enum motion own = is_proof(view, i, rank, ahead, UINT64_MAX) ?
				offsets_motion(&skew->offsets, &skew->middle, &skew->latest, i, rank) : MOTION_UNTOLD;
			struct moment from = offsets_moment(own == MOTION_STEP_LATE ? &skew->middle : &skew->offsets, i, rank);
			struct moment to = offsets_moment(own == MOTION_STEP_EARLY ? &skew->middle : &skew->latest, i, rank);

			count[own] += pass == 0;
			if (own != motion)
				continue;
			moment->begin_tsc = from.begin_tsc < moment->begin_tsc ? from.begin_tsc : moment->begin_tsc;
			moment->end_tsc = to.end_tsc > moment->end_tsc ? to.end_tsc : moment->end_tsc;
		}
		for (enum motion i = MOTION_STEADY; i <= MOTION_UNEVEN; i++)
			if (2 * count[i] > skew->offsets.cores)
				motion = i;
	}
	return motion;
}

static void
find_drifts(struct report *report, struct view *view)
{
	struct report_skew *skew = &report->skew;
	struct minority minority;

	skew->any_moved = false;
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].drifts = false;
	if (!skew->drift_measured)
		return;
	minority = minority_find(ask, view, view->drift_limit_ppb, skew->offsets.cores, skew->moved, skew->disputed);
	view->drifting = minority.outliers;
	skew->any_moved = minority.any_differs;
	for (size_t i = 0; i < skew->offsets.cores; i++) {
		struct report_core *core = &report->cores[skew->core_of[i]];
		struct distance distance = { .near = 0 };
		struct offset from_most;
		struct moment moment;

		if (skew->moved[i])
			distance = view_drift_from_most(view, i, &moment);
		from_most = (struct offset){ (int64_t)distance.near, (int64_t)distance.far };
		core->drifts = skew->moved[i];
		core->from_most = distance.ahead ? from_most : offset_negate(from_most);
	}
}

static struct offset
offset_from_most(const struct view *view, size_t rank, size_t *other)
{
	struct offset furthest = OFFSET_UNKNOWN;

	*other = 0;
	for (size_t i = 0; i < view->offsets->cores; i++) {
		struct offset offset = offsets_proven(view->offsets, i, rank);

		if (view->outlier[i] || view_core(view, i)->drifts || !offset_is_known(offset) ||
		    (offset_is_known(furthest) && offset_nearest(offset) <= offset_nearest(furthest)))
			continue;
		furthest = offset;
		*other = i;
	}
	return furthest;
}

static int64_t
bounded(uint64_t ticks)
{
	return ticks < (uint64_t)TICKS_MAX ? (int64_t)ticks : TICKS_MAX;
}

uint64_t
view_ns_down(const struct view *view, uint64_t ticks)
{
	return (uint64_t)scale_ns_down(&view->scale, bounded(ticks));
}

uint64_t
view_ns_up(const struct view *view, uint64_t ticks)
{
	return (uint64_t)scale_ns_up(&view->scale, bounded(ticks));
}

static struct distance
distance_ns(const struct view *view, struct offset offset)
{
	struct distance ticks = distance_of(offset);

	return (struct distance){ view_ns_down(view, ticks.near),
				  view_ns_up(view, ticks.far), ticks.ahead };
}

struct distance
view_offset_ns(const struct view *view, size_t rank, size_t *other)
{
	return distance_ns(view, offset_from_most(view, rank, other));
}

struct distance
view_pair_ns(const struct view *view, size_t other, size_t rank)
{
	return distance_ns(view, offsets_proven(view->offsets, other, rank));
}

/* In a star all are compared with the boot core: where anything moved, that may be it, and what differs is nobody's. */
bool
view_is_off(const struct view *view, size_t rank)
{
	size_t other;

	return view->outlier[rank] && !view_core(view, rank)->drifts &&
	       !(view->offsets->kind == TOURNAMENT_STAR && view->skew->any_moved) &&
	       view_offset_ns(view, rank, &other).near > view->offset_limit_ns;
}

static bool
is_named(const struct view *view, size_t rank)
{
	return view_core(view, rank)->drifts || view_core(view, rank)->off_majority || view_is_off(view, rank);
}

/* A pair that contradicts the rest is a finding of its own. */
struct odd_pair
view_odd_pair(const struct view *view)
{
	const struct offsets *offsets = view->offsets;
	struct odd_pair odd = { .found = false };
	uint64_t worst = 0;

	for (size_t b = 1; b < offsets->cores; b++) {
		for (size_t a = 0; a < b && !is_named(view, b); a++) {
			uint64_t ticks = offset_nearest(offsets_pair(offsets, a, b));

			if (!offset_is_known(offsets_pair(offsets, a, b)) || ticks <= worst ||
			    offsets_moved(offsets, a, b) || is_named(view, a) ||
			    view_pair_ns(view, a, b).near <= view->offset_limit_ns)
				continue;
			worst = ticks;
			odd = (struct odd_pair){ true, a, b };
		}
	}
	return odd;
}

struct odd_pair
view_odd_drift(const struct view *view)
{
	struct odd_pair odd = { .found = false };
	uint64_t worst = view->drift_limit_ppb;

	for (size_t b = 1; view->skew->any_moved && b < view->skew->offsets.cores; b++) {
		for (size_t a = 0; a < b && !is_named(view, b); a++) {
			uint64_t near = view_drift_ppb(view, a, b).near;

			if (near <= worst || is_named(view, a))
				continue;
			worst = near;
			odd = (struct odd_pair){ true, a, b };
		}
	}
	return odd;
}

/* What counts as synchronised: a bound that is no longer than a few messages take says nothing about the TSCs. */
static uint64_t
sync_limit_ns(const struct report *report)
{
	uint64_t limit_ns = rules_limit_of(report, "tsc-sync"), trips_ns = TRIPS * report->skew.best_trip_ns;

	return limit_ns == rules_find("tsc-sync")->limit && limit_ns < trips_ns ? trips_ns : limit_ns;
}

static void
mark_off(struct report *report, const struct view *view)
{
	for (size_t i = 0; i < view->offsets->cores && !view->no_majority; i++) {
		struct report_core *core = &report->cores[report->skew.core_of[i]];

		bool was_off = core->drifts && view->outlier[i] && view->offsets == &view->skew->offsets;

		if (core->off_majority || (!was_off && !view_is_off(view, i)))
			continue;
		core->off_majority = true;
		if (!report->skew.off_tsc)
			report->skew.off_tsc = view->offsets->end_tsc;
	}
}

/* In the first tournament and in the last, with nobody off or moving in either or between them. */
static void
decide_synchrony(struct report *report, const struct view *view)
{
	struct report_skew *skew = &report->skew;
	uint64_t first = skew->summary.bound_ticks, latest = skew->drift_measured ? skew->latest_summary.bound_ticks : first;
	size_t off = 0;

	for (size_t i = 0; i < skew->offsets.cores; i++)
		off += view_core(view, i)->off_majority;
	/* A warp shows that some core's TSC was further from another's, at another moment, than the tournaments say. */
	skew->within_known = first != UINT64_MAX && latest != UINT64_MAX && !skew->any_moved && !report_warps(skew) &&
			    !skew->summary.contradictions && !skew->latest_summary.contradictions;
	skew->within_ns = view_ns_up(view, first > latest ? first : latest);
	skew->synchronised = skew->within_known && skew->drift_measured && !off && !skew->summary.no_majority &&
			     !skew->latest_summary.no_majority && skew->within_ns <= sync_limit_ns(report);
}

struct view
view_latest(const struct view *view)
{
	struct view latest = *view;

	latest.offsets = &view->skew->latest;
	latest.outlier = view->skew->latest_outlier;
	latest.no_majority = view->skew->latest_summary.no_majority;
	return latest;
}

struct view
view_of(struct report *report)
{
	struct report_skew *skew = &report->skew;
	struct view view = { .report = report, .skew = skew,
			     .offset_limit_ns = rules_limit_of(report, "tsc-offset"),
			     .drift_limit_ppb = rules_limit_of(report, "tsc-drift"),
			     .offsets = &skew->offsets, .outlier = skew->outlier,
			     .no_majority = skew->summary.no_majority }, latest = view_latest(&view);

	view.scale = latest.scale = report_scale(report);
	find_drifts(report, &view);
	skew->off_tsc = 0;
	for (size_t i = 0; i < report->core_count; i++)
		report->cores[i].off_majority = false;
	mark_off(report, &view);
	mark_off(report, &latest);
	decide_synchrony(report, &view);
	return view;
}
