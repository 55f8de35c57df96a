/*
 * Falsetickers: several clocks each imply a rate for one common quantity (what the TSC's rate would be if the clock's
 * own claim were true). Those that agree vouch for each other: the largest group of them are the truechimers, and a
 * clock that is beyond the limit from them is a falseticker. No clock is the reference beforehand, and where the
 * votes do not decide, that is the answer.
 */
#ifndef BARETICK_FALSETICKER_H
#define BARETICK_FALSETICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rate.h"

#define FALSETICKER_RATES_MAX 32

struct falseticker {
	/*
	 * The rate that represents the largest group: the narrowest of those in it that share what most of them
	 * hold. COUNT where no rate is known.
	 */
	size_t reference;
	uint32_t truechimers;  /* bit I: rate I belongs to the largest group, or to one of several as large */
	uint32_t falsetickers; /* bit I: rate I is beyond the limit from the reference, and in no such group */
	bool undecided;        /* there is more than one largest group, perhaps of one clock each: */
	size_t a, b;           /* the two narrowest in them that disagree */
};

/*
 * Judges COUNT rates (at most FALSETICKER_RATES_MAX; the unknown ones are passed over). Two agree unless the whole
 * interval of their difference is beyond LIMIT_PPB. One that agrees with all others, perhaps because it is
 * wide, has no vote: it can't decide between two that disagree.
 */
struct falseticker falseticker_find(const struct rate_interval *rates, size_t count, uint64_t limit_ppb);

static inline bool
falseticker_has(uint32_t set, size_t rate)
{
	return set >> rate & 1;
}

#endif
