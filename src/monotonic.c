/* Samples into monotonicity. See monotonic.h. */
#include "monotonic.h"

void
monotonic_clear(struct monotonic *monotonic)
{
	*monotonic = (struct monotonic){ .reads = 0 };
}

static void
count_step(struct monotonic *monotonic, const struct clock *clock, uint64_t elapsed_ticks)
{
	uint64_t back_ticks = clock_step_back_ticks(clock, elapsed_ticks);

	if (!clock_stepped_back(clock, elapsed_ticks))
		return;
	monotonic->backward++;
	if (back_ticks > monotonic->worst_ticks)
		monotonic->worst_ticks = back_ticks;
}

/*
 * FIRST and LAST are the ends of a stretch in which every reading is the same. The first may
 * have been as late as its end and the last as early as its begin: what lies between is proven.
 */
static void
count_stall(struct monotonic *monotonic, uint64_t stall_ticks, const struct sample *first,
	    const struct sample *last)
{
	if (last->begin <= first->end || last->begin - first->end <= stall_ticks || !stall_ticks)
		return;
	monotonic->stalls++;
	if (last->begin - first->end > monotonic->longest_stall_tsc)
		monotonic->longest_stall_tsc = last->begin - first->end;
}

void
monotonic_fold(struct monotonic *monotonic, const struct clock *clock, uint64_t stall_ticks,
	       uint64_t trust_ticks, const struct sample *samples, size_t count)
{
	size_t since = 0; /* where the present value was first read */

	monotonic->reads += count;
	for (size_t i = 0; i < count; i++) {
		monotonic->bracket_backward += samples[i].end < samples[i].begin;
		if (samples[i].ticks == samples[since].ticks)
			continue;
		count_stall(monotonic, stall_ticks, &samples[since], &samples[i - 1]);
		if (clock_comparable(trust_ticks, &samples[i - 1], &samples[i]))
			count_step(monotonic, clock,
				   clock_elapsed_ticks(clock, samples[i - 1].ticks, samples[i].ticks));
		since = i;
	}
	if (count)
		count_stall(monotonic, stall_ticks, &samples[since], &samples[count - 1]);
}
