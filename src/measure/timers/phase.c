/* Finds the phase of a source whose periods run before it is programmed. See timer_test.h. */
#include "measure/timers/timer_test.h"

#include "measure/timers/lateness.h"

#define PHASE_SLACK_NS 10 /* more than the rounding of conversions, so that the earliest event is not early */
#define CLUSTER_SHARE  8  /* events that were not delayed come within 1/8 period */

/* Time from event FROM to event EVENT modulo the period, nearest to 0. */
static int64_t
phase_ps(const struct asking *asking, size_t from, size_t event, int64_t period_ps)
{
	const struct timer_event *events = asking->all->window->slot->events;
	uint64_t since = events[event].tsc - events[from].tsc;
	int64_t since_ps = event < from ? -asking_tsc_ps(asking, 0 - since) : asking_tsc_ps(asking, since);
	int64_t half_ps = since_ps < 0 ? -period_ps / 2 : period_ps / 2;

	return since_ps - (since_ps + half_ps) / period_ps * period_ps;
}

/*
 * Counts the events that come within 1/8 period after FROM's phase. Only the first event of each burst counts,
 * because the whole burst has the phase of its delivery.
 */
static size_t
count_followers(const struct asking *asking, size_t from, size_t count, int64_t period_ps)
{
	size_t followers = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t ps = phase_ps(asking, from, i, period_ps);

		followers += ps >= 0 && ps < period_ps / CLUSTER_SHARE && !asking_is_kept(asking, i);
	}
	return followers;
}

static uint64_t
ticks_of(const struct asking *asking, int64_t ps)
{
	return scale_ticks(&asking->survey->scale, (uint64_t)ps / ASKING_PS_PER_NS);
}

/* Returns true if EVENT came less than a period after a gap: it may belong to any deadline within the gap. */
static bool
was_kept_waiting(const struct asking *asking, size_t event, uint64_t period)
{
	uint64_t tsc = asking->all->window->slot->events[event].tsc;

	return asking_was_away(asking, tsc - period, tsc, asking->gap_ticks);
}

static size_t
most_followed(const struct asking *asking, size_t count, int64_t period_ps)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t followers = asking_is_kept(asking, i) ? 0 : count_followers(asking, i, count, period_ps);

		best = followers > most ? i : best;
		most = followers > most ? followers : most;
	}
	return best;
}

/* How much earlier in its period than event FROM the earliest undelayed event came, in ps. */
static int64_t
ahead_ps(const struct asking *asking, size_t from, size_t count, int64_t period_ps)
{
	uint64_t period = ticks_of(asking, period_ps);
	int64_t ahead = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t ps = -phase_ps(asking, from, i, period_ps);

		if (ps > ahead && !was_kept_waiting(asking, i, period))
			ahead = ps;
	}
	return ahead;
}

/*
 * Most events come right after their ticks, but a delayed event may lie anywhere in a period, even the first
 * one. Therefore the phase is taken from the largest cluster.
 */
void
asking_find_phase(const struct asking *asking, struct arming *arming, uint64_t ticks)
{
	const struct timer_slot *slot = asking->all->window->slot;
	const struct scale *scale = &asking->survey->scale;
	int64_t period_ps = asking_ticks_ps(ticks, asking->tick.value), since_ps;
	uint64_t period = ticks_of(asking, period_ps), first;
	size_t count = timer_slot_kept(slot), best;

	if (!count)
		return;
	best = most_followed(asking, count, period_ps);
	first = slot->events[best].tsc - ticks_of(asking, ahead_ps(asking, best, count, period_ps));
	/* Move back to the deadline whose slot has the first event: one period after arming. */
	since_ps = asking_tsc_ps(asking, first - slot->events[0].tsc) - period_ps / SLOTS_EARLY_SHARE;
	if (first > slot->events[0].tsc && since_ps > 0)
		first -= ticks_of(asking, (since_ps + period_ps - 1) / period_ps * period_ps);
	arming->before = first - period - scale_ticks(scale, PHASE_SLACK_NS);
	arming->after = first - period + scale_ticks(scale, PHASE_SLACK_NS);
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
