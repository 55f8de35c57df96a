/*
 * The contended warp check, in the manner of Linux's: all cores share one last time stamp, each in turn takes
 * the lock, compares the TSC with what the core before it left, and leaves its own. A stamp that is ahead of
 * the TSC read after it is a warp. Counted by turns, not by time, since cores may be time-shared; a core
 * that got too few turns, or no turn after another core's, makes the check inconclusive instead of clean.
 */
#ifndef BARETICK_WARP_H
#define BARETICK_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define WARP_LINE 64 /* bytes in a cache line */

/* One core's: written by that core alone, read by the boot core when all are back. */
struct warp_slot {
	uint64_t turns;
	uint64_t handovers; /* turns after another core's */
	uint64_t warps;
	uint64_t worst_ticks;
	uint64_t worst_ahead; /* the core whose stamp was ahead then */
} __attribute__((aligned(WARP_LINE)));

struct warp_table {
	/* Written by the boot core before the others start. */
	uint64_t cores, turns;
	uint64_t bound_ticks; /* of its TSC, after which a core ends with its turn; 0: none */
	/* Written by whoever holds the lock. */
	uint32_t lock __attribute__((aligned(WARP_LINE)));
	uint64_t last_tsc, last_core; /* last_core: cores where nobody has been yet */
	/* Counted up by every core once. */
	uint64_t arrived __attribute__((aligned(WARP_LINE)));
	/* Set by the boot core when it no longer waits. */
	uint32_t stop __attribute__((aligned(WARP_LINE)));
	struct warp_slot slots[];
};

struct warp_result {
	size_t cores;  /* that took a turn */
	uint64_t turns, warps;
	uint64_t worst_ticks;
	size_t worst_ahead, worst_behind; /* cores: the stamp of the first was ahead of the second's */
	bool starved;
};

/* Bytes for a table of CORES; the caller's memory begins on a cache line. */
size_t warp_table_size(size_t cores);

/* For CORES cores with TURNS turns each. */
void warp_begin(struct warp_table *table, size_t cores, uint64_t turns);

/*
 * One core's part, run on all of EXPECTED cores at once; CORE is less than the table's cores. Always comes back: waits
 * for the others, and for the lock, a bounded number of pauses.
 */
void warp_play(struct warp_table *table, size_t core, size_t expected, sample_bracket *tsc,
	       void (*pause)(void));

/* Tells cores that still play to stop at their next turn. */
void warp_stop(struct warp_table *table);

/* What all slots say together. EXPECTED: how many cores should have played. */
struct warp_result warp_result(const struct warp_table *table, size_t expected);

#endif
