/* Totals of the tests of one source of interrupts. See irq_totals.h. */
#include "judge/timers/irq_totals.h"

#include "base/text.h"

#define MANY_NS    UINT64_C(10000000) /* tests with longer deadlines have only one of them */
#define LATE_SHARE 8 /* if ticks are late by more than 1/8 period, a tick may be matched to the wrong period */

/*
 * Returns true if LATE_NS, a percentile of the lateness in the test ROW, is 1/8 of the interval or more. A host that
 * pauses the timer makes interrupts late, because its pauses end at any time within an interval.
 */
static bool
is_late_percentile(const struct interval_figures *row, int64_t late_ns)
{
	return row->lateness.count && late_ns + (int64_t)row->lateness.error_ns >= (int64_t)row->test.asked_ns / LATE_SHARE;
}

static void
add_one_shots(struct irq_totals *totals, const struct interval_figures *row)
{
	totals->missing += row->expired;
	if (row->lost_tsc > totals->gaps.lost_tsc)
		totals->gaps.lost_tsc = row->lost_tsc;
	totals->gaps.over += row->over_gaps;
	totals->gaps.delayed += row->delayed;
	if (row->delay.known && (!totals->gaps.delay.known || row->delay.low > totals->gaps.delay.low))
		totals->gaps.delay = row->delay;
	if (row->lateness.count) {
		totals->timely_tests += !row->early;
		totals->shot_ns = !totals->shot_ns || totals->shot_ns == row->test.asked_ns ? row->test.asked_ns : UINT64_MAX;
	}
	totals->early += row->early;
	if (row->lateness.earliest.known &&
	    (!totals->earliest.known || row->lateness.earliest.low > totals->earliest.low))
		totals->earliest = row->lateness.earliest;
	if (row->test.asked_ns == IRQ_LATE_SHOT_NS && row->lateness.count >= IRQ_LATE_SHOTS_MIN &&
	    (!totals->late || row->lateness.p50_ns > totals->late->lateness.p50_ns))
		totals->late = row;
}

static void
add_periods(struct irq_totals *totals, const struct interval_figures *row)
{
	totals->losses += row->empty ? row->losses : 0;
	totals->uneven |= is_late_percentile(row, row->lateness.p99_ns);
	totals->scattered |= row->scattered;
	if (row->rate.known &&
	    (!totals->rate.known || rate_min_abs(&row->rate) > rate_min_abs(&totals->rate)))
		totals->rate = row->rate;
}

struct irq_totals
irq_sum_up_source(const struct report *report, const char *source, uint32_t core)
{
	struct irq_totals totals = { .source = source };

	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *row = &report->figures.intervals[i];

		if (!text_equal(row->test.source, source) || (core != REPORT_NO_CORE && row->test.core != core))
			continue;
		totals.kind = row->test.route_kind;
		totals.polled = text_equal(row->test.route_kind, "status");
		totals.pin = row->test.pin;
		totals.expired.over += row->over;
		totals.expired.stale += row->stale;
		totals.storms |= row->state == CLOCK_BROKEN && !totals.polled && !row->test.faulted;
		totals.came |= row->delivered || totals.storms;
		struct irq_mode_totals *mode = row->test.periodic ? &totals.periods : &totals.shots;
		mode->tests += row->state != CLOCK_ABSENT && row->state != CLOCK_DISABLED;
		mode->many |= row->test.asked_ns <= MANY_NS;
		mode->count += row->expected;
		mode->delivered += row->delivered;
		mode->empty += row->empty;
		mode->doubled += row->doubled;
		mode->excused += row->excused;
		if (row->doubled || row->empty)
			mode->delayed |= !row->lateness.count || row->doubtful || is_late_percentile(row, row->lateness.p999_ns);
		if (row->test.periodic)
			add_periods(&totals, row);
		else
			add_one_shots(&totals, row);
	}
	return totals;
}
