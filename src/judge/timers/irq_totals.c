/* Totals of the tests of one source of interrupts. See irq_totals.h. */
#include "judge/timers/irq_totals.h"

#include "base/text.h"

#define UNEVEN_SHARE 8u /* if ticks are late by more than 1/8 period, a tick may be matched to the wrong period */

/* Adds the early one-shots of the test ROW. ALWAYS is true if one-shots of every length came early on ROW's core. */
static void
add_early_one_shots(struct irq_totals *totals, const struct report_interval *row, bool always)
{
	if (totals->early_always && !always)
		return;
	if (always && !totals->early_always) {
		totals->early = 0;
		totals->earliest.known = false;
		totals->early_always = true;
	}
	totals->early += row->early;
	if (row->lateness.earliest.known &&
	    (!totals->earliest.known || row->lateness.earliest.low > totals->earliest.low))
		totals->earliest = row->lateness.earliest;
}

static void
add_one_shots(struct irq_totals *totals, const struct report_interval *row)
{
	totals->missing += row->expired;
	if (row->asked_ns == IRQ_LATE_SHOT_NS && row->lateness.count >= IRQ_LATE_SHOTS_MIN &&
	    (!totals->late || row->lateness.p50_ns > totals->late->lateness.p50_ns))
		totals->late = row;
}

static void
add_periods(struct irq_totals *totals, const struct report_interval *row)
{
	totals->losses += row->empty ? row->losses : 0;
	totals->uneven |= row->lateness.count && row->lateness.p99_ns + (int64_t)row->lateness.error_ns >
						(int64_t)(row->asked_ns / UNEVEN_SHARE);
	totals->scattered |= row->scattered;
	if (row->rate.known &&
	    (!totals->rate.known || rate_min_abs(&row->rate) > rate_min_abs(&totals->rate)))
		totals->rate = row->rate;
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
		struct irq_mode_totals *mode;

		if (!text_equal(row->source, source) || (core != REPORT_NO_CORE && row->core != core))
			continue;
		totals.kind = row->route_kind;
		totals.polled = text_equal(row->route_kind, "status");
		totals.pin = row->pin;
		totals.over += row->over;
		totals.stale += row->stale;
		totals.storms |= row->state == CLOCK_BROKEN && !totals.polled;
		totals.came |= row->delivered || totals.storms;
		mode = row->periodic ? &totals.periods : &totals.shots;
		mode->count += row->expected;
		mode->delivered += row->delivered;
		mode->empty += row->empty;
		mode->doubled += row->doubled;
		mode->excused += row->excused;
		if (row->periodic) {
			add_periods(&totals, row);
			continue;
		}
		add_one_shots(&totals, row);
		add_early_one_shots(&totals, row, is_source_early_on_core(report, source, row->core));
	}
	return totals;
}
