/*
 * The contended warp check, like Linux's. All cores share one last time stamp. Each in turn compares the TSC,
 * or another clock that each core has, with the stamp of the core before, and leaves its own. A stamp ahead of
 * the TSC read after it is a warp. The check counts turns, not time, because cores may be time-shared. A core
 * may get too few turns, or hardly any turn after another core. Then the check is inconclusive, not clean.
 *
 * There are two kinds. With a lock one core at a time looks and stamps, so every step back against the core
 * before is seen. It runs in rounds, so that cores far from the lock get it as often as near ones. Without a
 * lock all cores look and stamp at once, and none waits for a line that another holds, so less time passes
 * between stamp and reading.
 */
#ifndef BARETICK_WARP_H
#define BARETICK_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/barrier.h"
#include "clock/sample.h"

#define WARP_LINE      BARRIER_LINE
#define WARP_CORE_BITS 12 /* bits for the core in the word that holds stamp and core */
#define WARP_CORES_MAX (1u << WARP_CORE_BITS)

/* For one core: written by that core only, read by the boot core when all are back. */
struct warp_slot {
	uint64_t turns;
	uint64_t handovers; /* turns that followed another core */
	uint64_t warps;
	uint64_t worst_ticks;
	uint64_t worst_ahead; /* the core whose stamp was ahead then */
} __attribute__((aligned(WARP_LINE)));

enum warp_kind {
	WARP_LOCKED,    /* one at a time, as in Linux */
	WARP_LOCK_FREE, /* all at once: read the last stamp, read the TSC, raise the last stamp to it */
};

struct warp_table {
	/* Set by the boot core before the others start. */
	uint64_t cores, turns;
	uint64_t bound_ticks; /* TSC ticks after which a core takes no further turn, or 0 */
	enum warp_kind kind;
	/* Lock-free: stamps count from here, so that a core number fits next to a stamp. */
	uint64_t base_tsc;
	/* Written by the core that holds the lock. */
	uint32_t lock __attribute__((aligned(WARP_LINE)));
	uint64_t last_tsc, last_core; /* last_core: the number of cores if there is no stamp yet */
	/*
	 * Stamp, and the core in the low bits. Raised by a core that has a later stamp; 0 if there is none yet.
	 */
	uint64_t last_both __attribute__((aligned(WARP_LINE)));
	/* Incremented by every core: rounds of turns that it ended, and waits for others without success. */
	uint64_t rounds_ended __attribute__((aligned(WARP_LINE)));
	uint32_t rounds_missed;
	struct barrier barrier;
	struct warp_slot slots[];
};

struct warp_result {
	size_t cores;  /* cores that took a turn */
	uint64_t turns, warps;
	uint64_t worst_ticks;
	size_t worst_ahead, worst_behind; /* WORST_AHEAD's stamp was ahead of WORST_BEHIND's reading */
	bool starved;
};

/* How the calling core reads its clock, in order. */
struct warp_reader {
	sample_read *read;
	void *context;
	sample_bracket *tsc; /* for the bound on its time; NULL if its clock is the TSC */
};

/* Bytes for a table of CORES. The caller aligns it to a cache line. */
size_t warp_table_size(size_t cores);

/*
 * Prepares a check with TURNS turns for each of CORES cores, at most WARP_CORES_MAX. NOW_TSC is read on the
 * boot core.
 */
void warp_begin(struct warp_table *table, enum warp_kind kind, size_t cores, uint64_t turns,
		uint64_t now_tsc);

/*
 * Runs one core's part; all of EXPECTED cores run it at once. CORE is less than the table's cores. Always
 * returns: waits at the start, after each round and for the lock take a bounded number of pauses.
 */
void warp_play(struct warp_table *table, size_t core, size_t expected, struct warp_reader reader,
	       void (*pause)(void));

/* Cores that are still running stop at their next turn. */
void warp_stop(struct warp_table *table);

/* Adds up all cores' slots. EXPECTED is the number of cores that should have taken part. */
struct warp_result warp_result(const struct warp_table *table, size_t expected);

#endif
