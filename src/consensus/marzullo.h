/*
 * What most of many intervals share: the values that lie in more of them than any other value does, as
 * Marzullo's algorithm finds them. Without a sort and without memory: it walks down the lower ends from the
 * highest, one pass over all intervals for each, and stops where no value below can have more votes.
 */
#ifndef BARETICK_MARZULLO_H
#define BARETICK_MARZULLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/* The interval that voter VOTER names; one that is not bounded on both sides is no vote. */
typedef struct offset marzullo_vote(const void *context, size_t voter);

struct marzullo {
	size_t voters;        /* with a bounded interval */
	size_t votes;         /* of them that contain all of SHARED */
	size_t decided;       /* of those the ones that no voter shares with them that doesn't contain it: the rest are open */
	struct offset shared; /* the highest such values; OFFSET_UNKNOWN without a voter */
	bool tied;            /* other values have as many votes: */
	struct offset lowest; /* the lowest of these; where not tied, SHARED */
};

/* Of COUNT voters. Gives up after STEPS_MAX lower ends, with the best that was found up to there. */
struct marzullo marzullo_find(marzullo_vote *vote, const void *context, size_t count, size_t steps_max);

#endif
