/* Checks whether another pass confirms the offsets of a boot-core-only pass. See star.h. */
#include "judge/cores/star.h"

static const struct offsets *
next_tournament(const struct view *view)
{
	const struct report_skew *skew = view->skew;

	if (skew->middle_measured)
		return &skew->middle;
	return view->offsets == &skew->offsets ? &skew->latest : &skew->offsets;
}

bool
star_is_confirmed(const struct view *view)
{
	const struct report_skew *skew = view->skew;
	const struct offsets *next = next_tournament(view);

	if (!skew->drift_measured || skew->any_moved)
		return false;
	for (size_t i = 1; i < view->offsets->cores; i++)
		if (offset_gap(offsets_pair(view->offsets, 0, i), offsets_pair(next, 0, i)))
			return false;
	return true;
}

bool
star_tells(const struct view *view, size_t rank)
{
	const struct offsets *next = next_tournament(view);

	if (view->offsets->kind != TOURNAMENT_STAR || rank == 0)
		return true;
	for (size_t i = 1; i < view->offsets->cores; i++) {
		uint64_t ticks = view_distance(offsets_proven(next, i, rank)).near;

		if (!view->outlier[i] && !view_core(view, i)->drifts && view_ns_down(view, ticks) > view->offset_limit_ns)
			return true;
	}
	return false;
}
