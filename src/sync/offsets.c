/*
 * Stores the offsets of pairs of cores, and calculates how they change from one measurement pass to the next. See
 * offsets.h.
 */
#include "sync/offsets.h"

#include "base/scale.h"
#include "base/units.h"

void
offsets_clear(struct offsets *offsets)
{
	size_t pairs = pair_schedule_count_pairs(offsets->kind, offsets->cores);

	for (size_t i = 0; i < pairs; i++)
		offsets->pairs[i] = OFFSET_UNKNOWN;
	for (size_t i = 0; i < pairs; i++)
		offsets->moved_ticks[i] = 0;
	for (size_t i = 0; offsets->moments && i < pairs; i++)
		offsets->moments[i] = (struct moment){ 0, 0 };
}

/*
 * Returns true if the array has an entry for the pair A, B. In a star schedule only pairs with the boot core have
 * one.
 */
static bool
has_pair_entry(const struct offsets *offsets, size_t a, size_t b)
{
	return a != b && (offsets->kind == PAIR_SCHEDULE_ALL || a == 0 || b == 0);
}

static size_t
pair_index(const struct offsets *offsets, size_t a, size_t b)
{
	return pair_schedule_index_of_pair(offsets->kind, offsets->cores, a < b ? a : b, a < b ? b : a);
}

struct offset
offsets_get_offset(const struct offsets *offsets, size_t a, size_t b)
{
	if (a == b)
		return (struct offset){ 0, 0 };
	if (!has_pair_entry(offsets, a, b))
		return OFFSET_UNKNOWN;

	struct offset offset = offsets->pairs[pair_index(offsets, a, b)];

	return a < b ? offset : offset_negate(offset);
}

struct offset
offsets_get_proven_offset(const struct offsets *offsets, size_t a, size_t b)
{
	if (!a || !b || a == b || offsets->kind == PAIR_SCHEDULE_ALL)
		return offsets_get_offset(offsets, a, b);
	return offset_add(offsets_get_offset(offsets, 0, b), offset_negate(offsets_get_offset(offsets, 0, a)));
}

uint64_t
offsets_get_movement_ticks(const struct offsets *offsets, size_t a, size_t b)
{
	return has_pair_entry(offsets, a, b) ? offsets->moved_ticks[pair_index(offsets, a, b)] : 0;
}

void
offsets_record_movement(struct offsets *offsets, size_t a, size_t b, uint64_t ticks)
{
	if (offsets_get_movement_ticks(offsets, a, b) < ticks && has_pair_entry(offsets, a, b))
		offsets->moved_ticks[pair_index(offsets, a, b)] = ticks;
}

/*
 * Returns the lower bound of the drift in ppb, if the offset changed by TICKS in a time of SHORTEST to LONGEST ticks.
 */
static int64_t
drift_lower_bound_ppb(int64_t ticks, uint64_t shortest, uint64_t longest)
{
	if (ticks >= 0)
		return offset_clamp(scale_mul_div((uint64_t)ticks, PPB, longest));
	return offset_negate_bound(offset_clamp(scale_mul_div_up(-(uint64_t)ticks, PPB, shortest)));
}

struct moment
offsets_get_time_of_pair(const struct offsets *offsets, size_t a, size_t b)
{
	struct moment whole = { offsets->begin_tsc, offsets->end_tsc };

	if (!offsets->moments || !has_pair_entry(offsets, a, b) || !offsets->moments[pair_index(offsets, a, b)].end_tsc)
		return whole;
	return offsets->moments[pair_index(offsets, a, b)];
}

bool
offsets_add_pingpong(struct offsets *offsets, size_t a, size_t b, struct offset offset, uint64_t moved_ticks,
	     struct moment moment)
{
	size_t i = pair_index(offsets, a, b);
	uint64_t gap_ticks = offset_gap_between(offsets->pairs[i], offset), *moved = &offsets->moved_ticks[i];
	bool is_first = !offset_is_known(offsets->pairs[i]) && !*moved;

	moved_ticks = gap_ticks > moved_ticks ? gap_ticks : moved_ticks;
	*moved = moved_ticks > *moved ? moved_ticks : *moved;
	if (gap_ticks || !offset_is_known(offset) || offset_width(offset) > offset_width(offsets->pairs[i]))
		return is_first;
	offsets->pairs[i] = offset;
	if (offsets->moments)
		offsets->moments[i] = moment;
	return is_first;
}

struct offset
offsets_drift_ppb(const struct offsets *earlier, const struct offsets *later, size_t a, size_t b)
{
	struct offset moved = offset_add(offsets_get_offset(later, a, b),
					 offset_negate(offsets_get_offset(earlier, a, b)));
	struct moment from = offsets_get_time_of_pair(earlier, a, b), to = offsets_get_time_of_pair(later, a, b);
	uint64_t shortest = to.begin_tsc - from.end_tsc, longest = to.end_tsc - from.begin_tsc;

	if (!offset_is_known(moved) || to.begin_tsc <= from.end_tsc || longest < shortest)
		return (struct offset){ INT64_MIN, INT64_MAX };
	return (struct offset){ drift_lower_bound_ppb(moved.low, shortest, longest),
			       offset_negate_bound(drift_lower_bound_ppb(offset_negate_bound(moved.high), shortest, longest)) };
}

/*
 * Returns the value between FROM and TO at the fraction PART (0 to 1) of their distance. Rounds up if UP is true,
 * otherwise down.
 */
static int64_t
interpolate(int64_t from, int64_t to, struct rate part, bool up)
{
	bool rises = to >= from;
	uint64_t whole = rises ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
	uint64_t done = up == rises ? scale_mul_div_up(whole, part.num, part.den) : scale_mul_div(whole, part.num, part.den);

	return (int64_t)(rises ? (uint64_t)from + done : (uint64_t)from - done);
}

/*
 * Returns the offset that a constant drift predicts for the time MIDDLE. The pair's offset was FROM at the time
 * FIRST, and TO at the time LAST. Each time is an interval, and the result contains the offset for every time in
 * these intervals.
 */
static struct offset
offset_predicted_by_drift(struct offset from, struct moment first, struct offset to, struct moment last,
			  struct moment middle)
{
	struct rate least = { middle.begin_tsc - first.end_tsc, last.end_tsc - first.end_tsc };
	struct rate most = { middle.end_tsc - first.begin_tsc, last.begin_tsc - first.begin_tsc };

	return (struct offset){ interpolate(from.low, to.low, to.low >= from.low ? least : most, false),
				interpolate(from.high, to.high, to.high >= from.high ? most : least, true) };
}

enum motion
offsets_classify_motion(const struct offsets *first, const struct offsets *middle, const struct offsets *last, size_t a,
			size_t b)
{
	struct offset from = offsets_get_offset(first, a, b), now = offsets_get_offset(middle, a, b);
	struct offset to = offsets_get_offset(last, a, b);
	struct moment begin = offsets_get_time_of_pair(first, a, b), at = offsets_get_time_of_pair(middle, a, b);
	struct moment end = offsets_get_time_of_pair(last, a, b);
	bool early = offset_gap_between(from, now) > 0, late = offset_gap_between(now, to) > 0;
	bool in_order = begin.end_tsc < at.begin_tsc && at.end_tsc < end.begin_tsc;

	if (!offset_is_known(from) || !offset_is_known(now) || !offset_is_known(to) || !in_order)
		return MOTION_UNKNOWN;
	if (!offset_gap_between(offset_predicted_by_drift(from, begin, to, end, at), now))
		return early && late ? MOTION_STEADY : MOTION_UNKNOWN;
	if (early && late)
		return MOTION_UNEVEN;
	return early ? MOTION_STEP_EARLY : late ? MOTION_STEP_LATE : MOTION_UNKNOWN;
}
