/* Where a core is that had no ping-pong with the boot core: by ways over a third core. For src/sync only. */
#ifndef BARETICK_OFFSETS_WAYS_H
#define BARETICK_OFFSETS_WAYS_H

#include "sync/offsets.h"

/*
 * RANK's offset against the boot core, in ticks, by the boot core's pair with each other core and that one's with RANK.
 * Where all ways but one agree, it is in what at least half of them allow; else more of them are wrong, as where cores
 * drift, and it is anywhere that one of them has it. SHARED where there is no such way.
 */
struct offset offsets_place_by_ways(const struct offsets *offsets, size_t rank, struct offset shared);

#endif
