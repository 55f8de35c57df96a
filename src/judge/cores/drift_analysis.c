/* Drift analysis: finds which cores drift, how fast, and whether steadily or by a step. See offset_analysis.h. */
#include "judge/cores/offset_analysis.h"

#include "sync/outliers.h"

/*
 * Returns the drift of RANK against OTHER. In a star schedule each core is measured against the boot core only. Two
 * other cores are not compared then, because the boot core may have moved.
 */
static struct offset
drift_from(const struct view *view, size_t other, size_t rank)
{
	const struct offsets *offsets = &view->skew->offsets;
	size_t a = other < rank ? other : rank, b = other < rank ? rank : other;
	struct offset drift;

	if (a == b || (offsets->kind == PAIR_SCHEDULE_STAR && a > 0))
		return OFFSET_UNKNOWN;
	drift = view->skew->drifts[pair_schedule_index(offsets->kind, offsets->cores, a, b)];
	return other < rank ? drift : offset_negate(drift);
}

struct distance
view_drift_ppb(const struct view *view, size_t other, size_t rank)
{
	return view_distance(drift_from(view, other, rank));
}

static struct offset
get_drift(const void *context, size_t a, size_t b)
{
	return drift_from(context, a, b);
}

struct moment
view_pass_time(const struct view *view, size_t other, size_t rank)
{
	if (rank && other && view->offsets->kind == PAIR_SCHEDULE_STAR)
		return (struct moment){ view->offsets->begin_tsc, view->offsets->end_tsc };
	return offsets_moment(view->offsets, other, rank);
}

struct moment
view_last_pass_time(const struct view *view, size_t other, size_t rank)
{
	return offsets_moment(&view->skew->latest, other, rank);
}

/* Returns the time from the pair's measurement in the first pass to its measurement in the last pass. */
static struct moment
time_between_passes(const struct view *view, size_t other, size_t rank)
{
	return (struct moment){ offsets_moment(&view->skew->offsets, other, rank).begin_tsc,
				view_last_pass_time(view, other, rank).end_tsc };
}

/*
 * Returns true if an interval of at most WIDTH ppb proves that RANK drifts against OTHER: faster if AHEAD, otherwise
 * slower.
 */
static bool
proves_drift(const struct view *view, size_t other, size_t rank, bool ahead, uint64_t width)
{
	struct distance drift = view_drift_ppb(view, other, rank);

	return drift.near > view->drift_limit_ppb && drift.ahead == ahead && drift.far - drift.near <= width;
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
struct distance
view_drift_from_most(const struct view *view, size_t rank, struct moment *moment)
{
	size_t cores = view->skew->offsets.cores;
	bool ahead = 2 * count_proofs(view, rank, true, UINT64_MAX) > cores;
	uint64_t width = width_for_majority(view, rank, ahead);
	struct distance most = { .near = UINT64_MAX, .ahead = ahead };

	*moment = (struct moment){ UINT64_MAX, 0 };
	for (size_t i = 0; i < cores; i++) {
		struct moment own = time_between_passes(view, i, rank);

		if (!proves_drift(view, i, rank, ahead, width))
			continue;
		moment->begin_tsc = own.begin_tsc < moment->begin_tsc ? own.begin_tsc : moment->begin_tsc;
		moment->end_tsc = own.end_tsc > moment->end_tsc ? own.end_tsc : moment->end_tsc;
	}
	for (size_t i = 0; i < cores; i++) {
		struct moment own = time_between_passes(view, i, rank);
		struct distance drift = view_drift_ppb(view, i, rank);
		uint64_t near;

		if (!proves_drift(view, i, rank, ahead, width))
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
	enum motion motion = MOTION_UNKNOWN;

	for (size_t pass = 0; pass < 2 && skew->middle_measured; pass++) {
		*moment = (struct moment){ UINT64_MAX, 0 };
		for (size_t i = 0; i < skew->offsets.cores; i++) {
			enum motion own = proves_drift(view, i, rank, ahead, UINT64_MAX) ?
				offsets_motion(&skew->offsets, &skew->middle, &skew->latest, i, rank) : MOTION_UNKNOWN;
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
