/* Calculates the pairs of cores in each round. See pair_schedule.h. */
#include "sync/pair_schedule.h"

size_t
pair_schedule_count_rounds(enum pair_schedule kind, size_t cores)
{
	if (cores < 2)
		return 0;
	return kind == PAIR_SCHEDULE_STAR || cores % 2 == 0 ? cores - 1 : cores;
}

size_t
pair_schedule_count_pairs(enum pair_schedule kind, size_t cores)
{
	if (cores < 2)
		return 0;
	return kind == PAIR_SCHEDULE_STAR ? cores - 1 : cores * (cores - 1) / 2;
}

static size_t
partner_in_star_schedule(size_t round, size_t core)
{
	if (core == 0)
		return round + 1;
	return core == round + 1 ? 0 : PAIR_SCHEDULE_IDLE;
}

/*
 * Returns the partner of CORE with the circle method. Two cores are partners if their numbers add up to ROUND, modulo
 * the circle's size. This size is odd, so in each round exactly one core would be its own partner. If the number of
 * cores is odd, this core is idle. If the number is even, the partner of this core is the last core, which is not part
 * of the circle.
 */
static size_t
partner_in_round_robin(size_t cores, size_t round, size_t core)
{
	size_t circle = pair_schedule_count_rounds(PAIR_SCHEDULE_ALL, cores);

	if (core == circle)
		return round % 2 == 0 ? round / 2 : (round + circle) / 2;
	size_t peer = (round + circle - core) % circle;
	if (peer != core)
		return peer;
	return cores % 2 == 0 ? circle : PAIR_SCHEDULE_IDLE;
}

size_t
pair_schedule_get_partner(enum pair_schedule kind, size_t cores, size_t round, size_t core)
{
	return kind == PAIR_SCHEDULE_STAR ? partner_in_star_schedule(round, core)
				       : partner_in_round_robin(cores, round, core);
}

/*
 * Pairs are sorted by the larger core number, then by the smaller one. Therefore a pair's index does not depend on
 * the number of cores.
 */
size_t
pair_schedule_index_of_pair(enum pair_schedule kind, size_t, size_t a, size_t b)
{
	return kind == PAIR_SCHEDULE_STAR ? b - 1 : b * (b - 1) / 2 + a;
}

void
pair_schedule_pair_at_index(enum pair_schedule kind, size_t index, size_t *a, size_t *b)
{
	*a = index;
	*b = 1;
	if (kind == PAIR_SCHEDULE_STAR) {
		*a = 0;
		*b = index + 1;
	}
	while (*a >= *b)
		*a -= (*b)++;
}

/*
 * If the median round trip is longer than the shortest so far by this factor, pairs delay each other. The distance of
 * cores explains a factor of at most 20: on an EPYC 7R13 a message takes 10 ns between the threads of one core and
 * 197 ns between sockets (tables of nviennot/core-to-core-latency). Virtual cores that share a processor wait for
 * time slices. Their round trips grew from a few hundred to millions of ticks.
 */
#define DELAY_FACTOR 32

void
concurrency_init(struct concurrency *concurrency, size_t max)
{
	*concurrency = (struct concurrency){ .now = 1, .max = max > 1 ? max : 1, .settled = max <= 1 };
}

static bool
do_pairs_delay_each_other(const struct concurrency *concurrency, uint64_t median_ticks)
{
	return concurrency->best_ticks != 0 && (median_ticks - 1) / DELAY_FACTOR >= concurrency->best_ticks;
}

static void
lower_concurrency(struct concurrency *concurrency)
{
	concurrency->settled = true;
	if (concurrency->now > 1)
		concurrency->now /= 2;
}

static void
raise_concurrency(struct concurrency *concurrency)
{
	concurrency->now = concurrency->now > concurrency->max / 2 ? concurrency->max : concurrency->now * 2;
	concurrency->settled = concurrency->now == concurrency->max;
}

void
concurrency_update(struct concurrency *concurrency, uint64_t median_ticks)
{
	if (median_ticks == 0)
		return;
	if (do_pairs_delay_each_other(concurrency, median_ticks))
		lower_concurrency(concurrency);
	else if (!concurrency->settled)
		raise_concurrency(concurrency);
	if (concurrency->best_ticks == 0 || median_ticks < concurrency->best_ticks)
		concurrency->best_ticks = median_ticks;
}
