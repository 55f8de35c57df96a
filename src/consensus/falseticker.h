/*
 * Finds falsetickers, which are clocks with a wrong rate. For each clock, the TSC's rate is calculated as if the clock
 * had exactly its nominal frequency. Clocks whose results agree confirm each other.
 *
 * A group of clocks decides if it has more than half of the voters, and more independent sources than all that
 * contradict it. Its clocks are then truechimers. A clock that differs from them by more than the limit is a
 * falseticker. No clock is the reference from the start. If no group decides, the result only lists the groups.
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
 * Describes which clocks are independent. Clocks with the same source (for example a crystal) agree even if the source
 * is wrong, so together they have one vote.
 */
struct falseticker_sources {
	/* bit B of separate[A] is set if A and B have different sources */
	uint32_t separate[FALSETICKER_RATES_MAX];
	/*
	 * Bit I is set if clock I certainly has the same source as the other clocks with a bit here. If one of these clocks
	 * disagrees with most of the others, it is faulty, no matter what clocks of other sources show.
	 */
	uint32_t siblings;
};

struct falseticker {
	/*
	 * Index of the rate that represents the truechimers. It is the narrowest rate that contains the value which most
	 * rates share. COUNT if no rate is known.
	 */
	size_t reference;
	/*
	 * Bit I is set if rate I is in the group that decides, or has no vote. If UNDECIDED, the bits are the largest
	 * group.
	 */
	uint32_t truechimers;
	uint32_t voters;       /* bit I is set if rate I has a vote */
	/* Bit I is set if rate I differs from the reference by more than the limit, and is no truechimer. */
	uint32_t falsetickers;
	/* true if no group decides; the only falsetickers are then clocks that differ from SIBLINGS */
	bool undecided;
	size_t a, b;           /* the two narrowest rates that disagree; they belong to group_a and group_b */
	uint32_t group_a, group_b;
	uint32_t others;       /* voters in neither of the two groups */
	/* clocks with the same source that agree, and outvote the other clocks of their source */
	uint32_t siblings;
	size_t sibling;        /* index of the rate that represents SIBLINGS */
};

/*
 * Judges COUNT rates, at most FALSETICKER_RATES_MAX. Unknown rates are ignored. SOURCES is NULL if all clocks are
 * independent. Two rates disagree if the whole interval of their difference is outside LIMIT_PPB. A rate has no vote if
 * it agrees with all others, or with two that disagree with each other, because it may be too wide to decide.
 */
struct falseticker falseticker_find(const struct rate_interval *rates, size_t count,
				    const struct falseticker_sources *sources, uint64_t limit_ppb);

#endif
