/*
 * Counts lost and doubled periods of a window. A period that proves nothing about the source is excused. See
 * timer_test.h.
 */
#include "measure/timers/timer_test.h"

/* A tick later than 1/4 period also explains the empty slots before it: its source had to skip them. */
#define LATE_SHARE 4

/* TSC of the first event of the burst that continues at FROM; FROM if there is no burst. */
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
 * Returns true if the core was preempted around slot K: from a quarter period before its deadline to the next
 * deadline. If the source then sent a burst, the stretch starts with that burst, because it is unknown which
 * event belongs to which slot.
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
 * Returns true if the first tick at or after slot K is late or not alone. A source that its host delays skips
 * the deadlines in between. Its next tick then comes late, or together with one that is in time.
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
 * First of the empty slots that end the window; the slot count if they are half of the window or more. A source
 * that its host still delays at the end has sent nothing since, and these slots may only be late. A source that
 * is silent for longer has stopped. The guest need not be preempted for that, because its timers may run in a
 * thread of their own.
 */
static size_t
first_cut_off(const struct slots *slots)
{
	size_t first = slots->count;

	while (first > 0 && !slots->taken[first - 1])
		first--;
	return 2 * (slots->count - first) < slots->count ? first : slots->count;
}

/* Returns true if slot K has two ticks and the slot before none: one tick may be late by more than a period. */
static bool
may_be_of_two(const struct slots *slots, size_t k)
{
	return slots->taken[k] == 2 && k > 0 && !slots->taken[k - 1];
}

/*
 * Returns true if the surplus ticks of a slot make up for the OWED empty slots before it, and takes them off
 * OWED. Hypervisors queue undelivered ticks and send them right after the guest takes the next (Linux
 * arch/x86/kvm/i8254.c, reinject).
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
