/* Which core is off, from which others, and how far. See view.h. */
#include "view.h"

#include "marzullo.h"
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

static struct offset
drift_of(const void *report_context, size_t rank)
{
	const struct report *report = report_context;

	return report->cores[report->skew.core_of[rank]].drift_ppb;
}

struct distance
view_drift_ppb(const struct view *view, size_t rank)
{
	return distance_of(offset_add(drift_of(view->report, rank), offset_negate(view->skew->most_drift_ppb)));
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

/* What most cores' drifts share; 0 where there is no majority. */
static void
find_most_drift(struct view *view, struct report_skew *skew)
{
	struct marzullo majority = marzullo_find(drift_of, view->report, skew->offsets.cores, skew->offsets.cores);

	view->no_drift_majority = majority.tied;
	if (!majority.tied && majority.voters)
		skew->most_drift_ppb = majority.shared;
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
		off += view_core(view, i)->off_majority || view_core(view, i)->drifts;
	skew->within_known = first != UINT64_MAX && latest != UINT64_MAX;
	skew->within_ns = view_ns_up(view, first > latest ? first : latest);
	skew->synchronised = skew->within_known && skew->drift_measured && !off && !skew->summary.no_majority &&
			     !skew->summary.contradictions && skew->within_ns <= sync_limit_ns(report);
}

struct view
view_of(struct report *report)
{
	struct report_skew *skew = &report->skew;
	struct view view = { .report = report, .skew = skew,
			     .offset_limit_ns = rules_limit_of(report, "tsc-offset"),
			     .drift_limit_ppb = rules_limit_of(report, "tsc-drift") };

	scale_init(&view.scale, report->tsc);
	skew->most_drift_ppb = (struct offset){ 0, 0 };
	if (skew->drift_measured)
		find_most_drift(&view, skew);
	for (size_t i = 0; i < skew->offsets.cores; i++) {
		struct report_core *core = &report->cores[skew->core_of[i]];

		core->drifts = skew->drift_measured && view_drift_ppb(&view, i).near > view.drift_limit_ppb;
		view.drifting += core->drifts;
	}
	for (size_t i = 0; i < skew->offsets.cores; i++)
		report->cores[skew->core_of[i]].off_majority = !skew->summary.no_majority &&
			((skew->outlier[i] && view_core(&view, i)->drifts) || view_is_off(&view, i));
	decide_synchrony(report, &view);
	return view;
}
