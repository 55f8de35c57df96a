/* How many pairs may play side by side. See width.h. */
#include "concurrency.h"

/*
 * What tells crowding from topology. On an EPYC 7R13 a message takes 10 ns between the threads of
 * one core and 197 ns between sockets (tables of nviennot/core-to-core-latency): 20 times as long,
 * and that is nobody's crowding. Cores that share a real one wait for time slices: round trips of
 * some hundred ticks were seen to become millions.
 */
#define SUFFERING_FACTOR 32

void
concurrency_init(struct concurrency *width, size_t max)
{
	*width = (struct concurrency){ .now = 1, .max = max > 1 ? max : 1, .settled = max <= 1 };
}

static bool
suffers(const struct concurrency *width, uint64_t median_ticks)
{
	return width->best_ticks != 0 && (median_ticks - 1) / SUFFERING_FACTOR >= width->best_ticks;
}

static void
step_back(struct concurrency *width)
{
	width->settled = true;
	if (width->now > 1)
		width->now /= 2;
}

static void
grow(struct concurrency *width)
{
	width->now = width->now > width->max / 2 ? width->max : width->now * 2;
	width->settled = width->now == width->max;
}

void
concurrency_learn(struct concurrency *width, uint64_t median_ticks)
{
	if (median_ticks == 0)
		return;
	if (suffers(width, median_ticks))
		step_back(width);
	else if (!width->settled)
		grow(width);
	if (width->best_ticks == 0 || median_ticks < width->best_ticks)
		width->best_ticks = median_ticks;
}
