/* One-shot rows: arms each shot, waits for it, and counts the result. See timer_test.h. */
#include "measure/timers/timer_test.h"

/* One shot and its bound; the firmware's tick is stopped for at most 100 ms. */
#define WINDOW_NS (70 * SURVEY_NS_PER_MS)
#define BOUND_NS  (20 * SURVEY_NS_PER_MS) /* after the deadline; then the interrupt counts as missing */

static void
shoot(struct asking *asking, uint64_t ticks)
{
	struct report_interval *row = asking->row;
	const struct timer_slot *slot = asking->all->window->slot;
	uint64_t bound = scale_ticks(&asking->survey->scale, row->asked_ns + BOUND_NS);
	struct arming arming = asking_arm(asking, ticks, false);
	bool away, expired;
	struct lateness value;

	asking_watch(asking, arming.after, arming.after + bound, 1);
	expired = asking->timer->driver->expired(asking->timer);
	asking->timer->driver->disarm(asking->timer);
	asking->all->window->open(); /* let a second interrupt of this shot come now, not with the next shot */
	asking->all->window->close();
	if (asking_is_storm(asking))
		return;
	away = asking_was_away(asking, arming.before + scale_ticks(&asking->survey->scale, row->asked_ns),
			       slot->taken ? slot->events[0].tsc : UINT64_MAX, asking->gap_ticks);
	if (slot->taken) {
		value = asking_lateness(asking, &arming, ticks, &slot->events[0]);
		if (asking->owed && value.high < 0) {
			asking->owed--;
			away = true;
		}
	}
	row->asked++;
	row->expected++;
	row->excused += away;
	asking->misses = slot->taken ? 0 : asking->misses + 1;
	asking->owed += !slot->taken;
	row->delivered += slot->taken != 0;
	row->empty += !slot->taken && !away;
	row->doubled += slot->taken > 1 && !away;
	row->expired += !slot->taken && !away && expired;
	if (slot->taken && !away)
		asking->all->values[asking->count++] = value;
}

void
shots_window(void *argument)
{
	struct asking *asking = argument;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t begin = tsc(), enough = scale_ticks(&asking->survey->scale, WINDOW_NS - asking->row->asked_ns);

	if (!asking_begin(asking))
		return;
	do {
		asking->left--;
		shoot(asking, asking_ticks(asking, asking->row->asked_ns));
	} while (asking->left > 0 && asking->misses < ASKING_MISSES_MAX && tsc() - begin < enough);
}
