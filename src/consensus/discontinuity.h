/*
 * Finds discontinuities. Several clocks measure the duration of one step of the run, from one reading of all to
 * the next. If all agree, time went on evenly. If not, they form groups: the machine was paused, restored from
 * a snapshot or migrated, or one clock jumped. The cause is not decided here.
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
	/* Duration in ns by this clock, including the uncertainty of its readings and its rate. */
	struct offset elapsed;
	uint64_t wrap_ns;      /* the duration is modulo this; 0 if the clock does not wrap */
};

struct discontinuity_group {
	uint32_t clocks;       /* bit I: clock I */
	/* The narrowest duration in the group; OFFSET_UNKNOWN if all its clocks wrap too soon. */
	struct offset elapsed;
};

struct discontinuity {
	size_t count; /* number of groups, the largest first; with fewer than two, no discontinuity */
	struct discontinuity_group groups[DISCONTINUITY_GROUPS_MAX];
	/* Clocks that fit several groups, perhaps because their intervals are wide; in no group. */
	uint32_t mute;
};

/*
 * Groups COUNT clocks, at most DISCONTINUITY_CLOCKS_MAX. Two clocks agree if their durations are no more than
 * FLOOR_NS apart. If there are too many groups, the last one has the rest.
 */
struct discontinuity discontinuity_find(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns);

#endif
