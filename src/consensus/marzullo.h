/*
 * Marzullo's algorithm, as in NTP: finds the range that most of the given intervals contain. Each interval is one vote.
 * This variant needs no sorting and no additional memory. It tries the lower ends of the intervals, the highest first,
 * and each attempt reads all intervals once. It stops when no lower value can have more votes.
 */
#ifndef BARETICK_MARZULLO_H
#define BARETICK_MARZULLO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/offset.h"

/* Returns the interval of voter number VOTER. An interval that is not bounded on both sides does not count. */
typedef struct offset marzullo_vote(const void *context, size_t voter);

struct marzullo {
	size_t voters;        /* number of voters with a bounded interval */
	size_t votes;         /* number of voters whose interval contains the whole range SHARED */
	/*
	 * number of voters that certainly belong to the group of SHARED: their intervals overlap no interval that lies
	 * outside of SHARED
	 */
	size_t decided;
	/*
	 * The range with the most votes. If several ranges have equally many votes, it is the highest of them.
	 * OFFSET_UNKNOWN if there are no voters.
	 */
	struct offset shared;
	bool tied;            /* true if other ranges have equally many votes */
	struct offset lowest; /* the lowest range with as many votes as SHARED; equal to SHARED if TIED is false */
};

/*
 * Finds the range with the most votes among COUNT voters. It tries at most STEPS_MAX lower ends, and returns the best
 * range among these.
 */
struct marzullo marzullo_find_majority(marzullo_vote *vote, const void *context, size_t count, size_t steps_max);

#endif
