/* See pair_schedule.h. */
#include "sync/pair_schedule.h"

size_t
tournament_rounds(enum tournament kind, size_t cores)
{
	if (cores < 2)
		return 0;
	return kind == TOURNAMENT_STAR || cores % 2 == 0 ? cores - 1 : cores;
}

size_t
tournament_pairs(enum tournament kind, size_t cores)
{
	if (cores < 2)
		return 0;
	return kind == TOURNAMENT_STAR ? cores - 1 : cores * (cores - 1) / 2;
}

static size_t
star_partner(size_t round, size_t core)
{
	if (core == 0)
		return round + 1;
	return core == round + 1 ? 0 : TOURNAMENT_BYE;
}

/*
 * Returns the partner of CORE. Cores on the circle are partners if their numbers add up to ROUND, modulo the circle's
 * size. The size is odd, so in each round exactly one core would be its own partner. If the number of cores is even,
 * that core's partner is the last core, which is not on the circle. Otherwise that core is idle.
 */
static size_t
circle_partner(size_t cores, size_t round, size_t core)
{
	size_t circle = tournament_rounds(TOURNAMENT_ALL, cores);
	size_t opponent;

	if (core == circle)
		return round % 2 == 0 ? round / 2 : (round + circle) / 2;
	opponent = (round + circle - core) % circle;
	if (opponent != core)
		return opponent;
	return cores % 2 == 0 ? circle : TOURNAMENT_BYE;
}

size_t
tournament_opponent(enum tournament kind, size_t cores, size_t round, size_t core)
{
	return kind == TOURNAMENT_STAR ? star_partner(round, core)
				       : circle_partner(cores, round, core);
}

/*
 * Pairs are sorted by the larger number, then by the smaller one. The index thus does not depend on the number of
 * cores.
 */
size_t
tournament_index(enum tournament kind, size_t cores, size_t a, size_t b)
{
	(void)cores;
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
