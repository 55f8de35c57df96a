/* Slots of a window that were lost or doubled, and those that are excused: they tell nothing. See asking.h. */
#include "measure/timers/asking.h"

#define LATE_SHARE 4 /* a tick that is late by so much of a period stands for those that its source had to leave out */

/* When what comes at FROM began to: with the first of those that were kept back and come together until then. */
static uint64_t
burst_begin(const struct asking *asking, uint64_t from)
{
	const struct timer_slot *slot = asking->all->window->slot;
	size_t count = timer_slot_kept(slot), i = 0;

	while (i < count && slot->events[i].tsc < from)
		i++;
	if (i == count || !asking_is_kept(asking, i))
		return from;
	while (asking_is_kept(asking, i))
		i--;
	return slot->events[i].tsc;
}

/*
 * Whether the core was away about slot K, from a quarter period before its deadline to the next one's; or before that,
 * and what the source makes up for lasts until then: of what comes together it can't be told which is of this slot.
 */
static bool
is_away(const struct asking *asking, const struct arming *arming, uint64_t period, size_t k, uint8_t taken)
{
	uint64_t due = arming->before + (k + 1) * period, from = due - period / 4, burst;

	if (taken > 1)
		from = burst_begin(asking, from) - 1;
	else if (!taken && (burst = burst_begin(asking, from) - 1) < from)
		from = burst;
	return asking_was_away(asking, from, due + period, asking->entry_ticks);
}

/*
 * A source that was kept waiting by its host leaves out what was due meanwhile, and its next tick is late; or it comes
 * beside one that is in time.
 */
static bool
ends_late(const struct slots *slots, const int64_t *residuals, size_t k)
{
	while (k + 1 < slots->count && !slots->taken[k])
		k++;
	return slots->taken[k] > 1 ||
	       (slots->taken[k] && (residuals[k] == INT64_MAX || residuals[k] > (int64_t)(slots->period_ps / LATE_SHARE)));
}

/*
 * A source that its host still keeps waiting when the window ends has sent nothing since: the first of those
 * slots, which may as well be late. Not where they are most of the window: that is a source which has stopped. A guest
 * need not be away meanwhile: its timers may be a thread's of their own.
 */
static size_t
first_cut_off(const struct slots *slots)
{
	size_t first = slots->count;

	while (first > 0 && !slots->taken[first - 1])
		first--;
	return 2 * (slots->count - first) < slots->count ? first : slots->count;
}

/* Of two ticks one may as well be late for the slot before, by more than a period. */
static bool
may_be_of_two(const struct slots *slots, size_t k)
{
	return slots->taken[k] == 2 && k > 0 && !slots->taken[k - 1];
}

/*
 * Of more ticks than one those that make up for slots that were OWED one: excused, and without. A host that keeps what
 * its guest did not take sends it as soon as that takes the next (Linux arch/x86/kvm/i8254.c, reinject).
 */
static bool
make_up(uint8_t taken, size_t *owed)
{
	size_t more = taken > 1 ? taken - 1u : 0;
	bool made_up = more && more <= *owed;

	*owed -= more < *owed ? more : *owed;
	return made_up;
}

void
excused_count(struct asking *asking, const struct arming *arming, const struct slots *slots)
{
	struct report_interval *row = asking->row;
	uint64_t period = scale_ticks(&asking->survey->scale, row->asked_ns);
	bool waits = asking->survey->report->hypervisor[0] || asking_was_away(asking, 0, UINT64_MAX, asking->entry_ticks);
	size_t cut_off = waits ? first_cut_off(slots) : slots->count;
	bool was_empty = false;
	size_t owed = 0;

	for (size_t k = 0; k + 1 < slots->count; k++) {
		bool made_up = make_up(slots->taken[k], &owed);
		bool excused = made_up || is_away(asking, arming, period, k, slots->taken[k]) || may_be_of_two(slots, k) ||
			       (!slots->taken[k] && ends_late(slots, asking->all->residuals, k)) ||
			       k >= cut_off;
		bool empty = !slots->taken[k] && !excused;

		owed += excused && !slots->taken[k];
		row->expected++;
		row->excused += excused;
		row->doubled += slots->taken[k] > 1 && !excused;
		row->empty += empty;
		row->losses += empty && !was_empty;
		was_empty = empty;
	}
}
