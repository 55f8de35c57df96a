/*
 * The schedule of a tournament: which cores pair up in which round. All pairs by the circle method: one core stays
 * where it is, the others move round a circle, and after cores - 1 rounds (cores, where their number is odd) every
 * pair has had its turn. Or a star: the first core with each other, one after another. Pure arithmetic; cores are
 * numbered from 0 without gaps.
 */
#ifndef BARETICK_TOURNAMENT_H
#define BARETICK_TOURNAMENT_H

#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_BYE SIZE_MAX

enum tournament { TOURNAMENT_STAR, TOURNAMENT_ALL };

/* How many rounds and pairs there are among CORES; 0 with less than two. */
size_t tournament_rounds(enum tournament kind, size_t cores);
size_t tournament_pairs(enum tournament kind, size_t cores);

/*
 * The core that CORE is paired with in ROUND (below tournament_rounds), TOURNAMENT_BYE where it sits out. It is mutual:
 * the opponent's opponent is CORE.
 */
size_t tournament_opponent(enum tournament kind, size_t cores, size_t round, size_t core);

/* Which place the pair of cores A < B has among all pairs, or with A == 0 in the star; without gaps. */
size_t tournament_index(enum tournament kind, size_t cores, size_t a, size_t b);

void tournament_pair(enum tournament kind, size_t index, size_t *a, size_t *b); /* which pair has that place */

#endif
