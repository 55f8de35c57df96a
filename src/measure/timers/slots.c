/* What came in a window of a periodic source, slot by slot: lost, doubled, excused. See asking.h. */
#include "asking.h"

/* Whether the core was away about slot K, from a quarter period before its deadline to the next one's. */
static bool
is_excused(const struct asking *asking, const struct arming *arming, uint64_t period, size_t k)
{
	uint64_t due = arming->before + (k + 1) * period;

	return asking_was_away(asking, due - period / 4, due + period, asking->entry_ticks);
}

void
slots_fold(struct asking *asking, const struct arming *arming, uint64_t ticks, size_t count)
{
	struct report_interval *row = asking->row;
	const struct timer_slot *slot = asking->all->window->slot;
	/* And one more: what falls into that may be late for the last. */
	struct slots slots = { (uint64_t)asking_ticks_ps(ticks, asking->tick.value), count + 1, asking->all->slots };
	uint64_t period = scale_ticks(&asking->survey->scale, row->asked_ns);

	__builtin_memset(slots.taken, 0, slots.count);
	for (size_t i = 0; i < slot->taken && i < TIMER_EVENTS_MAX; i++) {
		struct lateness late = asking_lateness(asking, arming, ticks, &slot->events[i]);
		size_t k = slots_of(&slots, late.low + (late.high - late.low) / 2);

		if (k == SIZE_MAX)
			continue;
		if (k > 0 && !slots.taken[k - 1] && late.high < asking_ticks_ps(k * ticks, asking->tick.low))
			k--; /* not early for its deadline: late by most of a period for the one before */
		if (k == count)
			continue;
		row->delivered++;
		slots.taken[k] = slots.taken[k] ? 2 : 1; /* 2: or more */
		if (slots.taken[k] > 1 || asking->count == TIMER_EVENTS_MAX ||
		    asking_was_away(asking, arming->before + (k + 1) * period, slot->events[i].tsc, asking->gap_ticks))
			continue;
		/* What the period is not known to adds up from slot to slot. */
		late.low -= asking_ticks_ps(k * ticks, asking->tick.high);
		late.high -= asking_ticks_ps(k * ticks, asking->tick.low);
		asking->all->values[asking->count++] = late;
	}
	row->asked += count;
	for (size_t k = 0; k < count; k++) {
		bool excused = is_excused(asking, arming, period, k);

		row->excused += excused;
		row->doubled += slots.taken[k] > 1 && !excused;
		row->empty += !slots.taken[k] && !excused;
	}
}
