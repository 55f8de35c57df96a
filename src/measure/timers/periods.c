/* Periods: windows in which interrupts are open, and one in which they are masked first. See asking.h. */
#include "asking.h"

#define HELD_PERIODS     20u
#define ARM_TRIES        8u

/*
 * On a busy host the first deadline may be over before it is programmed, and nothing is due then until the counter
 * wraps.
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

void
periods_window(void *argument)
{
	struct asking *asking = argument;
	struct arming arming;
	uint64_t ticks, period, closed;

	if (!asking_begin(asking))
		return;
	asking->left--;
	ticks = asking_ticks(asking, asking->row->asked_ns);
	period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	if (!arm_period(asking, ticks, period, &arming))
		return;
	closed = asking_watch(asking, arming.after, arming.before + (PERIODS_A_WINDOW + 1) * period, UINT64_MAX);
	asking->timer->driver->disarm(asking->timer);
	if (asking_is_storm(asking))
		return;
	asking->row->asked += PERIODS_A_WINDOW;
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
	uint64_t period, ticks, polls = HELD_PERIODS * asking->row->asked_ns * ASKING_POLLS_PER_NS;
	struct arming arming;

	if (!asking_begin(asking))
		return;
	period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	ticks = asking_ticks(asking, asking->row->asked_ns);
	if (!arm_period(asking, ticks, period, &arming))
		return;
	while (tsc() - arming.after < HELD_PERIODS * period + period / 2 && polls-- > 0)
		asking->survey->hooks.pause();
	uint64_t opened = tsc();
	uint64_t closed = asking_watch(asking, opened, opened + HELD_PERIODS * period, UINT64_MAX);
	asking->timer->driver->disarm(asking->timer);
	asking->row->held_ns = (uint64_t)asking_tsc_ps(asking, opened - arming.after) / ASKING_PS_PER_NS;
	asking->row->held_delivered = asking->all->window->slot->taken;
	if (asking->timer->own_phase)
		asking_end_phase(asking, &arming);
	if (!asking_is_storm(asking))
		asking->row->policy = slots_policy(asking, &arming, ticks, opened, closed);
}
