/* Declarations for the checks of cores. */
#ifndef BARETICK_VERDICT_CORES_H
#define BARETICK_VERDICT_CORES_H

#include "machine.h"

struct offset_range { /* lowest and highest offset during a span of time, in units of 1/TICK tick */
	__int128 low, high;
};

/*
 * Returns the range of the offset of CORE from OTHER that readings in SPAN may show. The readings of a core with a
 * fault may be too high.
 */
struct offset_range get_range_of_read_offset(size_t other, size_t core, struct span span);
long double units_to_ticks(__int128 units);

/*
 * Returns true if more than half of all cores, without CORE, lie in a range that is narrower than CORE's distance from
 * it.
 */
bool cores_is_core_far_from_most(size_t core, const __int128 *positions);

bool cores_are_both_stable(size_t a, size_t b); /* returns true if neither core's TSC steps in the run */

/* checks that the report names all faulty cores and no healthy core */
void verdict_check_core_names(const struct bench *bench);

#endif
