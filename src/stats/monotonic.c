/* Counts steps back, jumps and stalls. See monotonic.h. */
#include "stats/monotonic.h"

/*
 * Counts the step between the samples BEFORE and AFTER. BACK_TICKS is the size of the previous step if that was a
 * step back, otherwise 0. Returns the size of this step if it is a step back, otherwise 0.
 */
static uint64_t
count_step_between_samples(struct monotonic *monotonic, const struct clock *clock,
			   const struct monotonic_bounds *bounds, const struct sample *before,
			   const struct sample *after, uint64_t back_ticks)
{
	uint64_t elapsed_ticks = clock_elapsed_ticks(clock, before->ticks, after->ticks);
	unsigned __int128 allowed = (unsigned __int128)(after->end - before->begin) * bounds->leap_rate;

	if (clock_stepped_back(clock, elapsed_ticks)) {
		back_ticks = clock_step_back_ticks(clock, elapsed_ticks);
		monotonic->backward++;
		if (back_ticks > monotonic->worst_ticks)
			monotonic->worst_ticks = back_ticks;
		return back_ticks;
	}
	allowed = (allowed >> MONOTONIC_RATE_SHIFT) + bounds->leap_ticks + back_ticks;
	if (bounds->leap_rate && elapsed_ticks > allowed) {
		monotonic->leaps++;
		monotonic->last_leap_ticks = elapsed_ticks - (uint64_t)allowed;
	}
	return 0;
}

/*
 * Counts a stall if it is longer than the limit STALL_TICKS. FIRST and LAST are the first and the last of successive
 * samples with the same value. A sample's value was read between its begin and its end, so only the time from FIRST's
 * end to LAST's begin is proven.
 */
static void
count_stall(struct monotonic *monotonic, uint64_t stall_ticks, const struct sample *first,
	    const struct sample *last)
{
	monotonic->stalls += stall_ticks && last->begin > first->end && last->begin - first->end > stall_ticks;
}

void
monotonic_add_samples(struct monotonic *monotonic, const struct clock *clock,
	       const struct monotonic_bounds *bounds, const struct sample *samples, size_t count)
{
	size_t since = 0; /* index of the first sample with the current value */
	uint64_t back_ticks = 0;

	monotonic->reads += count;
	for (size_t i = 0; i < count; i++) {
		if (samples[i].ticks == samples[since].ticks)
			continue;
		count_stall(monotonic, bounds->stall_ticks, &samples[since], &samples[i - 1]);
		if (clock_comparable(bounds->trust_ticks, &samples[i - 1], &samples[i]))
			back_ticks = count_step_between_samples(monotonic, clock, bounds, &samples[i - 1], &samples[i],
								back_ticks);
		since = i;
	}
	if (count)
		count_stall(monotonic, bounds->stall_ticks, &samples[since], &samples[count - 1]);
}
