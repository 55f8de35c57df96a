/* Sorts the events of a periodic window into slots, one for each deadline. See timer_test.h. */
#include "measure/timers/timer_test.h"

#define PPB        UINT64_C(1000000000)
/* Extra ticks that prove a queue, although a gap hides some: half of the 20 masked deadlines. */
#define MADE_UP_MIN 10
#define PHASE_SHARE 8 /* A phase that was found is accurate to 1/8 period. */

static int64_t
middle(struct lateness late)
{
	return late.low + (late.high - late.low) / 2;
}

/* Converts LATE, which is against the first deadline, to slot K. The uncertainty of the period grows with K. */
static struct lateness
against(const struct asking *asking, struct lateness late, size_t k, uint64_t ticks)
{
	late.low -= asking_ticks_ps(k * ticks, asking->tick.high);
	late.high -= asking_ticks_ps(k * ticks, asking->tick.low);
	return late;
}

/*
 * Records LATE, unless the core was preempted at the deadline. A tick that is early for slot K may be a delayed
 * tick of the deadline before, so the check starts there. A tick at the end of a gap that came before its deadline,
 * within the error, may be one, too.
 */
static void
take_late(struct asking *asking, const struct arming *arming, uint64_t ticks, struct lateness late, size_t k,
	  const struct timer_event *event)
{
	struct survey_timers *all = asking->all;
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	uint64_t due = arming->before + (k + (late.high >= 0)) * period, from = due < event->tsc ? due : event->tsc - 1;

	if (asking_was_away(asking, from, event->tsc, asking->gap_ticks))
		return;
	all->residuals[k] = asking_tsc_ps(asking, event->tsc - arming->before) -
			    asking_ticks_ps((k + 1) * ticks, asking->tick.value);
	if (asking->count < TIMER_EVENTS_MAX)
		all->values[asking->count++] = late;
}

/* Slots of the window: the whole periods, and one more for ticks that are late for the last of them. */
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

/* Adds the uncertainty of the period and of the TSC's rate to RATE, and combines it with the row's rate. */
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
 * Returns true if a tick in slot K belongs to slot K - 1. With an unknown phase no tick counts as early: one
 * that is early by at most HIGH_PS is late for the deadline before. If slot K - 1 has its own tick, only a tick
 * earlier than the phase's uncertainty moves. In a burst, all ticks but the last belong to earlier deadlines.
 */
static bool
is_of_before(const struct slots *slots, size_t k, int64_t high_ps, bool has_own)
{
	return has_own || slots->taken[k - 1] ? high_ps < -(int64_t)(slots->period_ps / PHASE_SHARE) : high_ps < 0;
}

/*
 * Adds EVENT to its slot. BURST is its place in its burst, counted from the end. LAST: it ends a burst of two
 * or more, so it belongs to the latest deadline.
 */
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
	/*
	 * A burst is processed from its last event to its first. If several are in one slot, the first gives
	 * the slot's lateness.
	 */
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

/*
 * Returns true if MOMENT is near the middle of a period. Only then do periods restarted at MOMENT differ in
 * phase from periods that went on.
 */
static bool
is_between(const struct asking *asking, const struct arming *arming, uint64_t moment)
{
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	uint64_t phase = (moment - arming->before) % period;

	return phase >= period * 3 / 8 && phase <= period * 5 / 8;
}

/*
 * Decides by the number of ticks that were sent later, then by the phase of the others. Interrupts were open
 * from OPENED to CLOSED. A gap in the core's time ends with one or two pending interrupts, which do not show
 * that ticks were queued.
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
