/*
 * Finds outliers: cores whose TSC (or its rate) differs from the majority's. The input is the offsets of pairs of
 * cores. A majority is more than half of the cores that have a known offset. All its cores must be proven to differ
 * from the outlier, and to be nearer to each other than to the outlier. A pair whose interval is too wide proves
 * nothing. Therefore there is no outlier if the cores form two equal halves, or three groups, or no close group at
 * all.
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
 * Finds the outliers among cores 0 to CORES - 1, and sets their entries in OUTLIER. An outlier is proven to differ by
 * more than LIMIT from more than half of the cores that have a known offset.
 *
 * These other cores must form a group around one of them, the representative. No core of the group is proven to
 * differ from the representative. Its distance to each of them must be at most the outlier's distance to the nearer
 * of the two. This is proven by their own offset, or by the outlier's offsets against both.
 *
 * The first few cores that differ from less than half of the cores are tried as representatives. DISPUTED is set for
 * all other cores, which include the outliers. The run time is a few loops over all pairs.
 */
struct outliers outliers_find(outliers_offset *get_offset, const void *context, uint64_t limit, size_t cores,
			      bool *outlier, bool *disputed);

#endif
