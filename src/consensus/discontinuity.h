/*
 * Finds discontinuities: times at which clocks disagree on how much time passed. Several clocks measure the duration of
 * one step of the run, which lasts from one reading of all clocks to the next. If all agree, there is no discontinuity.
 * Otherwise the clocks form groups, because the machine was paused, restored from a snapshot or migrated, or because
 * one clock jumped. The cause is not decided here.
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
	/* Duration in ns by this clock, as an interval that includes the errors of its readings and of its rate. */
	struct offset elapsed;
	uint64_t wrap_ns;      /* the duration is only known modulo this; 0 if the clock does not wrap */
};

struct discontinuity_group {
	uint32_t clocks;       /* bit I is set if clock I is in the group */
	/* The narrowest duration in the group. OFFSET_UNKNOWN if all its clocks have short wraps. */
	struct offset elapsed;
};

struct discontinuity {
	size_t count; /* number of groups, with the largest group first; 0 or 1 if there is no discontinuity */
	struct discontinuity_group groups[DISCONTINUITY_GROUPS_MAX];
	/*
	 * Bit I is set if clock I is mute. A mute clock fits several groups, for example because its interval is wide. It
	 * belongs to no group.
	 */
	uint32_t mute;
};

/*
 * Groups COUNT clocks, at most DISCONTINUITY_CLOCKS_MAX. Two clocks agree if their durations overlap or are at most
 * FLOOR_NS apart. If there are too many groups, the last group has all remaining clocks.
 */
struct discontinuity discontinuity_find(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns);

#endif
