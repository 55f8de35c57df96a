/*
 * Which of the cores are in a minority, by what is proven pair by pair. A majority is more than half of those that know:
 * a pair too wide to tell is a vote for neither side, and yet one of those among which the half is sought. So where
 * cores fall into two equal halves, or into three groups, nobody is in a minority, however many pairs are open.
 */
#ifndef BARETICK_MINORITY_H
#define BARETICK_MINORITY_H

#include <stdbool.h>
#include <stddef.h>

enum minority_pair { MINORITY_UNKNOWN, MINORITY_OPEN, MINORITY_DIFFERS };

/* What is proven of two cores; the same for (A, B) and (B, A). */
typedef enum minority_pair minority_ask(const void *context, size_t a, size_t b);

struct minority {
	size_t outliers;  /* cores in a minority */
	bool any_differs; /* at least one pair is proven to */
};

/*
 * Of CORES cores: marks those in OUTLIER that are proven to differ from more than half of all that are known to them,
 * themselves included; and these have to be one group: one among them differs from none of the others. Such a one is
 * looked for among a bounded number of cores that differ from less than half. DISPUTED is set for all others: so it holds
 * the outliers too, and who is in neither is in order. A few passes over all pairs.
 */
struct minority minority_find(minority_ask *ask, const void *context, size_t cores, bool *outlier, bool *disputed);

#endif
