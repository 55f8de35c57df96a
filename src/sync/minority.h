/*
 * Which of the cores are in a minority, by what is proven pair by pair. A majority is more than half of all that have a
 * known pair: these differ from who is accused, and are known to agree among each other within less than that. A pair
 * too wide to tell is a vote for neither side. So where cores fall into two equal halves, into three groups, or into
 * such as are as far from each other as what can be told, nobody is in a minority.
 */
#ifndef BARETICK_MINORITY_H
#define BARETICK_MINORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* What is known of B against A, in any unit; OFFSET_UNKNOWN where nothing is. */
typedef struct offset minority_ask(const void *context, size_t a, size_t b);

struct minority {
	size_t outliers;  /* cores in a minority */
	bool any_differs; /* at least one pair is proven to differ by more than the limit */
};

/*
 * Of CORES cores: marks in OUTLIER those that are proven to differ by more than LIMIT from more than half of all that
 * have a known pair, themselves included; and these have to be one group: one among them, the speaker, differs from
 * none of the others, and is known to be no further from each than the accused one likely is from either: by the
 * two's own pair, or by what the accused one knows of both, if by that they may be the same. Speakers are the first
 * few cores that differ from less than half. DISPUTED is set for all others: so it holds the outliers too, and who is
 * in neither is in order. A few passes over all pairs.
 */
struct minority minority_find(minority_ask *ask, const void *context, uint64_t limit, size_t cores, bool *outlier,
			      bool *disputed);

#endif
