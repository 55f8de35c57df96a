/*
 * Decides which cores exchange ping-pongs in which round of a measurement pass (a tournament). There are two kinds.
 * TOURNAMENT_ALL measures all pairs by the circle method: one core stays in its place, and the others move round a
 * circle. After cores - 1 rounds (cores rounds, if their number is odd) every pair had its turn. In TOURNAMENT_STAR the
 * boot core meets each other core, one in each round. Cores are numbered from 0 without gaps.
 */
#ifndef BARETICK_PAIR_SCHEDULE_H
#define BARETICK_PAIR_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_BYE SIZE_MAX

enum tournament { TOURNAMENT_STAR, TOURNAMENT_ALL };

/* Return the number of rounds and of pairs for CORES cores; 0 for fewer than two cores. */
size_t tournament_rounds(enum tournament kind, size_t cores);
size_t tournament_pairs(enum tournament kind, size_t cores);

/* Returns the partner of CORE in ROUND, which is below tournament_rounds(). TOURNAMENT_BYE if CORE is idle. The
 * relation is symmetric.
 */
size_t tournament_opponent(enum tournament kind, size_t cores, size_t round, size_t core);

/* Returns the index of the pair A < B, from 0 without gaps. In a star, A is 0. */
size_t tournament_index(enum tournament kind, size_t cores, size_t a, size_t b);

/* sets A and B to the pair with that index */
void tournament_pair(enum tournament kind, size_t index, size_t *a, size_t *b);

#endif
