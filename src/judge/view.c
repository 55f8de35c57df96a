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

struct distance
view_drift_ppb(const struct view *view, size_t other, size_t rank)
{
	const struct offsets *offsets = &view->skew->offsets;
	size_t a = other < rank ? other : rank, b = other < rank ? rank : other;
	struct offset drift;

	if (a == b || (offsets->kind == TOURNAMENT_STAR && a > 0))
		return (struct distance){ .near = 0 };
	drift = view->skew->drifts[tournament_index(offsets->kind, offsets->cores, a, b)];
	return distance_of(other < rank ? drift :
					  offset_negate(drift));
}

/* In a star two cores that had no ping-pong are not compared: the boot core between may be the one that moved. */
static enum minority_pair
ask(const void *context, size_t a, size_t b)
{
	const struct view *view = context;
	struct distance distance = view_drift_ppb(view, a, b);

	if (distance.far == 0)
		return MINORITY_UNKNOWN;
	return distance.near > view->drift_limit_ppb ? MINORITY_DIFFERS : MINORITY_OPEN;
}

/* RANK against whichever core that is in order it is proven to differ from the most. */
static struct distance
drift_from_most(const struct view *view, size_t rank)
{
	struct distance furthest = { .near = 0 };

	for (size_t i = 0; i < view->skew->offsets.cores; i++) {
		struct distance distance = view_drift_ppb(view, i, rank);

		if (!view->skew->disputed[i] && distance.near > furthest.near)
			furthest = distance;
	}
	return furthest;
}

static void
find_worst_drift(struct view *view)
{
	size_t cores = view->skew->offsets.cores;
	uint64_t worst = 0;

	for (size_t b = 1; b < cores; b++) {
		for (size_t a = 0; a < b; a++) {
			uint64_t near = view_drift_ppb(view, a, b).near;

			if (near <= worst)
				continue;
			worst = near;
			view->drift_a = a;
			view->drift_b = b;
		}
	}
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
	minority = minority_find(ask, view, skew->offsets.cores, skew->moved, skew->disputed);
	view->drifting = minority.outliers;
	skew->any_moved = minority.any_differs;
	view->no_drift_majority = minority.any_differs && !minority.outliers;
	find_worst_drift(view);
	for (size_t i = 0; i < skew->offsets.cores; i++) {
		struct report_core *core = &report->cores[skew->core_of[i]];
		struct distance distance = drift_from_most(view, i);
		struct offset from_most = { (int64_t)distance.near, (int64_t)distance.far };

		if (!distance.ahead)
			from_most = offset_negate(from_most);
		core->drifts = skew->moved[i];
		core->from_most = from_most;
	}
}

/* RANK against OTHER: by their own ping-pongs, and by their places only where there were none. */
static struct offset
offset_from(const struct view *view, size_t other, size_t rank)
{
	struct offset own = offsets_pair(&view->skew->offsets, other, rank);

	if (offset_is_known(own))
		return own;
	return offset_add(view_core(view, rank)->offset, offset_negate(view_core(view, other)->offset));
}

static struct offset
offset_from_most(const struct view *view, size_t rank, size_t *other)
{
	struct offset furthest = OFFSET_UNKNOWN;

	*other = 0;
	for (size_t i = 0; i < view->skew->offsets.cores; i++) {
		struct offset offset = offset_from(view, i, rank);

		if (view->skew->outlier[i] || view_core(view, i)->drifts || !offset_is_known(offset) ||
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
	return distance_ns(view, offset_from(view, other, rank));
}

bool
view_is_off(const struct view *view, size_t rank)
{
	size_t other;

	return view->skew->outlier[rank] && !view_core(view, rank)->drifts &&
	       view_offset_ns(view, rank, &other).near > view->offset_limit_ns;
}

/* What counts as synchronised: a bound that is no longer than a few messages take says nothing about the TSCs. */
static uint64_t
sync_limit_ns(const struct report *report)
{
	uint64_t limit_ns = rules_limit_of(report, "tsc-sync"), trips_ns = TRIPS * report->skew.best_trip_ns;

	return limit_ns == rules_find("tsc-sync")->limit && limit_ns < trips_ns ? trips_ns : limit_ns;
}

/* In the first tournament and in the last, with nobody off or moving in either or between them. */
static void
decide_synchrony(struct report *report, const struct view *view)
{
	struct report_skew *skew = &report->skew;
	uint64_t first = skew->summary.bound_ticks, latest = skew->drift_measured ? skew->latest_bound_ticks : first;
	size_t off = 0;

	for (size_t i = 0; i < skew->offsets.cores; i++)
		off += view_core(view, i)->off_majority;
	skew->within_known = first != UINT64_MAX && latest != UINT64_MAX;
	skew->within_ns = view_ns_up(view, first > latest ? first : latest);
	skew->synchronised = skew->within_known && skew->drift_measured && !off && !skew->any_moved && !skew->summary.no_majority &&
			     !skew->summary.contradictions && skew->within_ns <= sync_limit_ns(report);
}

struct view
view_of(struct report *report)
{
	struct report_skew *skew = &report->skew;
	struct view view = { .report = report, .skew = skew,
			     .offset_limit_ns = rules_limit_of(report, "tsc-offset"),
			     .drift_limit_ppb = rules_limit_of(report, "tsc-drift") };

	view.scale = report_scale(report);
	find_drifts(report, &view);
	for (size_t i = 0; i < skew->offsets.cores; i++)
		report->cores[skew->core_of[i]].off_majority = !skew->summary.no_majority &&
			((skew->outlier[i] && view_core(&view, i)->drifts) || view_is_off(&view, i));
	decide_synchrony(report, &view);
	return view;
}
