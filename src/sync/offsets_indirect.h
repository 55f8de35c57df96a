/*
 * Calculates the TSC offset of a core that had no ping-pong with the boot core. It adds the offsets along indirect
 * paths: from the boot core to a third core, and from there to the core. Used only in src/sync.
 */
#ifndef BARETICK_OFFSETS_INDIRECT_H
#define BARETICK_OFFSETS_INDIRECT_H

#include "sync/offsets.h"

/*
 * Returns the offset of core RANK against the boot core in ticks, from all indirect paths. If all paths agree, or all
 * except one, at least half of them are right. The result is then the range that at least half of the paths allow. If
 * more paths disagree, for example because cores drift, it is the smallest interval that contains the intervals of all
 * paths. If there is no path, returns SHARED, the offset that the caller already has.
 */
struct offset offsets_bound_by_indirect_paths(const struct offsets *offsets, size_t rank, struct offset shared);

#endif
