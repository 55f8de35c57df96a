/* Steps of a counter. See resolution.h. */
#include "resolution.h"

void
resolution_clear(struct resolution *resolution)
{
	__builtin_memset(resolution, 0, sizeof(*resolution));
}

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* How often a step of TICKS has been seen, this time included; 0 where there is no more room to count it. */
static uint64_t
count_step(struct resolution *resolution, uint64_t ticks)
{
	if (ticks < RESOLUTION_DIRECT)
		return ++resolution->direct[ticks];
	for (size_t i = 0; i < RESOLUTION_LARGE; i++) {
		if (resolution->large[i].count && resolution->large[i].ticks != ticks)
			continue;
		resolution->large[i].ticks = ticks;
		return ++resolution->large[i].count;
	}
	return 0;
}

static void
add_step(struct resolution *resolution, uint64_t ticks)
{
	uint64_t count = count_step(resolution, ticks);

	if (!resolution->steps || ticks < resolution->smallest_ticks)
		resolution->smallest_ticks = ticks;
	if (resolution->gcd_ticks != 1)
		resolution->gcd_ticks = gcd(ticks, resolution->gcd_ticks);
	if (count > resolution->mode_count ||
	    (count == resolution->mode_count && ticks < resolution->mode_ticks)) {
		resolution->mode_ticks = ticks;
		resolution->mode_count = count;
	}
	resolution->steps++;
}

void
resolution_fold(struct resolution *resolution, const struct clock *clock,
		const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t ticks = clock_elapsed_ticks(clock, samples[i - 1].ticks, samples[i].ticks);

		if (ticks && ticks <= clock->wrap_ticks / 2)
			add_step(resolution, ticks);
	}
}
