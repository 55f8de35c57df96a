/* Intervals of offsets, the pairs that have them, and their change. See offsets.h. */
#include "offsets.h"

#include "scale.h"

#define PPB UINT64_C(1000000000)

void
offsets_clear(struct offsets *offsets)
{
	size_t pairs = tournament_pairs(offsets->kind, offsets->players);

	for (size_t i = 0; i < pairs; i++)
		offsets->pairs[i] = OFFSET_UNKNOWN;
	for (size_t i = 0; offsets->moved_ticks && i < pairs; i++)
		offsets->moved_ticks[i] = 0;
}

/* In a star nobody but player 0 meets the others: their pairs have no place. */
static bool
has_place(const struct offsets *offsets, size_t a, size_t b)
{
	return a != b && (offsets->kind == TOURNAMENT_ALL || a == 0 || b == 0);
}

static size_t
place(const struct offsets *offsets, size_t a, size_t b)
{
	return tournament_index(offsets->kind, offsets->players, a < b ? a : b, a < b ? b : a);
}

struct offset
offsets_pair(const struct offsets *offsets, size_t a, size_t b)
{
	if (a == b)
		return (struct offset){ 0, 0 };
	if (!has_place(offsets, a, b))
		return OFFSET_UNKNOWN;

	struct offset offset = offsets->pairs[place(offsets, a, b)];

	return a < b ? offset : offset_negate(offset);
}

void
offsets_set(struct offsets *offsets, size_t a, size_t b, struct offset offset)
{
	if (has_place(offsets, a, b))
		offsets->pairs[place(offsets, a, b)] = a < b ? offset : offset_negate(offset);
}

uint64_t
offsets_moved(const struct offsets *offsets, size_t a, size_t b)
{
	return offsets->moved_ticks && has_place(offsets, a, b) ? offsets->moved_ticks[place(offsets, a, b)] : 0;
}

void
offsets_note_moved(struct offsets *offsets, size_t a, size_t b, uint64_t ticks)
{
	if (offsets->moved_ticks && offsets_moved(offsets, a, b) < ticks && has_place(offsets, a, b))
		offsets->moved_ticks[place(offsets, a, b)] = ticks;
}

static int64_t
negate(int64_t bound)
{
	if (bound == INT64_MIN)
		return INT64_MAX;
	return bound == INT64_MAX ? INT64_MIN : -bound;
}

struct offset
offset_negate(struct offset offset)
{
	return (struct offset){ negate(offset.high), negate(offset.low) };
}

/* UNBOUNDED, INT64_MIN for a lower bound and INT64_MAX for an upper one, swallows whatever is added to it. */
static int64_t
add(int64_t a, int64_t b, int64_t unbounded)
{
	int64_t sum;

	if (a == unbounded || b == unbounded)
		return unbounded;
	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

struct offset
offset_add(struct offset a, struct offset b)
{
	return (struct offset){ add(a.low, b.low, INT64_MIN), add(a.high, b.high, INT64_MAX) };
}

struct offset
offset_intersect(struct offset a, struct offset b)
{
	return (struct offset){ a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high };
}

struct offset
offset_settle(struct offset own, struct offset picture)
{
	struct offset both = offset_intersect(own, picture);

	return both.low > both.high ? picture : both;
}

uint64_t
offset_gap(struct offset a, struct offset b)
{
	struct offset both = offset_intersect(a, b);

	return both.low > both.high ? (uint64_t)both.low - (uint64_t)both.high : 0;
}

bool
offset_is_known(struct offset offset)
{
	return offset.low != INT64_MIN && offset.high != INT64_MAX;
}

bool
offset_excludes_zero(struct offset offset)
{
	return offset.low > 0 || offset.high < 0;
}

uint64_t
offset_nearest(struct offset offset)
{
	if (offset.low > 0)
		return (uint64_t)offset.low;
	return offset.high < 0 ? -(uint64_t)offset.high : 0;
}

uint64_t
offset_farthest(struct offset offset)
{
	uint64_t low = offset.low < 0 ? -(uint64_t)offset.low : (uint64_t)offset.low;
	uint64_t high = offset.high < 0 ? -(uint64_t)offset.high : (uint64_t)offset.high;

	return low > high ? low : high;
}

static int64_t
clamp(uint64_t magnitude)
{
	return magnitude > INT64_MAX ? INT64_MAX : (int64_t)magnitude;
}

/* TICKS in SHORTEST to LONGEST ticks, as parts per 10^9, the least that it can be. */
static int64_t
least_ppb(int64_t ticks, uint64_t shortest, uint64_t longest)
{
	if (ticks >= 0)
		return clamp(scale_mul_div((uint64_t)ticks, PPB, longest));
	return negate(clamp(scale_mul_div_up(-(uint64_t)ticks, PPB, shortest)));
}

struct drift
offsets_drift(struct offset earlier, const struct offsets *earlier_of, struct offset later,
	      const struct offsets *later_of)
{
	struct offset moved = offset_add(later, offset_negate(earlier));
	uint64_t shortest = later_of->begin_tsc - earlier_of->end_tsc;
	uint64_t longest = later_of->end_tsc - earlier_of->begin_tsc;

	if (!offset_is_known(moved) || later_of->begin_tsc <= earlier_of->end_tsc || longest < shortest)
		return (struct drift){ INT64_MIN, INT64_MAX };
	return (struct drift){ least_ppb(moved.low, shortest, longest),
			       negate(least_ppb(negate(moved.high), shortest, longest)) };
}
