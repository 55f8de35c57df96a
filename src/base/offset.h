/* Intervals of the offset of one counter against another, or of its drift, and arithmetic on them. */
#ifndef BARETICK_OFFSET_H
#define BARETICK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An offset in ticks or a drift in ppb, both ends included. An unknown end is unbounded. */
struct offset {
	int64_t low, high;
};

#define OFFSET_UNKNOWN ((struct offset){ INT64_MIN, INT64_MAX })

/* Arithmetic on intervals. Unbounded ends stay unbounded, and nothing overflows. */
int64_t offset_negate_bound(int64_t bound); /* an unbounded end becomes the opposite one */
struct offset offset_negate(struct offset offset);
struct offset offset_add(struct offset a, struct offset b);
struct offset offset_intersect(struct offset a, struct offset b); /* low > high if they contradict each other */
uint64_t offset_gap(struct offset a, struct offset b); /* distance between the two; 0 if they overlap */
bool offset_is_known(struct offset offset); /* true if bounded on both sides */
uint64_t offset_width(struct offset offset); /* UINT64_MAX if it is not known */
bool offset_excludes_zero(struct offset offset);
uint64_t offset_nearest(struct offset offset);  /* smallest possible distance from 0 */
uint64_t offset_farthest(struct offset offset); /* largest possible distance from 0 */

#endif
