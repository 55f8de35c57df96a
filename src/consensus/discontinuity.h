/*
 * Discontinuities: several clocks each say how long one step of the run took, from one reading of all to the next.
 * Where all fit each other time went on evenly, whatever it is called by. Where they do not, they are in groups: the
 * machine was paused, set back to a snapshot or moved, or one clock leapt. Which of it is not said here.
 */
#ifndef BARETICK_DISCONTINUITY_H
#define BARETICK_DISCONTINUITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

#define DISCONTINUITY_CLOCKS_MAX 32
#define DISCONTINUITY_GROUPS_MAX 4

struct discontinuity_clock {
	bool known;
	struct offset elapsed; /* ns by this clock, with all that is not known of its readings and its rate */
	uint64_t wrap_ns;      /* or so much more or less, any number of times; 0: it does not wrap */
};

struct discontinuity_group {
	uint32_t clocks;       /* bit I: clock I */
	/* By the one that knows best; OFFSET_UNKNOWN where all of them wrap too soon to tell. */
	struct offset elapsed;
};

struct discontinuity {
	size_t count; /* of the groups, the largest first; 1 and less: nothing happened */
	struct discontinuity_group groups[DISCONTINUITY_GROUPS_MAX];
	uint32_t mute; /* those that fit several groups, perhaps because they know little: they are in none */
};

/*
 * Groups of COUNT clocks, at most DISCONTINUITY_CLOCKS_MAX. Two fit where no more than FLOOR_NS lies between what they
 * say. What there is no group left for is in the last one.
 */
struct discontinuity discontinuity_find(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns);

#endif
