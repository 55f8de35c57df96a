/* What came in a window of a periodic source, slot by slot. See asking.h. */
#include "measure/timers/asking.h"

#define PPB        UINT64_C(1000000000)
#define MADE_UP_MIN 10 /* of 20 that were masked */
#define PHASE_SHARE 8 /* of a period: so near is a phase that was found */

static int64_t
middle(struct lateness late)
{
	return late.low + (late.high - late.low) / 2;
}

/* LATE, which is against the first deadline, against that of slot K. What the period is not known to adds up. */
static struct lateness
against(const struct asking *asking, struct lateness late, size_t k, uint64_t ticks)
{
	late.low -= asking_ticks_ps(k * ticks, asking->tick.high);
	late.high -= asking_ticks_ps(k * ticks, asking->tick.low);
	return late;
}

/* What is early for slot K may as well have been kept waiting for the deadline before. */
static void
take_late(struct asking *asking, const struct arming *arming, uint64_t ticks, struct lateness late, size_t k,
	  const struct timer_event *event)
{
	struct survey_timers *all = asking->all;
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	uint64_t due = arming->before + (k + (late.high >= 0)) * period;

	if (asking_was_away(asking, due, event->tsc, asking->gap_ticks))
		return;
	all->residuals[k] = asking_tsc_ps(asking, event->tsc - arming->before) -
			    asking_ticks_ps((k + 1) * ticks, asking->tick.value);
	if (asking->count < TIMER_EVENTS_MAX)
		all->values[asking->count++] = late;
}

/* As many as were whole, and one more: what falls into that may be late for the last. */
static struct slots
lay_slots(struct asking *asking, const struct arming *arming, uint64_t ticks, uint64_t closed)
{
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	uint64_t count = closed > arming->before ? (closed - arming->before) / period : 0;
	struct slots slots = {
		(uint64_t)asking_ticks_ps(ticks, asking->tick.value),
		count < TIMER_EVENTS_MAX ? (size_t)count : TIMER_EVENTS_MAX, asking->all->slots,
	};

	__builtin_memset(slots.taken, 0, slots.count);
	for (size_t k = 0; k < slots.count; k++)
		asking->all->residuals[k] = INT64_MAX;
	return slots;
}

static int64_t
part_ppb(uint64_t part, uint64_t whole)
{
	uint64_t ppb = whole ? scale_mul_div_up(part, PPB, whole) : PPB;

	return (int64_t)(ppb < PPB ? ppb : PPB);
}

/* What the period and the TSC's own rate are not known to comes to what the ticks show. */
static void
join_rate(struct asking *asking, struct interval_ppb rate)
{
	const struct rate_interval *tsc = &asking->survey->tsc;
	const struct tick *tick = &asking->tick;
	int64_t error = part_ppb(tick->high - tick->low, tick->value) + part_ppb(tsc->high - tsc->low, tsc->low);

	if (!rate.known || !tsc->known || asking->survey->tsc_doubtful)
		return;
	rate.low -= error;
	rate.high += error;
	asking->row->rate = lateness_join(asking->row->rate, rate);
}

/*
 * Where nothing says when a period begins, none is early, by at most HIGH_PS: it is late for the one before, unless
 * that has its own, and the phase is not as near. Of a burst all but the last are for those before.
 */
static bool
is_of_before(const struct slots *slots, size_t k, int64_t high_ps, bool has_own)
{
	return has_own || slots->taken[k - 1] ? high_ps < -(int64_t)(slots->period_ps / PHASE_SHARE) : high_ps < 0;
}

/* The BURST'th last of those that came together, the LAST one of several or not: that is of the latest deadline. */
static void
fold_event(struct asking *asking, const struct arming *arming, struct slots *slots, uint64_t ticks,
	   const struct timer_event *event, size_t burst, bool last)
{
	struct lateness late = asking_lateness(asking, arming, ticks, event);
	size_t k = slots_of(slots, middle(late));
	bool again, before_due;
	int64_t high_ps;

	if (k == SIZE_MAX)
		return;
	high_ps = against(asking, late, k, ticks).high;
	before_due = high_ps < 0;
	if (asking->timer->own_phase && k > 0) {
		if (is_of_before(slots, k, high_ps, last))
			before_due = against(asking, late, --k, ticks).high < 0;
		else if (last)
			before_due = false;
	}
	k = slots_place(slots, k, before_due, burst);
	if (k == SIZE_MAX)
		return;
	asking->row->delivered++;
	/* Of a burst in one slot the first stands for the deadline: it is folded last. */
	again = asking->valued && asking->valued == asking->count && asking->valued_slot == k && burst > 1 &&
		slots->taken[k] == 1;
	if (again)
		asking->count--;
	if ((slots->taken[k]++ == 0 || again) &&
	    !(asking->timer->own_phase && against(asking, late, k, ticks).high < 0)) {
		size_t count = asking->count;

		take_late(asking, arming, ticks, against(asking, late, k, ticks), k, event);
		asking->valued = asking->count > count ? asking->count : 0;
		asking->valued_slot = k;
	}
}

void
slots_fold(struct asking *asking, const struct arming *arming, uint64_t ticks, uint64_t closed)
{
	const struct timer_slot *slot = asking->all->window->slot;
	struct slots slots = lay_slots(asking, arming, ticks, closed);
	size_t count = timer_slot_kept(slot), end;

	for (size_t first = 0; first < count && slots.count; first = end) {
		end = first + 1;
		while (end < count && asking_is_kept(asking, end))
			end++;
		for (size_t i = end; i-- > first;)
			fold_event(asking, arming, &slots, ticks, &slot->events[i], end - i, i + 1 == end && end - first > 1);
	}
	excused_count(asking, arming, &slots);
	join_rate(asking, lateness_rate(asking->all->residuals, slots.count, slots.period_ps));
}

/* Whether MOMENT is about the middle of a period: periods that begin anew then differ from those that went on. */
static bool
is_between(const struct asking *asking, const struct arming *arming, uint64_t moment)
{
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	uint64_t phase = (moment - arming->before) % period;

	return phase >= period * 3 / 8 && phase <= period * 5 / 8;
}

/*
 * By how many ticks were made up for, and then by where the others lie in their periods: from OPENED to CLOSED
 * interrupts were open. A gap in the core's time ends with one that is pending, or two: it makes up for none.
 */
enum report_policy
slots_policy(const struct asking *asking, const struct arming *arming, uint64_t ticks, uint64_t opened, uint64_t closed)
{
	const struct timer_slot *slot = asking->all->window->slot;
	int64_t period_ps = asking_ticks_ps(ticks, asking->tick.value);
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	bool away = asking_was_away(asking, 0, UINT64_MAX, period / 4);
	size_t shifted = 0, open = (size_t)((closed - opened) / period);

	if (slot->taken > open + (away ? MADE_UP_MIN : 2))
		return REPORT_POLICY_CATCH_UP;
	if (slot->taken < 2 || away || (!asking->timer->own_phase && !is_between(asking, arming, opened)))
		return REPORT_POLICY_UNKNOWN;
	for (size_t i = 1; i < timer_slot_kept(slot); i++) {
		int64_t phase_ps = middle(asking_lateness(asking, arming, ticks, &slot->events[i])) % period_ps;

		shifted += phase_ps > period_ps / 4 && phase_ps < period_ps - period_ps / 4;
	}
	return 2 * shifted > slot->taken ? REPORT_POLICY_DELAY : REPORT_POLICY_DISCARD;
}
