/*
 * Offset of a core that had no ping-pong with the boot core, by indirect paths over a third core. For src/sync
 * only.
 */
#ifndef BARETICK_OFFSETS_INDIRECT_H
#define BARETICK_OFFSETS_INDIRECT_H

#include "sync/offsets.h"

/*
 * RANK's offset against the boot core, in ticks. Each path adds the boot core's pair with another core and that
 * core's pair with RANK. If all paths but one agree, returns the range that at least half of them allow.
 * Otherwise more paths are wrong, for example because cores drift, and the hull of all paths is returned.
 * Returns SHARED if there is no path.
 */
struct offset offsets_place_by_ways(const struct offsets *offsets, size_t rank, struct offset shared);

#endif
