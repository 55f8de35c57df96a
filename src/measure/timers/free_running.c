/*
 * Tests free-running sources, such as the RTC's update: waits with the firmware's tick on, then opens a window (in
 * which interrupts are recorded) for a short time around the next event. See timer_test.h.
 */
#include "measure/timers/timer_test.h"

#include "base/units.h"

/* Time before the deadline at which the polling of a source without an interrupt starts. */
#define POLLED_NS (5 * SURVEY_NS_PER_MS)
#define LATE_NS   (20 * SURVEY_NS_PER_MS)
#define EDGE_NS   (1500 * SURVEY_NS_PER_MS)
#define FAR_NS    (3000 * SURVEY_NS_PER_MS)

/*
 * Waits until the counter's value changes, which is the time at which the source fires. A reading during the change may
 * be wrong, so two equal readings are required. The wait may take seconds, so it also ends at the run's deadline, and
 * if the TSC stops.
 */
static bool
wait_for_step_of_counter(struct timer_test *test)
{
	const struct timer *timer = test->timer;
	uint64_t first = timer->driver->get_ticks_left(timer), begin = timer_test_read_tsc(test);
	uint64_t bound = timer_test_ns_to_tsc_ticks(test, EDGE_NS);

	while (timer_test_read_tsc(test) - begin < bound && !survey_end_run_if_due(test->survey)) {
		uint64_t left = timer->driver->get_ticks_left(timer);

		test->survey->hooks.pause();
		if (left == first || left != timer->driver->get_ticks_left(timer))
			continue;
		test->due_tsc = timer_test_read_tsc(test) + timer_test_ns_to_tsc_ticks(test, test->row->test.asked_ns);
		return true;
	}
	if (!test->survey->report->facts.run.incomplete)
		timer_test_end_row(test, CLOCK_STUCK, "It does not count.");
	return false;
}

static bool
find_next_due_time(struct timer_test *test)
{
	const struct timer *timer = test->timer;

	if (timer->ticks_max == 1)
		return wait_for_step_of_counter(test);
	uint64_t left_ns = scale_mul_div(timer->driver->get_ticks_left(timer), test->tick.value, AS_PER_NS);
	if (left_ns > FAR_NS) {
		timer_test_end_row(test, CLOCK_DISABLED, "The timer's next interrupt is due in more than three seconds, "
				     "which is too long to wait.");
		return false;
	}
	test->due_tsc = timer_test_read_tsc(test) + timer_test_ns_to_tsc_ticks(test, left_ns);
	return true;
}

bool
free_running_wait_until_deadline(struct timer_test *test, uint64_t near_ns)
{
	uint64_t near = timer_test_ns_to_tsc_ticks(test, near_ns);

	if (!timer_test_set_tick_length(test) || !find_next_due_time(test))
		return false;
	while ((int64_t)(test->due_tsc - timer_test_read_tsc(test)) > (int64_t)near && !survey_end_run_if_due(test->survey))
		test->survey->hooks.pause();
	return !test->survey->report->facts.run.incomplete;
}

/* Stores the deadline that the source's counter shows, as if the source was armed now. */
static void
store_deadline_of_counter(struct timer_test *test, enum record_interrupts_what what)
{
	struct record_interrupts *arming = &test->arming;
	/*
	 * The counter may show a value that is some ticks old. The deadline is then nearer than get_ticks_left() says.
	 * A lag of up to one tick is normal for a counter, so only the lag beyond one tick is subtracted.
	 */
	uint64_t early = timer_test_max_counter_lag_ticks(test) - 1;

	*arming = (struct record_interrupts){ .what = (uint16_t)what, .asked = 1, .armed_before = timer_test_read_tsc(test) };
	arming->ticks = test->timer->driver->get_ticks_left(test->timer);
	arming->ticks -= arming->ticks < early ? arming->ticks : early;
	arming->armed_after = timer_test_read_tsc(test);
}

void
run_free_running_window(void *argument)
{
	struct timer_test *test = argument;
	const struct timer_driver *driver = test->timer->driver;

	if (!timer_test_set_up_source(test))
		return;
	test->left--;
	timer_test_arm_source(test, RECORD_WAITED, 1);
	store_deadline_of_counter(test, RECORD_WAITED);
	timer_test_watch_for_interrupts(test, test->arming.armed_after,
					test->due_tsc + timer_test_ns_to_tsc_ticks(test, FREE_RUNNING_NEAR_NS), 1);
	test->arming.due = driver->expired(test->timer);
	driver->disarm(test->timer);
	timer_test_record_interrupts(test);
}

/*
 * Waits until the source's status bit is set. POLLS gets the TSC of the last two polls, between which the bit became
 * set. Its `count` is 0 if the bit was set at the first poll. Returns false if the bit is not set in time.
 */
static bool
wait_for_status_bit(const struct timer_test *test, struct record_event *polls)
{
	const struct timer *timer = test->timer;
	uint64_t until = test->due_tsc + timer_test_ns_to_tsc_ticks(test, LATE_NS), begin = timer_test_read_tsc(test);
	uint64_t turns = (POLLED_NS + LATE_NS) * TEST_POLLS_PER_NS;
	bool expired;

	polls->count = 0;
	do { /* one more poll after the time limit, because the core may have been preempted */
		expired = timer->driver->expired(timer);
		polls->tsc = timer_test_read_tsc(test);
		if (expired)
			break;
		polls->count = begin;
		begin = polls->tsc;
	} while (polls->count < until && turns-- > 0);
	return expired;
}

/*
 * Returns true if the source's status bit can be cleared. The bit may be set again right after it was cleared, so the
 * caller tries twice.
 */
static bool
can_status_bit_be_cleared(struct timer *timer)
{
	timer->driver->arm(timer, 0, false);
	return !timer->driver->expired(timer);
}

/* Records when the source's status bit is set. */
static void
poll_status_bit(struct timer_test *test)
{
	struct record_event *set_between = test->all->items;
	uint64_t interrupts = test->survey->hooks.interrupts_mask();

	store_deadline_of_counter(test, RECORD_POLLED);
	test->arming.taken = wait_for_status_bit(test, set_between);
	test->survey->hooks.interrupts_restore(interrupts);
	test->arming.opened = test->arming.armed_after;
	test->arming.closed = set_between->tsc;
	timer_test_append_arming_to_record(test, test->arming.taken);
}

void
free_running_poll_status(struct timer_test *test)
{
	test->timer->driver->set_up(test->timer, 0);
	if (!can_status_bit_be_cleared(test->timer) && !can_status_bit_be_cleared(test->timer))
		timer_test_end_row(test, CLOCK_BROKEN, "The timer's status bit can't be cleared.");
	else if (free_running_wait_until_deadline(test, POLLED_NS)) /* long before it, because the core may be preempted */
		poll_status_bit(test);
	test->timer->driver->restore(test->timer);
}
