/* Periods that go on whenever they are asked for: where they begin. See asking.h. */
#include "measure/timers/asking.h"

#include "measure/timers/lateness.h"

#define PHASE_SLACK_NS 10 /* more than conversions round off: the earliest is not early */
#define CLUSTER_SHARE  8  /* of a period: what was not kept waiting comes within that */

/* The EVENT'th interrupt less the whole periods between it and the FROM'th: modulo the period, next to that. */
static int64_t
phase_ps(const struct asking *asking, size_t from, size_t event, int64_t period_ps)
{
	const struct timer_event *events = asking->all->window->slot->events;
	uint64_t since = events[event].tsc - events[from].tsc;
	int64_t since_ps = event < from ? -asking_tsc_ps(asking, 0 - since) : asking_tsc_ps(asking, since);
	int64_t half_ps = since_ps < 0 ? -period_ps / 2 : period_ps / 2;

	return since_ps - (since_ps + half_ps) / period_ps * period_ps;
}

/* How many come soon behind the FROM'th in their periods: of a burst the first, for all lie where that came. */
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

/* What came within a period of a gap may be of any deadline in that. */
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

/* So far ahead of the FROM'th in its period does the earliest come that was not kept waiting. */
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
 * Most come right behind their ticks. One that its core or its host kept waiting may lie anywhere in a period, the
 * first one among them, so none but those say where it begins.
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
	/* The deadline whose slot the first event is in: a period after it was armed. */
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
