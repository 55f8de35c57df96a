/*
 * Finds outliers: cores whose TSC (or its rate) differs from the majority's. The input is the offset between each two
 * cores, as an interval. A majority is a group of more than half of the cores that have a known offset. Each core of
 * the group must be proven to differ from the outlier. The cores of the group must also be proven to be nearer to each
 * other than to the outlier.
 *
 * There is no outlier if there is no such group. Examples are two equal halves, three groups, and intervals that are
 * too wide to prove anything.
 */
#ifndef BARETICK_OUTLIERS_H
#define BARETICK_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* Returns the interval of B's offset against A, in any unit. Returns OFFSET_UNKNOWN if the offset is unknown. */
typedef struct offset outliers_offset(const void *context, size_t a, size_t b);

struct outliers {
	size_t outliers;  /* number of outliers */
	bool any_differs; /* true if at least one pair is proven to differ by more than the limit */
};

/*
 * Finds the outliers among cores 0 to CORES - 1, and sets their entries in OUTLIER to 1, and all others to 0. Two cores
 * differ if their distance is proven to be more than LIMIT.
 *
 * A core is disputed if it differs from at least half of the cores against which its offset is known. Only such a core
 * can be an outlier. The first few of the other cores are tried as representatives of the majority. A
 * disputed core is an outlier if it differs from the representative and from each core of the representative's group,
 * and the group is a majority.
 *
 * A core of the group must not differ from the representative. The two must also be proven to be at most as far apart
 * as the outlier is from the nearer of the two. The proof is the offset between the two, or the outlier's offsets
 * against both.
 *
 * The run time is a few loops over all pairs.
 */
struct outliers outliers_find(outliers_offset *get_offset, const void *context, uint64_t limit, size_t cores,
			      uint8_t *outlier);

#endif
