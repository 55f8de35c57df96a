/*
 * The range that most of many intervals share, by Marzullo's algorithm: values that lie in more intervals than
 * any other value. Needs no sort and no memory. It tries the lower ends from the highest down, with one pass
 * over all intervals for each, and stops when no lower value can have more votes.
 */
#ifndef BARETICK_MARZULLO_H
#define BARETICK_MARZULLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* The interval of voter VOTER. An interval without a bound on both sides is no vote. */
typedef struct offset marzullo_vote(const void *context, size_t voter);

struct marzullo {
	size_t voters;        /* voters with a bounded interval */
	size_t votes;         /* voters whose interval contains all of SHARED */
	size_t decided;       /* votes that overlap no interval outside SHARED; the other votes are uncertain */
	struct offset shared; /* the highest range with most votes; OFFSET_UNKNOWN without a voter */
	bool tied;            /* other ranges have as many votes */
	struct offset lowest; /* the lowest such range; equal to SHARED if not tied */
};

/* Finds the majority of COUNT voters. After STEPS_MAX lower ends returns the best so far. */
struct marzullo marzullo_find(marzullo_vote *vote, const void *context, size_t count, size_t steps_max);

#endif
