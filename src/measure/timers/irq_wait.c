/* Arms a source and watches for its interrupts, and for gaps in the core's time. See timer_test.h. */
#include "measure/timers/timer_test.h"

#include "base/text.h"

/*
 * If more than this time passes between two reads of the TSC, there was a gap: the core was preempted. The option gap=
 * does not change this limit, because the option is for the interference report.
 */
#define GAP_NS   UINT64_C(10000)
#define ENTRY_NS UINT64_C(250000) /* longest time to enter a handler, which takes tens of microseconds in an emulator */

/* Records a gap, in which the core was preempted, if more than MOST ticks passed between FROM and TO. */
static void
record_gap_if_longer(struct timer_test *test, uint64_t from, uint64_t to, uint64_t most)
{
	if (to <= from || to - from <= most || test->arming.gaps == RECORD_AWAY_MAX)
		return;
	test->all->items[test->arming.gaps++] = (struct record_event){ from, to };
}

void
timer_test_discard_pending_interrupts(const struct timer_test *test)
{
	const struct timer_window *window = test->all->window;

	window->slot->taken = 0;
	window->open();
	window->close();
	window->slot->taken = window->slot->strays = 0;
}

void
timer_test_arm_source(struct timer_test *test, enum record_interrupts_what what, uint64_t ticks)
{
	struct timer_slot *slot = test->all->window->slot;
	struct record_interrupts *arming = &test->arming;

	if (test->timer->driver->settle) {
		test->timer->driver->settle(test->timer);
		timer_test_discard_pending_interrupts(test);
	}
	slot->taken = slot->strays = 0;
	*arming = (struct record_interrupts){ .what = (uint16_t)what, .asked = 1, .ticks = ticks };
	arming->armed_before = timer_test_read_tsc(test);
	arming->deadline = test->timer->driver->arm(test->timer, ticks, what == RECORD_PERIODS || what == RECORD_MASKED);
	arming->armed_after = timer_test_read_tsc(test);
	record_gap_if_longer(test, arming->armed_before, arming->armed_after, timer_test_ns_to_tsc_ticks(test, GAP_NS));
}

void
timer_test_watch_for_interrupts(struct timer_test *test, uint64_t from, uint64_t until, uint64_t taken)
{
	const struct timer_window *window = test->all->window;
	const volatile struct timer_slot *slot = window->slot;
	const struct scale *scale = &test->survey->scale;
	uint64_t gap_ticks = scale_ns_to_ticks(scale, GAP_NS), entry_ticks = scale_ns_to_ticks(scale, ENTRY_NS);
	uint64_t polls = scale_ns(scale, until - from) * TEST_POLLS_PER_NS, last = from, seen = 0;

	window->open();
	while (polls-- > 0) {
		uint64_t now = timer_test_read_tsc(test);

		for (; seen < slot->taken && seen < TIMER_EVENTS_MAX; seen++) {
			record_gap_if_longer(test, last, slot->events[seen].tsc, entry_ticks);
			last = slot->events[seen].tsc > last ? slot->events[seen].tsc : last;
		}
		record_gap_if_longer(test, last, now, gap_ticks);
		last = now > last ? now : last;
		if (seen >= taken || now >= until)
			break;
		test->survey->hooks.pause();
	}
	window->close();
	test->arming.opened = from;
	test->arming.closed = last;
}

uint64_t
timer_test_max_counter_lag_ticks(const struct timer_test *test)
{
	const struct report_clock *entry = NULL;

	if (test->timer->clock)
		entry = report_find_clock(test->survey->report, test->timer->clock);
	return entry ? resolution_largest_lag_ticks(&entry->resolution) : 1;
}

/* Appends the description of the tested timer to the record. */
static void
record_timer_description(struct timer_test *test)
{
	const struct timer *timer = test->timer;
	struct record_timer *facts = &test->facts;
	uint64_t lag_ticks = timer_test_max_counter_lag_ticks(test);

	facts->timer = (uint16_t)(test->row - test->survey->report->facts.intervals);
	facts->core = (uint32_t)test->core;
	text_copy(facts->source, sizeof(facts->source), timer->driver->id);
	facts->flags = (uint16_t)((facts->flags & RECORD_BY_TSC) | (test->row->test.periodic ? RECORD_PERIODIC : 0) |
				  (timer->own_phase ? RECORD_OWN_PHASE : 0) |
				  (timer->ticks_max == 1 ? RECORD_UNTIMED : 0));
	facts->interval_ns = test->row->test.asked_ns;
	facts->phase_ticks = timer->phase_ticks + 2 * (lag_ticks - 1);
	facts->count_mask = timer->counter_address ? timer->count_mask : 0;
	facts->step_ticks = timer->counter_address || timer->by_tsc ? lag_ticks : test->survey->tsc.resolution_ticks;
	record_put(&test->survey->record, RECORD_TIMER, facts, NULL, 0);
	test->recorded = true;
}

void
timer_test_append_arming_to_record(struct timer_test *test, size_t interrupts)
{
	struct record_interrupts *arming = &test->arming;

	if (!test->recorded)
		record_timer_description(test);
	arming->timer = test->facts.timer;
	record_put(&test->survey->record, RECORD_INTERRUPTS, arming, test->all->items, arming->gaps + interrupts);
}

bool
timer_test_record_interrupts(struct timer_test *test)
{
	const struct timer_slot *slot = test->all->window->slot;
	size_t count = slot->taken <= TIMER_EVENTS_MAX ? slot->taken : 0;

	for (size_t i = 0; i < count; i++)
		test->all->items[test->arming.gaps + i] = (struct record_event){ slot->events[i].count, slot->events[i].tsc };
	test->arming.taken = slot->taken;
	timer_test_append_arming_to_record(test, count);
	if (slot->taken <= TIMER_EVENTS_MAX)
		return true;
	test->timer->state = CLOCK_BROKEN;
	timer_test_end_row(test, CLOCK_BROKEN, "The timer's interrupts did not stop, so it was not tested further.");
	return false;
}
