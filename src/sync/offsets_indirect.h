/*
 * Calculates the offset of a core that had no ping-pong with the boot core. It is found by indirect paths over a third
 * core. Used only in src/sync.
 */
#ifndef BARETICK_OFFSETS_INDIRECT_H
#define BARETICK_OFFSETS_INDIRECT_H

#include "sync/offsets.h"

/*
 * Returns RANK's offset against the boot core in ticks. Each path adds the boot core's pair with another core, and that
 * core's pair with RANK. If all paths but one agree, it is the range that at least half of them allow. Otherwise more
 * paths are wrong, for example because cores drift. It is then the smallest interval that contains all paths'
 * intervals. Returns SHARED if there is no path.
 */
struct offset offsets_place_by_paths(const struct offsets *offsets, size_t rank, struct offset shared);

#endif
