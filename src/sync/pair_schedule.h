/*
 * Schedule of a measurement pass: which cores pair up in which round. It has either all pairs or a star. All
 * pairs use the circle method: one core stays in place and the others move round a circle. After cores - 1
 * rounds (cores, if their number is odd) every pair had its turn. In a star the boot core meets each other
 * core, one after another. Pure arithmetic; cores are numbered from 0 without gaps.
 */
#ifndef BARETICK_PAIR_SCHEDULE_H
#define BARETICK_PAIR_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_BYE SIZE_MAX

enum tournament { TOURNAMENT_STAR, TOURNAMENT_ALL };

/* Number of rounds and pairs among CORES; 0 for fewer than two. */
size_t tournament_rounds(enum tournament kind, size_t cores);
size_t tournament_pairs(enum tournament kind, size_t cores);

/*
 * The core that CORE is paired with in ROUND (below tournament_rounds). TOURNAMENT_BYE if CORE is idle. The
 * pairing is mutual.
 */
size_t tournament_opponent(enum tournament kind, size_t cores, size_t round, size_t core);

/* Index of the pair A < B among all pairs, or for A == 0 among the star's. Without gaps. */
size_t tournament_index(enum tournament kind, size_t cores, size_t a, size_t b);

void tournament_pair(enum tournament kind, size_t index, size_t *a, size_t *b); /* the pair with that index */

#endif
