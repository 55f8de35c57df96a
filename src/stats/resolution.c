/* Samples into resolution. See resolution.h. */
#include "resolution.h"

#include "text.h"

void
resolution_clear(struct resolution *resolution)
{
	resolution->steps = resolution->smallest_ticks = resolution->gcd_ticks = 0;
	resolution->mode_ticks = resolution->mode_count = 0;
	for (size_t i = 0; i < RESOLUTION_DIRECT; i++)
		resolution->direct[i] = 0;
	for (size_t i = 0; i < RESOLUTION_LARGE; i++)
		resolution->large[i].ticks = resolution->large[i].count = 0;
}

static uint64_t
greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A step of a size not seen before: only these can change the least of them or their divisor. */
static void
first_seen(struct resolution *resolution, uint64_t ticks)
{
	if (ticks < resolution->smallest_ticks || !resolution->smallest_ticks)
		resolution->smallest_ticks = ticks;
	if (resolution->gcd_ticks != 1)
		resolution->gcd_ticks = greatest_common_divisor(ticks, resolution->gcd_ticks);
}

/* COUNT steps of TICKS have been seen by now. */
static void
weigh(struct resolution *resolution, uint64_t ticks, uint64_t count)
{
	if (count < resolution->mode_count ||
	    (count == resolution->mode_count && ticks > resolution->mode_ticks))
		return;
	resolution->mode_ticks = ticks;
	resolution->mode_count = count;
}

static void
record_large(struct resolution *resolution, uint64_t ticks)
{
	for (size_t i = 0; i < RESOLUTION_LARGE; i++) {
		if (resolution->large[i].count && resolution->large[i].ticks != ticks)
			continue;
		if (!resolution->large[i].count)
			first_seen(resolution, ticks);
		resolution->large[i].ticks = ticks;
		weigh(resolution, ticks, ++resolution->large[i].count);
		return;
	}
	first_seen(resolution, ticks);
}

static void
record(struct resolution *resolution, uint64_t ticks)
{
	resolution->steps++;
	if (ticks >= RESOLUTION_DIRECT) {
		record_large(resolution, ticks);
		return;
	}
	if (!resolution->direct[ticks])
		first_seen(resolution, ticks);
	if (resolution->direct[ticks] < UINT32_MAX)
		weigh(resolution, ticks, ++resolution->direct[ticks]);
}

/*
 * Around a reading of the TSC are two more of it. A loop that always takes the same time, as under an emulator that
 * counts instructions, shows its own length in place of the counter's resolution; its parts don't.
 */
static void
divide_by_brackets(struct resolution *resolution, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count && resolution->gcd_ticks > 1; i++) {
		if (samples[i].ticks > samples[i].begin)
			resolution->gcd_ticks = greatest_common_divisor(samples[i].ticks - samples[i].begin,
									resolution->gcd_ticks);
		if (samples[i].end > samples[i].ticks)
			resolution->gcd_ticks = greatest_common_divisor(samples[i].end - samples[i].ticks,
									resolution->gcd_ticks);
	}
}

void
resolution_fold(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
		const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t ticks = clock_elapsed_ticks(clock, samples[i - 1].ticks, samples[i].ticks);

		if (ticks && !clock_stepped_back(clock, ticks) &&
		    clock_comparable(trust_ticks, &samples[i - 1], &samples[i]))
			record(resolution, ticks);
	}
	if (text_equal(clock->main, "tsc"))
		divide_by_brackets(resolution, samples, count);
}
