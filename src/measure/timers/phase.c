/* Periods that go on whenever they are asked for: where they begin. See asking.h. */
#include "asking.h"

#define PHASE_SLACK_NS 10 /* more than conversions round off: the earliest is not early */

/*
 * The EVENT'th interrupt less as many whole periods as lie between it and the first: modulo the period, next to that.
 */
static int64_t
phase_ps(const struct asking *asking, size_t event, uint64_t period_ps)
{
	const struct timer_slot *slot = asking->all->window->slot;
	int64_t since_ps = asking_tsc_ps(asking, slot->events[event].tsc - slot->events[0].tsc);
	int64_t periods = (since_ps + (int64_t)period_ps / 2) / (int64_t)period_ps;

	return since_ps - periods * (int64_t)period_ps;
}

void
asking_find_phase(const struct asking *asking, struct arming *arming, uint64_t ticks)
{
	const struct timer_slot *slot = asking->all->window->slot;
	const struct scale *scale = &asking->survey->scale;
	uint64_t period_ps = (uint64_t)asking_ticks_ps(ticks, asking->tick.value), early_ns, period;
	int64_t least_ps = 0;

	if (!slot->taken)
		return;
	for (size_t i = 0; i < slot->taken && i < TIMER_EVENTS_MAX; i++) {
		int64_t ps = phase_ps(asking, i, period_ps);

		least_ps = ps < least_ps ? ps : least_ps;
	}
	early_ns = (uint64_t)-least_ps / ASKING_PS_PER_NS;
	period = scale_ticks(scale, period_ps / ASKING_PS_PER_NS);
	arming->before = arming->after = slot->events[0].tsc - scale_ticks(scale, early_ns) - period;
	arming->before -= scale_ticks(scale, PHASE_SLACK_NS);
	arming->after += scale_ticks(scale, PHASE_SLACK_NS);
}

void
asking_end_phase(const struct asking *asking, struct arming *arming)
{
	const struct timer_slot *slot = asking->all->window->slot;
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns), last, count;

	if (!slot->taken || slot->taken > TIMER_EVENTS_MAX)
		return;
	last = slot->events[slot->taken - 1].tsc;
	count = (last - slot->events[0].tsc) / period + 2;
	arming->before = arming->after = last - count * period;
}
