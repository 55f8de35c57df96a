/*
 * Finds outliers among the cores from the proven offsets of pairs. A majority is more than half of the cores that have
 * a known pair. All cores of the majority must differ from the outlier, and must be nearer to each other than to the
 * outlier. A pair whose interval is too wide is no vote. Therefore there is no outlier if the cores form two equal
 * halves or three groups. The same is true if no group is nearer to each other than to the other cores.
 */
#ifndef BARETICK_OUTLIERS_H
#define BARETICK_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* Returns the interval of B's offset against A, in any unit. Returns OFFSET_UNKNOWN if the offset is unknown. */
typedef struct offset minority_ask(const void *context, size_t a, size_t b);

struct minority {
	size_t outliers;  /* number of outliers */
	bool any_differs; /* true if at least one pair is proven to differ by more than the limit */
};

/*
 * Marks the outliers among CORES cores in OUTLIER. An outlier is proven to differ by more than LIMIT from more than
 * half of all cores that have a known pair, itself included. These cores must be a group. One of them, the
 * representative, differs from none of the others. Its distance to each of them must be proven to be no larger than the
 * likely distance of the outlier to the nearer of both. The proof is their own pair, or the outlier's pairs with both.
 *
 * The first few cores that differ from less than half of the cores are tried as representatives. DISPUTED is set for
 * all other cores, which include the outliers. Takes a few passes over all pairs.
 */
struct minority minority_find(minority_ask *ask, const void *context, uint64_t limit, size_t cores, bool *outlier,
			      bool *disputed);

#endif
