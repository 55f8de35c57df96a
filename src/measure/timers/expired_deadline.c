/* Tests whether a source interrupts when it is enabled after its deadline has passed. See timer_test.h. */
#include "measure/timers/timer_test.h"

#define TRIES      4u
/* maximum number of attempts to let a deadline pass, because the core may be preempted during an attempt */
#define ATTEMPTS   16u
#define DUE_NS     UINT64_C(20000)
/* interrupts are recorded for this time; an interrupt for a passed deadline comes at once */
#define WATCHED_NS UINT64_C(50000)

/*
 * Lets a deadline pass while the source is disarmed. Returns false if the deadline had passed before the source
 * was disarmed.
 */
static bool
let_deadline_pass(struct timer_test *test)
{
	struct timer *timer = test->timer;
	uint64_t polls = 2 * DUE_NS * TEST_POLLS_PER_NS;

	timer_test_arm_source(test, RECORD_EXPIRED, timer_test_ns_to_ticks(test, DUE_NS));
	timer->driver->disarm(timer);
	bool in_time = timer->driver->get_ticks_left(timer) != 0;
	while (timer->driver->get_ticks_left(timer) && polls-- > 0)
		test->survey->hooks.pause();
	timer_test_discard_pending_interrupts(test);
	return in_time;
}

void
run_expired_deadline_window(void *argument)
{
	struct timer_test *test = argument;
	uint64_t watched = timer_test_ns_to_tsc_ticks(test, WATCHED_NS), begin;

	if (!timer_test_set_up_source(test))
		return;
	for (unsigned i = 0, tries = 0; i < ATTEMPTS && tries < TRIES; i++) {
		if (!let_deadline_pass(test))
			continue;
		tries++;
		begin = timer_test_read_tsc(test);
		test->arming.armed_before = test->arming.armed_after = begin;
		test->arming.gaps = 0;
		test->timer->driver->arm_over(test->timer);
		timer_test_watch_for_interrupts(test, begin, begin + watched, 1);
		test->timer->driver->disarm(test->timer);
		timer_test_record_interrupts(test);
	}
}
