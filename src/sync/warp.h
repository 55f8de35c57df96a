/*
 * The warp check, similar to Linux's tsc_sync.c. A warp is a TSC reading that is lower than an earlier reading on
 * another core. All cores share one time stamp: the last TSC reading of any core. A core's turn has three steps. It
 * reads the TSC (or another clock that each core has), compares the reading with the stamp, and stores the reading as
 * the new stamp. If the stamp is higher than the later reading, it is a warp.
 *
 * The check counts turns and not time, because virtual cores may share a processor. If a core gets too few turns, or
 * too few directly after another core's turn, the check proves nothing.
 *
 * There are two kinds. With a lock, only one core at a time has a turn, so that every step back from the previous
 * core's reading is found. The turns are grouped in rounds, so that cores far from the lock's cache line get as many
 * turns as near cores. Without a lock, all cores have turns at the same time and do not wait for each other. Less
 * time passes between stamp and reading, so smaller warps can be found.
 */
#ifndef BARETICK_WARP_H
#define BARETICK_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/barrier.h"
#include "clock/sample.h"

#define WARP_LINE      BARRIER_LINE
#define WARP_CORE_BITS 12 /* number of low bits that contain the core, in a word that combines stamp and core */
#define WARP_CORES_MAX (1u << WARP_CORE_BITS)

/* Results of one core. Only that core writes them, and the boot core reads them when all cores are done. */
struct warp_slot {
	uint64_t turns;
	uint64_t handovers; /* number of turns directly after another core's turn; only these can show a warp */
	uint64_t warps;
	uint64_t worst_ticks;
	uint64_t worst_ahead; /* the core whose stamp was ahead in the largest warp */
} __attribute__((aligned(WARP_LINE)));

enum warp_kind {
	WARP_LOCKED,    /* one core at a time has a turn, as in Linux's check */
	/* all cores at the same time; a core replaces the stamp only by a higher one */
	WARP_LOCK_FREE,
};

struct warp_table {
	/* The boot core sets the fields up to base_tsc before the other cores start. */
	uint64_t cores, turns;
	uint64_t bound_ticks; /* a core takes no more turns after this time in TSC ticks; 0 means no limit */
	enum warp_kind kind;
	/* Without a lock, a stamp is (TSC - base_tsc), so that stamp and core fit into 64 bits. */
	uint64_t base_tsc;
	/* With a lock: only the core that holds the lock writes the next two fields. */
	uint32_t lock __attribute__((aligned(WARP_LINE)));
	/* the last TSC reading, and the core that read it; last_core is the number of cores before the first turn */
	uint64_t last_tsc, last_core;
	/* Without a lock, the stamp in the high bits and its core in the low bits. It is 0 before the first turn. */
	uint64_t last_packed __attribute__((aligned(WARP_LINE)));
	/*
	 * Two counters that all cores increment: completed rounds, and time-outs of a core's wait for the other cores.
	 */
	uint64_t rounds_ended __attribute__((aligned(WARP_LINE)));
	uint32_t rounds_missed;
	struct barrier barrier;
	struct warp_slot slots[];
};

struct warp_result {
	size_t cores;  /* number of cores that had at least one turn */
	uint64_t turns, warps;
	uint64_t worst_ticks;
	/* in the largest warp, the stamp of core WORST_AHEAD was ahead of the later reading of core WORST_BEHIND */
	size_t worst_ahead, worst_behind;
	bool starved;
};

/* Functions that read the clock on the calling core. */
struct warp_reader {
	sample_read *read;
	void *context;
	/* reads the TSC for the time limit; NULL if the clock that is checked is the TSC itself */
	sample_bracket *tsc;
};

/* Returns the size in bytes of a table for CORES cores. The caller aligns the table to a cache line. */
size_t warp_table_bytes(size_t cores);

/*
 * Prepares a check in which each of CORES cores has TURNS turns. CORES is at most WARP_CORES_MAX. NOW_TSC is the boot
 * core's TSC.
 */
void warp_begin(struct warp_table *table, enum warp_kind kind, size_t cores, uint64_t turns,
		uint64_t now_tsc);

/*
 * Runs the turns of CORE. All EXPECTED cores must call it at the same time. It always returns, because the number of
 * pauses is limited in each wait.
 */
void warp_run_core(struct warp_table *table, size_t core, size_t expected, struct warp_reader reader,
	       void (*pause)(void));

/* Makes all cores return before their next turn. */
void warp_stop(struct warp_table *table);

/* Returns the results of all cores together. EXPECTED is the number of cores that should have had turns. */
struct warp_result warp_get_result(const struct warp_table *table, size_t expected);

#endif
