/* Totals of the tests of one source of interrupts. See irq_totals.h. */
#include "judge/timers/irq_totals.h"

#include "base/text.h"

#define UNEVEN_SHARE 8u /* if ticks are late by more than 1/8 period, a tick may be matched to the wrong period */

/* Adds the early one-shots of the test ROW. ALWAYS is true if one-shots of every length came early on ROW's core. */
static void
add_early_one_shots(struct irq_totals *totals, const struct report_interval *row, bool always)
{
	if (totals->shots.early_always && !always)
		return;
	if (always && !totals->shots.early_always) {
		totals->shots.early = 0;
		totals->shots.earliest.known = false;
		totals->shots.early_always = true;
	}
	totals->shots.early += row->early;
	if (row->lateness.earliest.known &&
	    (!totals->shots.earliest.known || row->lateness.earliest.low > totals->shots.earliest.low))
		totals->shots.earliest = row->lateness.earliest;
}

static void
add_one_shots(struct irq_totals *totals, const struct report_interval *row)
{
	totals->shots.count += row->expected;
	totals->shots.excused += row->excused;
	totals->shots.empty += row->empty;
	if (row->expected > row->delivered + row->empty)
		totals->shots.unknown += row->expected - row->delivered - row->empty;
	totals->shots.missing += row->expired;
	if (row->asked_ns == IRQ_LATE_SHOT_NS && row->lateness.count >= IRQ_LATE_SHOTS_MIN &&
	    (!totals->late || row->lateness.p50_ns > totals->late->lateness.p50_ns))
		totals->late = row;
}

static void
add_periods_of_row(struct irq_totals *totals, const struct report_interval *row)
{
	totals->periods.count += row->expected;
	totals->periods.excused += row->excused;
	totals->periods.lost += row->empty;
	totals->periods.losses += row->empty ? row->losses : 0;
	totals->periods.doubled += row->doubled;
	totals->periods.uneven |= row->lateness.count && row->lateness.p99_ns + (int64_t)row->lateness.error_ns >
						(int64_t)(row->asked_ns / UNEVEN_SHARE);
	totals->periods.scattered |= row->scattered;
	if (row->rate.known &&
	    (!totals->rate.known || rate_min_abs(&row->rate) > rate_min_abs(&totals->rate)))
		totals->rate = row->rate;
}

bool
irq_is_source_polled(const struct irq_totals *totals)
{
	return text_equal(totals->kind, "status");
}

/*
 * Returns true if SOURCE's one-shots of every length came early on CORE. If only one length was tested, more than half
 * of the one-shots must be early. A timer that rounds deadlines or counts a wrong clock is early in every length.
 */
static bool
is_source_early_on_core(const struct report *report, const char *source, uint32_t core)
{
	uint64_t shots = 0, early_shots = 0;
	unsigned lengths = 0, early = 0;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (row->periodic || row->core != core || !text_equal(row->source, source))
			continue;
		lengths += row->lateness.count > 0;
		early += row->early > 0;
		shots += row->lateness.count;
		early_shots += row->early;
	}
	return early && early >= lengths && (lengths > 1 || 2 * early_shots > shots);
}

struct irq_totals
irq_sum_up_source(const struct report *report, const char *source, uint32_t core)
{
	struct irq_totals totals = { .source = source };

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (!text_equal(row->source, source) || (core != REPORT_NO_CORE && row->core != core))
			continue;
		totals.kind = row->route_kind;
		totals.pin = row->pin;
		totals.doubled += row->doubled;
		totals.over += row->over;
		totals.stale += row->stale;
		totals.storms |= row->state == CLOCK_BROKEN && !irq_is_source_polled(&totals);
		totals.came |= row->delivered || totals.storms;
		if (row->periodic) {
			add_periods_of_row(&totals, row);
			continue;
		}
		add_one_shots(&totals, row);
		add_early_one_shots(&totals, row, is_source_early_on_core(report, source, row->core));
	}
	return totals;
}
