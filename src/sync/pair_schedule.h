/*
 * Decides which cores exchange ping-pongs in which round of a measurement pass. There are two kinds. PAIR_SCHEDULE_ALL
 * measures all pairs by the circle method: one core stays in its place, and the others move round a circle. With N
 * cores every pair has its turn within N - 1 rounds, or within N rounds if N is odd. In PAIR_SCHEDULE_STAR the boot
 * core is paired with each other core, one in each round. Cores are numbered from 0 without gaps.
 */
#ifndef BARETICK_PAIR_SCHEDULE_H
#define BARETICK_PAIR_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_SCHEDULE_IDLE SIZE_MAX

enum pair_schedule { PAIR_SCHEDULE_STAR, PAIR_SCHEDULE_ALL };

/* Return the number of rounds, and the number of pairs, for CORES cores. Both are 0 for fewer than two cores. */
size_t pair_schedule_rounds(enum pair_schedule kind, size_t cores);
size_t pair_schedule_pairs(enum pair_schedule kind, size_t cores);

/*
 * Returns the partner of CORE in ROUND, or PAIR_SCHEDULE_IDLE if CORE has no partner. ROUND is below
 * pair_schedule_rounds(). The partner's partner is CORE.
 */
size_t pair_schedule_peer(enum pair_schedule kind, size_t cores, size_t round, size_t core);

/* Returns the index of the pair A < B. Indices start at 0 and have no gaps. In a star schedule, A is 0. */
size_t pair_schedule_index(enum pair_schedule kind, size_t cores, size_t a, size_t b);

/* sets A and B to the pair with this index */
void pair_schedule_pair(enum pair_schedule kind, size_t index, size_t *a, size_t *b);

/*
 * Limits the number of pairs that exchange ping-pongs at the same time. If there are more virtual cores than real ones,
 * such pairs delay each other. Therefore the number starts at one, and doubles while the median round trip stays short.
 * If that becomes long, the number is halved and no longer grows. It is halved again whenever that happens.
 */
struct concurrency {
	size_t now, max;     /* number of pairs at a time, and its maximum; 1 <= now <= max */
	uint64_t best_ticks; /* shortest median round trip so far; 0 if there is none */
	bool settled;        /* true if the number no longer grows */
};

void concurrency_init(struct concurrency *concurrency, size_t max);

/*
 * Adapts concurrency->now after a batch of ping-pongs. MEDIAN_TICKS is the median of the pairs' median round trips. If
 * it is 0, there were none, and nothing changes.
 */
void concurrency_learn(struct concurrency *concurrency, uint64_t median_ticks);

#endif
