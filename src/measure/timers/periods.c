/*
 * Tests periodic interrupts in windows in which interrupts are enabled, and in one window in which they are masked at
 * first. See timer_test.h.
 */
#include "measure/timers/timer_test.h"

/*
 * Maximum number of attempts to arm the source. Each attempt takes at most 2 ms, and the window after them takes 88 ms.
 * The firmware's tick is stopped during the attempts and the window, which must together take about 100 ms or less.
 */
#define ARM_TRIES   5u
#define PERIODS_MIN 10u /* number of periods in a window with the longest periods, 8 ms */

/*
 * Arms the source. If this takes too long on a busy host, the first deadline passes before the programming ends, and
 * the source has no deadline until its counter wraps. Therefore the source is armed again if the programming took a
 * quarter of a period or longer. Returns false if every attempt took so long.
 */
static bool
arm_periodic_source(struct timer_test *test, enum record_interrupts_what what, uint64_t period)
{
	for (unsigned tries = 0; tries < ARM_TRIES; tries++) {
		timer_test_arm_source(test, what, timer_test_ns_to_ticks(test, test->row->test.asked_ns));
		if (test->arming.armed_after - test->arming.armed_before < period / 4)
			return true;
		test->timer->driver->disarm(test->timer);
		timer_test_discard_pending_interrupts(test);
	}
	return false;
}

/*
 * Doubles the row's period. In a guest with slow register accesses, programming the period may always take too long.
 * Returns false if the period is at its limit. Also returns false if the row has results, because all results of a row
 * must be for the same period.
 */
static bool
double_period_of_row(struct timer_test *test)
{
	uint64_t ns = timer_test_round_interval_ns(test, 2 * test->row->test.asked_ns);

	if (test->recorded || test->periods / 2 < PERIODS_MIN || timer_test_ns_to_ticks(test, ns) > test->timer->ticks_max)
		return false;
	test->row->test.asked_ns = ns;
	test->periods /= 2;
	return true;
}

void
run_periods_window(void *argument)
{
	struct timer_test *test = argument;

	if (!timer_test_set_up_source(test))
		return;
	uint64_t period = timer_test_ns_to_tsc_ticks(test, test->row->test.asked_ns);
	if (!arm_periodic_source(test, RECORD_PERIODS, period)) {
		if (double_period_of_row(test))
			return;
		test->left--;
		if (!test->left && !test->recorded)
			timer_test_end_row(test, CLOCK_PRESENT, "Programming the timer takes more than a quarter of its period, "
					   "so its ticks cannot be matched to deadlines.");
		return;
	}
	test->left--;
	test->arming.asked = (uint16_t)test->periods;
	timer_test_watch_for_interrupts(test, test->arming.armed_after,
					test->arming.armed_before + (test->periods + 1) * period, UINT64_MAX);
	test->timer->driver->disarm(test->timer);
	if (timer_test_record_interrupts(test))
		test->misses = test->all->window->slot->taken ? 0 : TEST_MISSES_MAX;
}

void
run_masked_periods_window(void *argument)
{
	struct timer_test *test = argument;
	uint64_t polls = PERIODS_HELD * test->row->test.asked_ns * TEST_POLLS_PER_NS, period, begin, opened;

	if (!timer_test_set_up_source(test))
		return;
	period = timer_test_ns_to_tsc_ticks(test, test->row->test.asked_ns);
	if (!arm_periodic_source(test, RECORD_MASKED, period))
		return;
	/*
	 * Waits until the middle of a period. The first period started during the programming, at an unknown time, so
	 * the middle of the programming is taken as its start.
	 */
	begin = test->arming.armed_before + (test->arming.armed_after - test->arming.armed_before) / 2;
	while (timer_test_read_tsc(test) - begin < PERIODS_HELD * period + period / 2 && polls-- > 0)
		test->survey->hooks.pause();
	opened = timer_test_read_tsc(test);
	timer_test_watch_for_interrupts(test, opened, opened + PERIODS_HELD * period, UINT64_MAX);
	test->timer->driver->disarm(test->timer);
	timer_test_record_interrupts(test);
}
