/* Periods: windows in which interrupts are open, and one in which they are masked first. See asking.h. */
#include "measure/timers/asking.h"

#define ARM_TRIES   5u  /* of 2 ms at most; the window behind them is one of 88, and the tick is stopped for 100 */
#define PERIODS_MIN 10u /* in a window: of 8 ms then */

/*
 * On a busy host the first deadline may be over before it is programmed, and nothing is due then until the counter
 * wraps. False: each time it took a quarter of a period, or longer.
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
 * In a guest whose every access takes its host a while each try may be too slow. Then it is asked for periods twice as
 * long; not where it was asked before, for a row's figures are of one period. False: for none.
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
	/* To the middle of a period, wherever in its programming the first began. */
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
