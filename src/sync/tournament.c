/* Who meets whom, and when. See tournament.h. */
#include "tournament.h"

size_t
tournament_rounds(enum tournament kind, size_t players)
{
	if (players < 2)
		return 0;
	return kind == TOURNAMENT_STAR || players % 2 == 0 ? players - 1 : players;
}

size_t
tournament_pairs(enum tournament kind, size_t players)
{
	if (players < 2)
		return 0;
	return kind == TOURNAMENT_STAR ? players - 1 : players * (players - 1) / 2;
}

static size_t
star_opponent(size_t round, size_t player)
{
	if (player == 0)
		return round + 1;
	return player == round + 1 ? 0 : TOURNAMENT_NOBODY;
}

/*
 * Those on the circle meet where their numbers add up to the round's, modulo the circle's size.
 * That is odd, so that in each round exactly one of them is left with itself: it meets the one that
 * stands still, the last of an even number of players, or else nobody.
 */
static size_t
circle_opponent(size_t players, size_t round, size_t player)
{
	size_t circle = tournament_rounds(TOURNAMENT_ALL, players);
	size_t opponent;

	if (player == circle)
		return round % 2 == 0 ? round / 2 : (round + circle) / 2;
	opponent = (round + circle - player) % circle;
	if (opponent != player)
		return opponent;
	return players % 2 == 0 ? circle : TOURNAMENT_NOBODY;
}

size_t
tournament_opponent(enum tournament kind, size_t players, size_t round, size_t player)
{
	return kind == TOURNAMENT_STAR ? star_opponent(round, player)
				       : circle_opponent(players, round, player);
}

/* In the order of the greater number, then of the lesser: so the players' count does not matter. */
size_t
tournament_index(enum tournament kind, size_t players, size_t a, size_t b)
{
	(void)players;
	return kind == TOURNAMENT_STAR ? b - 1 : b * (b - 1) / 2 + a;
}

void
tournament_pair(enum tournament kind, size_t index, size_t *a, size_t *b)
{
	*a = index;
	*b = 1;
	if (kind == TOURNAMENT_STAR) {
		*a = 0;
		*b = index + 1;
	}
	while (*a >= *b)
		*a -= (*b)++;
}
