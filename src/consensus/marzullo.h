/*
 * Finds the range that lies in more of the given intervals than any other value (Marzullo's algorithm, as in NTP). It
 * needs no sorting and no memory. It tries the lower ends from the highest down, with one pass over all intervals for
 * each. It stops when no lower value can have more votes.
 */
#ifndef BARETICK_MARZULLO_H
#define BARETICK_MARZULLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* Returns the interval of voter number VOTER. An interval that is not bounded on both sides is no vote. */
typedef struct offset marzullo_vote(const void *context, size_t voter);

struct marzullo {
	size_t voters;        /* number of voters with a bounded interval */
	size_t votes;         /* number of voters whose interval contains all of SHARED */
	/* number of these votes that overlap no interval outside SHARED; the other votes are uncertain */
	size_t decided;
	/*
	 * The range with the most votes. If several ranges have equally many votes, it is the highest of them.
	 * OFFSET_UNKNOWN without voters.
	 */
	struct offset shared;
	bool tied;            /* true if other ranges have equally many votes */
	struct offset lowest; /* the lowest range with equally many votes; equal to SHARED if TIED is false */
};

/*
 * Finds the range with the most votes among COUNT voters. Tries at most STEPS_MAX lower ends, and then returns the best
 * result that was found.
 */
struct marzullo marzullo_find(marzullo_vote *vote, const void *context, size_t count, size_t steps_max);

#endif
