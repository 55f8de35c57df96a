/* Declarations for the checks of cores. */
#ifndef BARETICK_VERDICT_CORES_H
#define BARETICK_VERDICT_CORES_H

#include "machine.h"

struct hull { /* range of an offset during a span of time, in TICKths of a tick */
	__int128 low, high;
};

struct hull hull_of(size_t other, size_t core, struct span span); /* range of CORE's offset against OTHER in SPAN */
long double hull_ticks(__int128 ticks);

/* Returns true if more than half of all cores, without CORE, are nearer to each other than CORE is to any of them. */
bool cores_are_most_against(size_t core, const __int128 *positions);

bool cores_stay(size_t a, size_t b); /* returns true if neither core's TSC steps in the run */

void verdict_core_names(const struct bench *bench); /* checks that the report names the faulty cores, and no others */

#endif
