/* See concurrency.h. */
#include "sync/concurrency.h"

/*
 * If round trips become longer than the shortest by this factor, pairs delay each other. The distance of cores alone
 * explains a factor of about 20. On an EPYC 7R13 a message takes 10 ns between the threads of one core and 197 ns
 * between sockets (tables of nviennot/core-to-core-latency). Virtual cores that share a processor wait for time slices.
 * Their round trips grew from some hundred to millions of ticks.
 */
#define SUFFERING_FACTOR 32

void
concurrency_init(struct concurrency *concurrency, size_t max)
{
	*concurrency = (struct concurrency){ .now = 1, .max = max > 1 ? max : 1, .settled = max <= 1 };
}

static bool
pairs_delay_each_other(const struct concurrency *concurrency, uint64_t median_ticks)
{
	return concurrency->best_ticks != 0 && (median_ticks - 1) / SUFFERING_FACTOR >= concurrency->best_ticks;
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
concurrency_learn(struct concurrency *concurrency, uint64_t median_ticks)
{
	if (median_ticks == 0)
		return;
	if (pairs_delay_each_other(concurrency, median_ticks))
		lower_concurrency(concurrency);
	else if (!concurrency->settled)
		raise_concurrency(concurrency);
	if (concurrency->best_ticks == 0 || median_ticks < concurrency->best_ticks)
		concurrency->best_ticks = median_ticks;
}
