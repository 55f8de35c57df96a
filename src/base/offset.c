/* Arithmetic on intervals. See offset.h. */
#include "base/offset.h"

int64_t
offset_negate_bound(int64_t bound)
{
	if (bound == INT64_MIN)
		return INT64_MAX;
	return bound == INT64_MAX ? INT64_MIN : -bound;
}

struct offset
offset_negate(struct offset offset)
{
	return (struct offset){ offset_negate_bound(offset.high), offset_negate_bound(offset.low) };
}

/* Returns A + B. The value UNBOUNDED means an unknown bound. If A or B is UNBOUNDED, the result is UNBOUNDED. */
static int64_t
add_bounds(int64_t a, int64_t b, int64_t unbounded)
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
	return (struct offset){ add_bounds(a.low, b.low, INT64_MIN), add_bounds(a.high, b.high, INT64_MAX) };
}

struct offset
offset_intersect(struct offset a, struct offset b)
{
	return (struct offset){ a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high };
}

struct offset
offset_hull(struct offset a, struct offset b)
{
	if (!offset_is_known(a) || !offset_is_known(b))
		return offset_is_known(a) ? a : b;
	return (struct offset){ a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high };
}

uint64_t
offset_gap_between(struct offset a, struct offset b)
{
	struct offset both = offset_intersect(a, b);

	return both.low > both.high ? (uint64_t)both.low - (uint64_t)both.high : 0;
}

bool
offset_is_known(struct offset offset)
{
	return offset.low != INT64_MIN && offset.high != INT64_MAX;
}

int64_t
offset_middle(struct offset offset)
{
	return offset.low + (int64_t)(((__int128)offset.high - offset.low) / 2);
}

uint64_t
offset_width(struct offset offset)
{
	return offset_is_known(offset) ? (uint64_t)offset.high - (uint64_t)offset.low : UINT64_MAX;
}

bool
offset_excludes_zero(struct offset offset)
{
	return offset.low > 0 || offset.high < 0;
}

uint64_t
offset_min_abs(struct offset offset)
{
	if (offset.low > 0)
		return (uint64_t)offset.low;
	return offset.high < 0 ? -(uint64_t)offset.high : 0;
}

uint64_t
offset_max_abs(struct offset offset)
{
	uint64_t low = offset_abs(offset.low), high = offset_abs(offset.high);

	return low > high ? low : high;
}

bool
offset_is_worse(struct offset offset, struct offset than)
{
	uint64_t nearest = offset_min_abs(offset), than_nearest = offset_min_abs(than);

	if (!offset_is_known(than))
		return true;
	if (nearest != than_nearest)
		return nearest > than_nearest;
	return offset_max_abs(offset) > offset_max_abs(than);
}
