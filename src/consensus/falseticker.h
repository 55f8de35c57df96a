/*
 * Falsetickers: several clocks each imply a rate for one common quantity (what the TSC's rate would be if the clock's
 * own claim were true). Those that agree vouch for each other. A group of them decides with more than half of the
 * clocks that know and with more sources than all that contradict it: then those are the truechimers, and a clock
 * that is beyond the limit from them is a falseticker. No clock is the reference beforehand, and where the votes do
 * not decide, the groups are the answer.
 */
#ifndef BARETICK_FALSETICKER_H
#define BARETICK_FALSETICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/set.h"
#include "consensus/rate.h"

#define FALSETICKER_RATES_MAX 32

/* Clocks of one source agree with each other whether it is right or not: together they have one vote. */
struct falseticker_sources {
	uint32_t separate[FALSETICKER_RATES_MAX]; /* bit B of separate[A]: A and B have different sources; symmetrical */
	/* Of one source for certain. What disagrees with most of them has a fault of its own, whatever others say. */
	uint32_t siblings;
};

struct falseticker {
	/*
	 * The rate that represents the truechimers: the narrowest of those that share what most of them hold. COUNT
	 * where no rate is known.
	 */
	size_t reference;
	/* Bit I: rate I is in the group that decides or has no vote; undecided: in the largest group. */
	uint32_t truechimers;
	uint32_t voters;       /* bit I: rate I has a vote */
	uint32_t falsetickers; /* bit I: rate I is beyond the limit from the reference, and no truechimer */
	bool undecided;        /* no group decides, and only siblings can accuse: */
	size_t a, b;           /* the two narrowest that disagree, one of each of */
	uint32_t group_a, group_b;
	uint32_t others;       /* voters in neither */
	uint32_t siblings;     /* those that agree, where they outvote others of their source, */
	size_t sibling;        /* and the one that represents them */
};

/*
 * Judges COUNT rates (at most FALSETICKER_RATES_MAX; the unknown ones are passed over). SOURCES: NULL where each
 * is one of its own. Two agree unless the whole interval of their difference is beyond LIMIT_PPB. One that agrees with
 * all others, or with two that disagree with each other, perhaps because it is wide, knows nothing and has no vote.
 */
struct falseticker falseticker_find(const struct rate_interval *rates, size_t count,
				    const struct falseticker_sources *sources, uint64_t limit_ppb);

#endif
