/*
 * Outliers among the cores, from offsets that are proven pair by pair. A majority is more than half of the
 * cores that have a known pair. All of it must differ from the outlier, and must agree among each other by less
 * than that difference. A pair with too wide an interval is a vote for neither side. So no core is an outlier
 * if the cores form two equal halves or three groups, or if no group is closer together than to the rest.
 */
#ifndef BARETICK_OUTLIERS_H
#define BARETICK_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* Interval of B's offset against A, in any unit; OFFSET_UNKNOWN if nothing is known. */
typedef struct offset minority_ask(const void *context, size_t a, size_t b);

struct minority {
	size_t outliers;  /* cores that are outliers */
	bool any_differs; /* at least one pair is proven to differ by more than the limit */
};

/*
 * Marks the outliers among CORES cores in OUTLIER. An outlier is proven to differ by more than LIMIT from more
 * than half of all cores that have a known pair, itself included. These cores must be one group: one of them,
 * the representative, differs from none of the others. It must be known to be no further from each of them than
 * the outlier probably is from either. Their own pair proves that, or else the outlier's pairs with both.
 *
 * Representatives are the first few cores that differ from less than half of the cores. DISPUTED is set for all
 * other cores, which include the outliers. Takes a few passes over all pairs.
 */
struct minority minority_find(minority_ask *ask, const void *context, uint64_t limit, size_t cores, bool *outlier,
			      bool *disputed);

#endif
