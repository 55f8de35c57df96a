/* Finds a clock's resolution. See resolution.h. */
#include "stats/resolution.h"

#include "base/text.h"

/*
 * Updates the greatest common divisor with a new difference. Usually the difference is a multiple of it, and nothing
 * changes.
 */
static void
update_gcd(struct resolution *resolution, uint64_t ticks)
{
	while (ticks) {
		uint64_t rest = resolution->gcd_ticks % ticks;

		resolution->gcd_ticks = ticks;
		ticks = rest;
	}
}

static void
add_difference_of_readings(struct resolution *resolution, uint64_t ticks)
{
	if (ticks < resolution->smallest_ticks || !resolution->steps)
		resolution->smallest_ticks = ticks;
	if (resolution->gcd_ticks != 1)
		update_gcd(resolution, ticks);
	resolution->steps++;
}

/*
 * Used only if the clock is the TSC. Updates the greatest common divisor with the differences within each sample, whose
 * fields `begin`, `ticks` and `end` are then three successive TSC readings. Differences between samples are not enough,
 * because an emulator that counts instructions makes each loop take the same number of ticks. This number would look
 * like the resolution.
 */
static void
update_gcd_by_tsc_readings(struct resolution *resolution, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count && resolution->gcd_ticks > 1; i++) {
		if (samples[i].ticks > samples[i].begin)
			update_gcd(resolution, samples[i].ticks - samples[i].begin);
		if (samples[i].end > samples[i].ticks)
			update_gcd(resolution, samples[i].end - samples[i].ticks);
	}
}

void
resolution_add_samples(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
		const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t ticks = clock_elapsed_ticks(clock, samples[i - 1].ticks, samples[i].ticks);

		if (clock_stepped_back(clock, ticks) || !clock_comparable(trust_ticks, &samples[i - 1], &samples[i]))
			continue;
		if (ticks)
			add_difference_of_readings(resolution, ticks);
		else
			resolution->repeats = true;
	}
	if (text_equal(clock->main, "tsc"))
		update_gcd_by_tsc_readings(resolution, samples, count);
}

void
resolution_merge_other(struct resolution *resolution, const struct resolution *other)
{
	if (!other->steps)
		return;
	if (!resolution->steps || other->smallest_ticks < resolution->smallest_ticks)
		resolution->smallest_ticks = other->smallest_ticks;
	update_gcd(resolution, other->gcd_ticks);
	resolution->steps += other->steps;
	resolution->repeats |= other->repeats;
}

uint64_t
resolution_largest_lag_ticks(const struct resolution *resolution)
{
	if (!resolution->steps)
		return 1;
	if (resolution->repeats && resolution->smallest_ticks > resolution->gcd_ticks)
		return resolution->smallest_ticks + RESOLUTION_UNEVEN_TICKS;
	return resolution->gcd_ticks;
}
