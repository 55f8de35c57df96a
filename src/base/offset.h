/* Intervals of the difference between two counters, or of their drift, and arithmetic on them. */
#ifndef BARETICK_OFFSET_H
#define BARETICK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An offset in ticks or a drift in ppb. Both ends are included. An unknown end is INT64_MIN or INT64_MAX, which means
 * unbounded.
 */
struct offset {
	int64_t low, high;
};

#define OFFSET_UNKNOWN ((struct offset){ INT64_MIN, INT64_MAX })

/* Arithmetic on intervals. Unbounded ends stay unbounded. Results are limited to the type's range. */
int64_t offset_negate_bound(int64_t bound); /* an unbounded lower end becomes an unbounded upper end, and vice versa */
struct offset offset_negate(struct offset offset);
struct offset offset_add(struct offset a, struct offset b);
struct offset offset_intersect(struct offset a, struct offset b); /* low > high if the intervals do not overlap */
/* returns the distance between the intervals; 0 if they overlap */
uint64_t offset_gap(struct offset a, struct offset b);
bool offset_is_known(struct offset offset); /* returns true if both ends are bounded */
uint64_t offset_width(struct offset offset); /* returns high - low; UINT64_MAX if an end is unbounded */
bool offset_excludes_zero(struct offset offset);
uint64_t offset_min_size(struct offset offset);  /* returns the smallest absolute value in the interval */
uint64_t offset_max_size(struct offset offset); /* returns the largest absolute value in the interval */

#endif
