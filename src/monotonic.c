/* Steps back and standstills. See monotonic.h. */
#include "monotonic.h"

void
monotonic_clear(struct monotonic *monotonic)
{
	*monotonic = (struct monotonic){ 0 };
}

static void
add_backward(struct monotonic *monotonic, uint64_t ticks)
{
	monotonic->backward++;
	if (ticks > monotonic->worst_ticks)
		monotonic->worst_ticks = ticks;
}

/* The clock showed one value from sample FIRST to sample LAST: for how long at the least? */
static void
add_standstill(struct monotonic *monotonic, uint64_t stall_ticks, const struct sample *first,
	       const struct sample *last)
{
	uint64_t tsc_ticks = last->begin > first->end ? last->begin - first->end : 0;

	if (!stall_ticks || tsc_ticks <= stall_ticks)
		return;
	monotonic->stalls++;
	if (tsc_ticks > monotonic->longest_stall_tsc)
		monotonic->longest_stall_tsc = tsc_ticks;
}

void
monotonic_fold(struct monotonic *monotonic, const struct clock *clock, uint64_t stall_ticks,
	       const struct sample *samples, size_t count)
{
	size_t since = 0; /* the first sample with the present value */

	monotonic->reads += count;
	for (size_t i = 0; i < count; i++) {
		monotonic->bracket_backward += samples[i].end < samples[i].begin;
		if (i == 0 || samples[i].ticks == samples[since].ticks)
			continue;
		uint64_t ticks = clock_elapsed_ticks(clock, samples[i - 1].ticks, samples[i].ticks);

		if (ticks > clock->wrap_ticks / 2)
			add_backward(monotonic, clock->wrap_ticks - ticks + 1);
		add_standstill(monotonic, stall_ticks, &samples[since], &samples[i - 1]);
		since = i;
	}
	if (count)
		add_standstill(monotonic, stall_ticks, &samples[since], &samples[count - 1]);
}
