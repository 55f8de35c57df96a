/* Arms a source and watches for its interrupts, and for gaps in the core's time. See timer_test.h. */
#include "measure/timers/timer_test.h"

#define BURST_SHARE 4 /* less than 1/4 period apart: a burst */

/* Records a gap if more than MOST ticks passed between FROM and TO. */
static void
look_for_gap(struct asking *asking, uint64_t from, uint64_t to, uint64_t most)
{
	if (to <= from || to - from <= most || asking->gap_count == SURVEY_AWAY_MAX)
		return;
	asking->all->gaps[asking->gap_count++] = (struct survey_away){ from, to };
}

bool
asking_was_away(const struct asking *asking, uint64_t from, uint64_t to, uint64_t most)
{
	for (size_t i = 0; i < asking->gap_count; i++) {
		const struct survey_away *gap = &asking->all->gaps[i];

		if (gap->from < to && gap->to > from && gap->to - gap->from > most)
			return true;
	}
	return asking->gap_count == SURVEY_AWAY_MAX;
}

bool
asking_is_kept(const struct asking *asking, size_t event)
{
	const struct timer_event *events = asking->all->window->slot->events;
	uint64_t period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);

	return event && events[event].tsc - events[event - 1].tsc < period / BURST_SHARE;
}

struct arming
asking_arm(struct asking *asking, uint64_t ticks, bool periodic)
{
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	struct timer_slot *slot = asking->all->window->slot;
	struct arming arming;

	slot->space = TIMER_EVENTS_MAX;
	slot->counter_address = asking->timer->counter_address;
	slot->acknowledge = asking->timer->driver->acknowledge;
	slot->timer = asking->timer;
	if (asking->timer->driver->settle) {
		slot->taken = 0;
		asking->timer->driver->settle(asking->timer);
		asking->all->window->open();
		asking->all->window->close();
	}
	slot->taken = slot->strays = 0;
	arming.before = tsc();
	arming.due = asking->timer->driver->arm(asking->timer, ticks, periodic);
	arming.after = tsc();
	asking->gap_count = 0;
	look_for_gap(asking, arming.before, arming.after, asking->gap_ticks);
	return arming;
}

uint64_t
asking_watch(struct asking *asking, uint64_t from, uint64_t until, uint64_t taken)
{
	const struct timer_window *window = asking->all->window;
	const volatile struct timer_slot *slot = window->slot;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t polls = scale_ns(&asking->survey->scale, until - from) * ASKING_POLLS_PER_NS, last = from, seen = 0;

	window->open();
	while (polls-- > 0) {
		uint64_t now = tsc();

		for (; seen < slot->taken && seen < TIMER_EVENTS_MAX; seen++) {
			look_for_gap(asking, last, slot->events[seen].tsc, asking->entry_ticks);
			last = slot->events[seen].tsc > last ? slot->events[seen].tsc : last;
		}
		look_for_gap(asking, last, now, asking->gap_ticks);
		last = now > last ? now : last;
		if (seen >= taken || now >= until)
			break;
		asking->survey->hooks.pause();
	}
	window->close();
	return last;
}

bool
asking_is_storm(struct asking *asking)
{
	if (asking->all->window->slot->taken <= TIMER_EVENTS_MAX)
		return false;
	asking->timer->state = CLOCK_BROKEN;
	asking->row->doubled += asking->all->window->slot->taken - 1;
	asking_refuse(asking, CLOCK_BROKEN, "Its interrupts did not stop, so it was not tested further.");
	return true;
}
