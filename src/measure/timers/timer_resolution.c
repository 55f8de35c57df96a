/* Finds the duration of a tick of a timer's counter. See timer_test.h. */
#include "measure/timers/timer_test.h"

#include "base/text.h"
#include "base/units.h"

#define CALIBRATE_NS    (10 * SURVEY_NS_PER_MS)

uint64_t
timer_test_ns_to_ticks(const struct timer_test *test, uint64_t ns)
{
	return scale_mul_div_nearest(ns * PS_PER_NS, AS_PER_PS, test->tick.value);
}

/*
 * Measures the tick of a source without a nominal frequency, using the TSC. If the counter does not count down,
 * facts.span_ticks stays 0.
 */
static void
measure_tick_length(struct timer_test *test)
{
	uint64_t bound = timer_test_ns_to_tsc_ticks(test, CALIBRATE_NS), polls = CALIBRATE_NS * TEST_POLLS_PER_NS;
	struct sample first, last;

	test->timer->driver->arm(test->timer, test->timer->ticks_max, false);
	first = survey_read_ticks_left(test->survey, test->timer);
	while (timer_test_read_tsc(test) - first.end < bound && polls-- > 0)
		test->survey->hooks.pause();
	last = survey_read_ticks_left(test->survey, test->timer);
	test->timer->driver->disarm(test->timer);
	if (last.ticks >= first.ticks)
		return;
	test->facts.span_ticks = first.ticks - last.ticks;
	test->facts.span_least = last.begin - first.end;
	test->facts.span_most = last.end - first.begin;
}

/*
 * Keeps the rate of the boot core's LAPIC timer, for a comparison with other sources. The tick was timed by an estimate
 * of the TSC's rate, so the interval is widened by the error of this estimate.
 */
static void
keep_lapic_rate(const struct timer_test *test)
{
	struct report *report = test->survey->report;
	const struct rate_interval *tsc = &report->figures.tsc_within;
	const struct timer_tick *tick = &test->tick;
	struct interval_millihz rate = { .known = tsc->known && tick->low && tick->high && tick->value };

	if (!rate.known || test->core || !text_equal(test->timer->driver->id, "lapic"))
		return;
	rate.value = scale_mul_div_nearest(AS_PER_S, MILLIHZ_PER_HZ, tick->value);
	rate.low = scale_mul_div(scale_mul_div(AS_PER_S, MILLIHZ_PER_HZ, tick->high), tsc->low, tsc->value);
	rate.high = scale_mul_div_up(scale_mul_div_up(AS_PER_S, MILLIHZ_PER_HZ, tick->low), tsc->high, tsc->value);
	report->facts.lapic = rate;
}

bool
timer_test_set_tick_length(struct timer_test *test)
{
	const struct timer *timer = test->timer;

	if (test->tick.value)
		return true;
	test->facts.flags = timer->by_tsc ? RECORD_BY_TSC : 0;
	test->facts.hz_num = timer->hz.num;
	test->facts.hz_den = timer->hz.den;
	if (!timer->by_tsc && !timer->hz.den)
		measure_tick_length(test);
	test->tick = analysis_calculate_timer_tick(&test->facts, &test->survey->scale);
	keep_lapic_rate(test);
	return test->tick.value != 0;
}
