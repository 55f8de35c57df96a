/*
 * Finds falsetickers: clocks with a wrong rate. For each clock, the TSC's rate is calculated as if that clock had
 * exactly its nominal frequency. Clocks whose results agree confirm each other.
 *
 * The clocks are divided into groups that agree. A group decides if two conditions are true. It contains more than half
 * of the clocks that have a vote (see falseticker_find()), and more independent sources than all clocks that disagree
 * with it. The clocks of this group are truechimers. A clock is a falseticker if its rate certainly differs from theirs
 * by more than a limit. If no group decides, the result only lists the groups. No clock is assumed to be right.
 */
#ifndef BARETICK_FALSETICKER_H
#define BARETICK_FALSETICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/set.h"
#include "consensus/rate.h"

#define FALSETICKER_RATES_MAX 32

/*
 * Describes which clocks are independent. Clocks with the same source, for example a crystal, agree even if the
 * source is wrong. Therefore they count as one source.
 */
struct falseticker_sources {
	/* bit B of separate[A] is set if clocks A and B have different sources */
	uint32_t separate[FALSETICKER_RATES_MAX];
	/*
	 * The set of clocks that certainly have the same source. If one of them disagrees with most of the others, it
	 * is faulty, whatever clocks with other sources show.
	 */
	uint32_t same_source;
};

struct falseticker {
	/*
	 * Index of the rate that represents the truechimers. It is the narrowest of the intervals that contain the
	 * value on which most rates agree. If no rate is known, it is the number of rates.
	 */
	size_t reference;
	/*
	 * Bit I is set if clock I is in the group that decides, or has no vote. If UNDECIDED is true, the set contains
	 * only the largest group.
	 */
	uint32_t truechimers;
	uint32_t voters;       /* bit I is set if clock I has a vote */
	/* Bit I is set if clock I is no truechimer, and certainly differs from the reference by more than LIMIT_PPB. */
	uint32_t falsetickers;
	/*
	 * True if the largest group lacks a majority of the clocks or of their sources. A clock is then a falseticker
	 * only if most clocks with the same source contradict it.
	 */
	bool undecided;
	/* if UNDECIDED is true, two clocks that disagree: the pair whose intervals have the smallest total width */
	size_t a, b;
	uint32_t group_a, group_b;
	/*
	 * clocks that have a vote but belong neither to group_a (the clocks that agree with A) nor to group_b (the
	 * clocks that agree with B)
	 */
	uint32_t others;
	/*
	 * Clocks that certainly have the same source and agree with each other. They are more than half of the clocks
	 * of this source that have a vote.
	 */
	uint32_t same_source;
	size_t same_source_reference;        /* index of the rate that represents the clocks in SAME_SOURCE */
};

/*
 * Compares COUNT rates, at most FALSETICKER_RATES_MAX, and ignores unknown rates. SOURCES is NULL if all clocks are
 * independent. Two rates disagree if their difference is proven to be larger than LIMIT_PPB. A clock has no vote if it
 * agrees with all other clocks, or with two clocks that disagree with each other. Its interval may then be too wide to
 * decide.
 */
struct falseticker falseticker_find(const struct rate_interval *rates, size_t count,
				    const struct falseticker_sources *sources, uint64_t limit_ppb);

#endif
