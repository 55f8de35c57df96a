/*
 * The warp check, similar to Linux's. All cores share one time stamp, the last TSC reading of any core. In its turn, a
 * core reads the TSC (or another clock that each core has), compares it with the stamp, and leaves its own reading as
 * the new stamp. If the stamp is ahead of a later reading, it is a warp. The check counts turns and not time, because
 * virtual cores may share a processor. If a core gets too few turns, or hardly any turn after another core, the check
 * is inconclusive.
 *
 * There are two kinds. With a lock only one core at a time takes a turn, so every step back from the previous core is
 * seen. It runs in rounds, so that cores far from the lock get as many turns as near ones. Without a lock all cores
 * take turns at once, and no core waits for another. Less time then passes between stamp and reading, so smaller warps
 * can be seen.
 */
#ifndef BARETICK_WARP_H
#define BARETICK_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/barrier.h"
#include "clock/sample.h"

#define WARP_LINE      BARRIER_LINE
#define WARP_CORE_BITS 12 /* bits for the core's number in the word that combines stamp and core */
#define WARP_CORES_MAX (1u << WARP_CORE_BITS)

/* One for each core. Only that core writes it, and the boot core reads it when all cores are done. */
struct warp_slot {
	uint64_t turns;
	uint64_t handovers; /* number of turns directly after another core's turn */
	uint64_t warps;
	uint64_t worst_ticks;
	uint64_t worst_ahead; /* the core whose stamp was ahead in the worst warp */
} __attribute__((aligned(WARP_LINE)));

enum warp_kind {
	WARP_LOCKED,    /* one core at a time, as in Linux */
	/* all cores at the same time: each reads the stamp, then the TSC, and raises the stamp to its TSC */
	WARP_LOCK_FREE,
};

struct warp_table {
	/* Set by the boot core before the others start. */
	uint64_t cores, turns;
	uint64_t bound_ticks; /* time after which a core takes no further turn, in TSC ticks, or 0 for no limit */
	enum warp_kind kind;
	/* Without a lock only: start value of the stamps, so that stamp and core fit into one word. */
	uint64_t base_tsc;
	/* Written only by the core that holds the lock. */
	uint32_t lock __attribute__((aligned(WARP_LINE)));
	/* TSC in the last stamp, and the core that left it; last_core is the number of cores if there is no stamp yet */
	uint64_t last_tsc, last_core;
	/*
	 * Without a lock only: the stamp, with the core's number in the low bits. A core with a later stamp replaces it. It
	 * is 0 before the first stamp.
	 */
	uint64_t last_packed __attribute__((aligned(WARP_LINE)));
	/* Two counters that all cores increment: rounds that a core ended, and waits that ended before all cores came. */
	uint64_t rounds_ended __attribute__((aligned(WARP_LINE)));
	uint32_t rounds_missed;
	struct barrier barrier;
	struct warp_slot slots[];
};

struct warp_result {
	size_t cores;  /* number of cores that took a turn */
	uint64_t turns, warps;
	uint64_t worst_ticks;
	size_t worst_ahead, worst_behind; /* WORST_AHEAD's stamp was ahead of WORST_BEHIND's later reading */
	bool starved;
};

/* Reads the calling core's clock. */
struct warp_reader {
	sample_read *read;
	void *context;
	sample_bracket *tsc; /* reads the TSC for the time limit; NULL if the clock itself is the TSC */
};

/* Returns the size in bytes of a table for CORES cores. The caller aligns it to a cache line. */
size_t warp_table_size(size_t cores);

/* Prepares a check with TURNS turns for each of CORES cores, at most WARP_CORES_MAX. NOW_TSC is the boot core's TSC. */
void warp_begin(struct warp_table *table, enum warp_kind kind, size_t cores, uint64_t turns,
		uint64_t now_tsc);

/*
 * Runs the part of CORE, which is below the table's number of cores. All EXPECTED cores do this at the same time. It
 * always returns, because all waits have a bounded number of pauses.
 */
void warp_play(struct warp_table *table, size_t core, size_t expected, struct warp_reader reader,
	       void (*pause)(void));

/* Makes all cores stop at their next turn. */
void warp_stop(struct warp_table *table);

/* Adds up the results of all cores. EXPECTED is the number of cores that should have taken part. */
struct warp_result warp_result(const struct warp_table *table, size_t expected);

#endif
