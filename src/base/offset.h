/* Intervals for the difference between two counters, or for their drift, and arithmetic on these intervals. */
#ifndef BARETICK_OFFSET_H
#define BARETICK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * An offset in ticks or a drift in ppb, from `low` to `high`. INT64_MIN and INT64_MAX mean that the lower or upper
 * bound is unknown.
 */
struct offset {
	int64_t low, high;
};

#define OFFSET_UNKNOWN ((struct offset){ INT64_MIN, INT64_MAX })

/* Arithmetic on intervals. An unknown bound stays unknown. Results are limited to the range of int64_t. */
int64_t offset_negate_bound(int64_t bound); /* returns -BOUND; INT64_MIN becomes INT64_MAX, and vice versa */
struct offset offset_negate(struct offset offset);
struct offset offset_add(struct offset a, struct offset b);
/* the result has low > high if the intervals do not overlap */
struct offset offset_intersect(struct offset a, struct offset b);
/* returns the smallest interval that contains A and B; returns the other one if a bound of A or B is unknown */
struct offset offset_hull(struct offset a, struct offset b);
/* returns the distance between the intervals; 0 if they overlap */
uint64_t offset_gap_between(struct offset a, struct offset b);
bool offset_is_known(struct offset offset); /* returns true if both bounds are known */
int64_t offset_middle(struct offset offset); /* rounded down if LOW <= HIGH */
uint64_t offset_width(struct offset offset); /* returns high - low; UINT64_MAX if a bound is unknown */
bool offset_excludes_zero(struct offset offset);
uint64_t offset_min_abs(struct offset offset);  /* returns the smallest absolute value in the interval */
uint64_t offset_max_abs(struct offset offset); /* returns the largest absolute value in the interval */

/*
 * Returns true if OFFSET is worse than THAN: its smallest absolute value is larger or, if these are equal, its largest
 * absolute value. Any offset is worse than an unknown one.
 */
bool offset_is_worse(struct offset offset, struct offset than);

/* Returns the absolute value of a bound. */
static inline uint64_t
offset_abs(int64_t bound)
{
	return bound < 0 ? -(uint64_t)bound : (uint64_t)bound;
}

/* Returns SIZE, or INT64_MAX if SIZE is larger. */
static inline int64_t
offset_clamp(uint64_t size)
{
	return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}

#endif
