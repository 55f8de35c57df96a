/* Totals of all tests of one source of interrupts. See irq_programmed.h. */
#include "judge/timers/irq_programmed.h"

#include "base/offset.h"
#include "base/text.h"
#include "judge/timers/irq_totals.h"

#define UNEVEN_SHARE 8u /* with ticks that are late by more than 1/8 period, a tick may count for the wrong period */

/* Adds the early one-shots of ROW. ALWAYS: on its core they came early in every length, as for EARLY_ALWAYS. */
static void
add_early(struct irq_totals *totals, const struct report_interval *row, bool always)
{
	if (always && !totals->early_always) {
		totals->early = 0;
		totals->earliest.known = false;
		totals->early_always = true;
	}
	if (totals->early_always && !always)
		return;
	totals->early += row->early;
	if (row->lateness.earliest.known &&
	    (!totals->earliest.known || row->lateness.earliest.low > totals->earliest.low))
		totals->earliest = row->lateness.earliest;
}

static void
add_shots(struct irq_totals *totals, const struct report_interval *row)
{
	totals->shots += row->expected;
	totals->shots_excused += row->excused;
	totals->shots_empty += row->empty;
	if (row->expected > row->delivered + row->empty)
		totals->shots_unknown += row->expected - row->delivered - row->empty;
	totals->missing += row->expired;
	if (row->asked_ns == INTERVAL_LATE_SHOT_NS && row->lateness.count >= IRQ_LATE_SHOTS_MIN &&
	    (!totals->late || row->lateness.p50_ns > totals->late->lateness.p50_ns))
		totals->late = row;
}

static uint64_t
nearest_ppb(const struct interval_ppb *ppb)
{
	return offset_min_size(rate_bounds(ppb));
}

static void
add_periods(struct irq_totals *totals, const struct report_interval *row)
{
	totals->periods += row->expected;
	totals->periods_excused += row->excused;
	totals->lost += row->empty;
	totals->doubled_periods += row->doubled;
	totals->uneven |= row->lateness.count && row->lateness.p99_ns + (int64_t)row->lateness.error_ns >
						(int64_t)(row->asked_ns / UNEVEN_SHARE);
	totals->scattered |= row->scattered;
	if (row->rate.known && (!totals->rate.known || nearest_ppb(&row->rate) > nearest_ppb(&totals->rate)))
		totals->rate = row->rate;
}

bool
irq_is_polled(const struct irq_totals *totals)
{
	return text_equal(totals->kind, "status");
}

struct irq_totals
irq_sum_up(const struct report *report, const char *source)
{
	struct irq_totals totals = { .source = source };

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (!text_equal(row->source, source))
			continue;
		totals.kind = row->route_kind;
		totals.pin = row->pin;
		totals.came |= row->delivered != 0;
		totals.doubled += row->doubled;
		totals.over += row->over;
		totals.stale += row->stale;
		totals.storms |= row->state == CLOCK_BROKEN && !irq_is_polled(&totals);
		totals.came |= totals.storms;
		if (row->periodic) {
			add_periods(&totals, row);
			continue;
		}
		add_shots(&totals, row);
		add_early(&totals, row, irq_core_is_early(report, source, row->core));
	}
	return totals;
}

struct behaviour *
irq_add_row(struct report *report, const char *rule, const struct irq_totals *totals)
{
	struct behaviour *row = behaviour_add(&report->behaviours, rule, totals->source);

	if (row)
		row->checked = true;
	return row;
}

void
irq_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high)
{
	row->has_figure = true;
	row->measured = measured;
	row->low = low;
	row->high = high;
}
