/* Periodic rows: windows in which interrupts are open, and one window that masks them first. See timer_test.h. */
#include "measure/timers/timer_test.h"

/*
 * Each try takes at most 2 ms and the window after them 88 ms. The firmware's tick is stopped for about 100 ms.
 */
#define ARM_TRIES   5u
#define PERIODS_MIN 10u /* in a window, when periods are 8 ms */

/*
 * Arms the source. On a busy host the first deadline may pass before it is programmed, and then nothing is due
 * until the counter wraps. Returns false if every try took a quarter of a period or longer.
 */
static bool
arm_period(struct asking *asking, uint64_t ticks, uint64_t period, struct arming *arming)
{
	for (unsigned tries = 0; tries < ARM_TRIES; tries++) {
		*arming = asking_arm(asking, ticks, true);
		if (arming->after - arming->before < period / 4)
			return true;
		asking->timer->driver->disarm(asking->timer);
	}
	return false;
}

/*
 * Doubles the row's period. In a guest where each register access is slow, every try may take too long. Returns
 * false if the row has results already, because its figures are for one period, or if the period is at its
 * limit.
 */
static bool
lengthen(struct asking *asking)
{
	uint64_t ns = asking_fit_ns(asking, 2 * asking->row->asked_ns);

	if (asking->row->asked || asking->periods / 2 < PERIODS_MIN || asking_ticks(asking, ns) > asking->timer->ticks_max)
		return false;
	asking->row->asked_ns = ns;
	asking->periods /= 2;
	return true;
}

void
periods_window(void *argument)
{
	struct asking *asking = argument;
	struct arming arming;
	uint64_t ticks, period, closed;

	if (!asking_begin(asking))
		return;
	ticks = asking_ticks(asking, asking->row->asked_ns);
	period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	if (!arm_period(asking, ticks, period, &arming)) {
		asking->left -= !lengthen(asking);
		return;
	}
	asking->left--;
	closed = asking_watch(asking, arming.after, arming.before + (asking->periods + 1) * period, UINT64_MAX);
	asking->timer->driver->disarm(asking->timer);
	if (asking_is_storm(asking))
		return;
	asking->row->asked += asking->periods;
	if (asking->timer->own_phase)
		asking_find_phase(asking, &arming, ticks);
	slots_fold(asking, &arming, ticks, closed);
	asking->misses = asking->all->window->slot->taken ? 0 : ASKING_MISSES_MAX;
}

void
periods_hold(void *argument)
{
	struct asking *asking = argument;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t period, ticks, polls = PERIODS_HELD * asking->row->asked_ns * ASKING_POLLS_PER_NS;
	struct arming arming;

	if (!asking_begin(asking))
		return;
	period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	ticks = asking_ticks(asking, asking->row->asked_ns);
	if (!arm_period(asking, ticks, period, &arming))
		return;
	/* Wait up to the middle of a period, wherever in its programming the first period started. */
	uint64_t begin = arming.before + (arming.after - arming.before) / 2;

	while (tsc() - begin < PERIODS_HELD * period + period / 2 && polls-- > 0)
		asking->survey->hooks.pause();
	uint64_t opened = tsc();
	uint64_t closed = asking_watch(asking, opened, opened + PERIODS_HELD * period, UINT64_MAX);
	asking->timer->driver->disarm(asking->timer);
	asking->row->held_ns = (uint64_t)asking_tsc_ps(asking, opened - arming.after) / ASKING_PS_PER_NS;
	asking->row->held_delivered = asking->all->window->slot->taken;
	if (asking->timer->own_phase)
		asking_end_phase(asking, &arming);
	if (!asking_is_storm(asking))
		asking->row->policy = slots_policy(asking, &arming, ticks, opened, closed);
}
