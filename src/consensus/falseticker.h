/*
 * Finds falsetickers. Several clocks each imply a rate for one common quantity: the TSC's rate if the clock has
 * its nominal frequency. Clocks that agree confirm each other. A group decides if it has more than half of the
 * voters and more independent sources than all that contradict it. Its clocks are then truechimers, and a clock
 * that differs from them by more than the limit is a falseticker. No clock is the reference beforehand. If the
 * votes do not decide, the result is the groups.
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
 * Clocks of one source agree with each other whether the source is right or not, so together they have one
 * vote.
 */
struct falseticker_sources {
	/* bit B of separate[A] is set if A and B have different sources */
	uint32_t separate[FALSETICKER_RATES_MAX];
	/*
	 * Clocks that certainly have one source. A clock that disagrees with most of them has a fault of its
	 * own, whatever others show.
	 */
	uint32_t siblings;
};

struct falseticker {
	/*
	 * The rate that represents the truechimers: the narrowest of the rates that contain the value which
	 * most of them share. COUNT if no rate is known.
	 */
	size_t reference;
	/*
	 * Bit I: rate I is in the group that decides, or has no vote. If undecided, it is in the largest group.
	 */
	uint32_t truechimers;
	uint32_t voters;       /* bit I: rate I has a vote */
	/* Bit I: rate I differs from the reference by more than the limit, and is no truechimer. */
	uint32_t falsetickers;
	bool undecided;        /* no group decides; only clocks of one source can prove a falseticker */
	size_t a, b;           /* the two narrowest rates that disagree, one of each group */
	uint32_t group_a, group_b;
	uint32_t others;       /* voters in neither group */
	uint32_t siblings;     /* clocks of one source that agree and outvote the others of their source */
	size_t sibling;        /* the rate that represents SIBLINGS */
};

/*
 * Judges COUNT rates, at most FALSETICKER_RATES_MAX; unknown ones are ignored. SOURCES is NULL if each rate has
 * its own source. Two rates agree unless the whole interval of their difference is outside LIMIT_PPB. A rate
 * that agrees with all others, or with two that disagree, may be too wide to decide, and has no vote.
 */
struct falseticker falseticker_find(const struct rate_interval *rates, size_t count,
				    const struct falseticker_sources *sources, uint64_t limit_ppb);

#endif
