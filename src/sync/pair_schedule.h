/*
 * Decides which cores exchange ping-pongs in which round of a measurement pass. In a round, each core has at most one
 * partner. There are two kinds of schedule:
 *
 * PAIR_SCHEDULE_ALL measures all pairs with the circle method of round-robin tournaments. N cores need N - 1 rounds,
 * or N rounds if N is odd. PAIR_SCHEDULE_STAR measures each core only against the boot core, one core in each round.
 * Cores are numbered from 0; core 0 is the boot core.
 */
#ifndef BARETICK_PAIR_SCHEDULE_H
#define BARETICK_PAIR_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_SCHEDULE_IDLE SIZE_MAX

enum pair_schedule { PAIR_SCHEDULE_STAR, PAIR_SCHEDULE_ALL };

/* Returns the number of rounds (or of pairs) for CORES cores; 0 for fewer than two cores. */
size_t pair_schedule_count_rounds(enum pair_schedule kind, size_t cores);
size_t pair_schedule_count_pairs(enum pair_schedule kind, size_t cores);

/*
 * Returns the partner of CORE in ROUND, or PAIR_SCHEDULE_IDLE if CORE has no partner in this round. ROUND is less
 * than pair_schedule_count_rounds(). If A's partner is B, then B's partner is A.
 */
size_t pair_schedule_get_partner(enum pair_schedule kind, size_t cores, size_t round, size_t core);

/*
 * Returns the index of the pair A, B (A < B) in arrays of pairs. Indices start at 0 and have no gaps. In a star
 * schedule, A is 0.
 */
size_t pair_schedule_index_of_pair(enum pair_schedule kind, size_t cores, size_t a, size_t b);

/* sets A and B to the cores of the pair at INDEX; the inverse of pair_schedule_index_of_pair() */
void pair_schedule_pair_at_index(enum pair_schedule kind, size_t index, size_t *a, size_t *b);

/*
 * Limits the number of pairs that exchange ping-pongs at the same time. If a host has fewer processors than virtual
 * cores, pairs that run at the same time delay each other. Therefore the number starts at 1, and doubles while the
 * median round trip stays short. When round trips become long, the number is halved and no longer grows. It is halved
 * again each time that they are long.
 */
struct concurrency {
	size_t now, max;     /* number of pairs at a time, and its maximum; 1 <= now <= max */
	uint64_t best_ticks; /* shortest median round trip so far; 0 if there is none */
	bool settled;        /* true if the number no longer grows */
};

void concurrency_init(struct concurrency *concurrency, size_t max);

/*
 * Adapts concurrency->now after a batch of ping-pongs. MEDIAN_TICKS is the median of the pairs' median round trips; 0
 * means that there were no round trips, and nothing changes.
 */
void concurrency_update(struct concurrency *concurrency, uint64_t median_ticks);

#endif
