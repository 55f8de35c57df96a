/*
 * Who meets whom, and when. All pairs by the circle method: one core stands still, the others move round a
 * circle, and after cores - 1 rounds (cores, where their number is odd) every pair has met once. Or a star:
 * everybody meets the first, one after another. Pure arithmetic; players are numbered from 0 without gaps.
 */
#ifndef BARETICK_TOURNAMENT_H
#define BARETICK_TOURNAMENT_H

#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_BYE SIZE_MAX

enum tournament { TOURNAMENT_STAR, TOURNAMENT_ALL };

/* How many rounds and pairs there are among PLAYERS; 0 with less than two. */
size_t tournament_rounds(enum tournament kind, size_t cores);
size_t tournament_pairs(enum tournament kind, size_t cores);

/*
 * Whom PLAYER meets in ROUND (below tournament_rounds), TOURNAMENT_NOBODY where it sits out. It is mutual:
 * the opponent's opponent is PLAYER.
 */
size_t tournament_opponent(enum tournament kind, size_t cores, size_t round, size_t core);

/* Which place the pair of players A < B has among all pairs, or with A == 0 in the star; without gaps. */
size_t tournament_index(enum tournament kind, size_t cores, size_t a, size_t b);

void tournament_pair(enum tournament kind, size_t index, size_t *a, size_t *b); /* which pair has that place */

#endif
