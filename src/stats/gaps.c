/* Observes one core for gaps. See gaps.h. */
#include "stats/gaps.h"

static void
record_gap(struct gaps *gaps, const struct gaps_plan *plan, uint64_t ticks)
{
	uint64_t ns = scale_ns(plan->scale, ticks);

	if (gaps->event_count < GAPS_EVENTS_MAX)
		gaps->events[gaps->event_count++] = (struct gap_event){ gaps->observed_ticks, ticks };
	gaps->count++;
	gaps->total_ticks += ticks;
	if (ticks >= plan->long_ticks)
		gaps->long_ticks += ticks - plan->threshold_ticks;
	gaps->octave[octave_of(ns)]++;
	if (ticks > gaps->worst_ticks)
		gaps->worst_ticks = ticks;
}

void
gaps_observe_tsc(struct gaps *gaps, const struct gaps_plan *plan)
{
	uint64_t last, turns = plan->turns_max;

	*gaps = (struct gaps){ .least_ticks = UINT64_MAX };
	last = plan->tsc();
	while (gaps->observed_ticks < plan->duration_ticks && turns-- > 0) {
		uint64_t now = plan->tsc(), ticks = now - last;

		tsc_steps_add(&gaps->steps, last, now);
		if (now < last)
			ticks = 0;
		else if (ticks > plan->threshold_ticks)
			record_gap(gaps, plan, ticks);
		if (ticks < gaps->least_ticks)
			gaps->least_ticks = ticks;
		gaps->observed_ticks += ticks;
		gaps->turns++;
		last = now;
	}
}
