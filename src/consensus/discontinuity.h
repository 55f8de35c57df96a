/*
 * Finds discontinuities: time intervals in which clocks disagree on how much time passed. The run is divided into
 * steps; each clock is read at the start and at the end of a step. If all clocks measure the same duration of the step,
 * there is no discontinuity. Otherwise the clocks are divided into groups that agree. The cause may be a pause of the
 * machine, a restored snapshot, a migration, or a single clock that jumped. It is not decided here.
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
	bool known; /* false if the clock's duration of the step is unknown; such a clock is ignored */
	/*
	 * Interval of the step's duration in ns, as this clock measured it. It includes the errors of the clock's
	 * readings and of its rate.
	 */
	struct offset elapsed;
	/* the duration is known only modulo this time, because the clock wraps; 0 if the clock does not wrap */
	uint64_t wrap_ns;
	/* true if nothing shows how often the clock wrapped, although it wraps rarely */
	bool uncounted;
};

struct discontinuity_group {
	uint32_t clocks;       /* bit I is set if clock I is in the group */
	/*
	 * The narrowest interval of the step's duration in the group. OFFSET_UNKNOWN if all clocks of the group wrap so
	 * early that wraps cannot be counted.
	 */
	struct offset elapsed;
};

struct discontinuity {
	size_t count; /* number of groups, the largest group first; 0 or 1 if there is no discontinuity */
	struct discontinuity_group groups[DISCONTINUITY_GROUPS_MAX];
	/*
	 * Bit I is set if clock I agrees with several groups, for example because its interval is wide. Such a clock
	 * is called mute, and belongs to no group.
	 */
	uint32_t mute;
};

/*
 * Divides COUNT clocks (at most DISCONTINUITY_CLOCKS_MAX) into groups. Two clocks agree if their intervals overlap or
 * are at most FLOOR_NS apart. If there are more than DISCONTINUITY_GROUPS_MAX groups, the last group also contains all
 * remaining clocks.
 */
struct discontinuity discontinuity_find_groups(const struct discontinuity_clock *clocks, size_t count,
					       uint64_t floor_ns);

#endif
