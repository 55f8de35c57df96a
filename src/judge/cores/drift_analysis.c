/* Drift analysis: finds which cores drift, how fast, and whether steadily or by a step. See offset_analysis.h. */
#include "judge/cores/offset_analysis.h"

#include "sync/outliers.h"

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

void
view_find_drifts(struct report *report, struct view *view)
{
	struct report_skew *skew = &report->skew;
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
