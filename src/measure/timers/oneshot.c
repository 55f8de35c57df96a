/* Tests one-shots: arms each shot and waits for its interrupt. See timer_test.h. */
#include "measure/timers/timer_test.h"

/*
 * A window arms a one-shot only if its deadline is at most this long after the window's start. The last interrupt may
 * come BOUND_NS (20 ms) later. Therefore the firmware's tick is stopped for at most 100 ms.
 */
#define WINDOW_NS (70 * SURVEY_NS_PER_MS)
/* a one-shot is missing if no interrupt has come this long after its deadline */
#define BOUND_NS  (20 * SURVEY_NS_PER_MS)

static void
run_oneshot(struct timer_test *test, uint64_t ticks)
{
	const struct timer_slot *slot = test->all->window->slot;
	uint64_t bound = timer_test_ns_to_tsc_ticks(test, test->row->test.asked_ns + BOUND_NS);

	timer_test_arm_source(test, RECORD_SHOT, ticks);
	timer_test_watch_for_interrupts(test, test->arming.armed_after, test->arming.armed_after + bound, 1);
	test->arming.due = timer_has_expired(test->timer);
	test->timer->driver->disarm(test->timer);
	/* lets a second interrupt of this shot come now, so that it does not count for the next shot */
	test->all->window->open();
	test->all->window->close();
	if (timer_test_record_interrupts(test))
		test->misses = slot->taken ? 0 : test->misses + 1;
}

void
run_oneshots_window(void *argument)
{
	struct timer_test *test = argument;
	uint64_t begin = timer_test_read_tsc(test);
	uint64_t enough = timer_test_ns_to_tsc_ticks(test, WINDOW_NS - test->row->test.asked_ns);

	if (!timer_test_set_up_source(test))
		return;
	do {
		test->left--;
		run_oneshot(test, timer_test_ns_to_ticks(test, test->row->test.asked_ns));
	} while (test->left > 0 && test->misses < TEST_MISSES_MAX && timer_test_read_tsc(test) - begin < enough);
}
