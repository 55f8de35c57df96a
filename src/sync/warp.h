/*
 * The contended warp check, in the manner of Linux's: all cores share one last time stamp; each in turn
 * compares the TSC, or another clock that each core has of its own, with what the core before it left, and leaves
 * its own. A stamp that is ahead of the TSC read after it is a warp. Counted by turns, not by time, since cores may
 * be time-shared; a core that got too few turns, or hardly a turn after another core's, makes the check inconclusive
 * instead of clean.
 *
 * It is done in two ways. With a lock, one core at a time looks and stamps, so that every step back against
 * the core before is seen; in rounds, so that cores far from the lock get it as often as those near it. Without one
 * all cores look and stamp at once, and none waits for a line that another holds: a shorter way from stamp to
 * reading.
 */
#ifndef BARETICK_WARP_H
#define BARETICK_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/barrier.h"
#include "clock/sample.h"

#define WARP_LINE      BARRIER_LINE
#define WARP_CORE_BITS 12 /* of the word that stamp and core share without a lock */
#define WARP_CORES_MAX (1u << WARP_CORE_BITS)

/* One core's: written by that core alone, read by the boot core when all are back. */
struct warp_slot {
	uint64_t turns;
	uint64_t handovers; /* turns after another core's */
	uint64_t warps;
	uint64_t worst_ticks;
	uint64_t worst_ahead; /* the core whose stamp was ahead then */
} __attribute__((aligned(WARP_LINE)));

enum warp_kind {
	WARP_LOCKED,    /* one at a time, as Linux does it */
	WARP_LOCK_FREE, /* all at once: read the last stamp, read the TSC, raise the last stamp to it */
};

struct warp_table {
	/* Written by the boot core before the others start. */
	uint64_t cores, turns;
	uint64_t bound_ticks; /* of the TSC, after which a core ends with its turn; 0: none */
	enum warp_kind kind;
	uint64_t base_tsc;    /* lock-free: stamps are counted from here, so that a core number fits beside one */
	/* Written by the core that holds the lock. */
	uint32_t lock __attribute__((aligned(WARP_LINE)));
	uint64_t last_tsc, last_core; /* last_core: cores where none has been yet */
	/* Raised by a core that has a later stamp: stamp, and core in the low bits; 0 where none has been yet. */
	uint64_t last_both __attribute__((aligned(WARP_LINE)));
	/* Counted up by every core: rounds of turns that it ended, and waits for the others' that were in vain. */
	uint64_t rounds_ended __attribute__((aligned(WARP_LINE)));
	uint32_t rounds_missed;
	struct barrier barrier;
	struct warp_slot slots[];
};

struct warp_result {
	size_t cores;  /* that took a turn */
	uint64_t turns, warps;
	uint64_t worst_ticks;
	size_t worst_ahead, worst_behind; /* cores: the stamp of the first was ahead of the second's */
	bool starved;
};

/* How the core that calls reads its clock, ordered. */
struct warp_reader {
	sample_read *read;
	void *context;
	sample_bracket *tsc; /* by which its time is bounded; NULL: its clock is the TSC */
};

/* Bytes for a table of CORES; the caller's memory begins on a cache line. */
size_t warp_table_size(size_t cores);

/* For CORES cores, at most WARP_CORES_MAX, with TURNS turns each; NOW_TSC is the boot core's. */
void warp_begin(struct warp_table *table, enum warp_kind kind, size_t cores, uint64_t turns,
		uint64_t now_tsc);

/*
 * One core's part, run on all of EXPECTED cores at once, by READER; CORE is less than the table's cores. Always comes
 * back: waits for the others, at the begin and after each round, and for the lock, a bounded number of pauses.
 */
void warp_play(struct warp_table *table, size_t core, size_t expected, struct warp_reader reader,
	       void (*pause)(void));

/* Cores that still play stop at their next turn. */
void warp_stop(struct warp_table *table);

/* What all slots say together. EXPECTED: how many cores should have played. */
struct warp_result warp_result(const struct warp_table *table, size_t expected);

#endif
