/* Intervals of the offset of one counter against another, or of its drift, and arithmetic on them. */
#ifndef BARETICK_OFFSET_H
#define BARETICK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an offset in ticks, or of a drift in parts per 10^9, both ends included. What is not known is unbounded. */
struct offset {
	int64_t low, high;
};

#define OFFSET_UNKNOWN ((struct offset){ INT64_MIN, INT64_MAX })

/* Arithmetic on intervals; what is unbounded stays so, and nothing overflows. */
int64_t offset_negate_bound(int64_t bound); /* of what is unbounded, the other unbounded one */
struct offset offset_negate(struct offset offset);
struct offset offset_add(struct offset a, struct offset b);
struct offset offset_intersect(struct offset a, struct offset b); /* low > high: they contradict each other */
uint64_t offset_gap(struct offset a, struct offset b); /* between the two; 0 where they overlap */
bool offset_is_known(struct offset offset); /* bounded on both sides */
uint64_t offset_width(struct offset offset); /* UINT64_MAX where it is not known */
bool offset_excludes_zero(struct offset offset);
uint64_t offset_nearest(struct offset offset);  /* its least distance from 0: the proven part; 0 inside it */
uint64_t offset_farthest(struct offset offset); /* its greatest */

#endif
