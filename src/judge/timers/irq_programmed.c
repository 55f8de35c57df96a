/* Totals of all tests of one source of interrupts. See irq_programmed.h. */
#include "judge/timers/irq_programmed.h"

#include "base/offset.h"
#include "base/text.h"
#include "judge/timers/irq_totals.h"

#define UNEVEN_SHARE 8u /* a source that is late by more than 1/8 period may seem to lose ticks */

static void
take_early(struct asked *asked, const struct report_interval *row, bool always)
{
	if (always && !asked->early_always) {
		asked->early = 0;
		asked->earliest.known = false;
		asked->early_always = true;
	}
	if (asked->early_always && !always)
		return;
	asked->early += row->early;
	if (row->lateness.earliest.known &&
	    (!asked->earliest.known || row->lateness.earliest.low > asked->earliest.low))
		asked->earliest = row->lateness.earliest;
}

static void
take_shots(struct asked *asked, const struct report_interval *row)
{
	asked->shots += row->expected;
	asked->shots_excused += row->excused;
	asked->shots_empty += row->empty;
	if (row->expected > row->delivered + row->empty)
		asked->shots_untold += row->expected - row->delivered - row->empty;
	asked->missing += row->expired;
	if (row->asked_ns == INTERVAL_LATE_SHOT_NS && row->lateness.count >= ASKED_LATE_SHOTS_MIN &&
	    (!asked->late || row->lateness.p50_ns > asked->late->lateness.p50_ns))
		asked->late = row;
}

static uint64_t
nearest_ppb(const struct interval_ppb *ppb)
{
	return offset_nearest((struct offset){ ppb->low, ppb->high });
}

static void
take_periods(struct asked *asked, const struct report_interval *row)
{
	asked->periods += row->expected;
	asked->periods_excused += row->excused;
	asked->lost += row->empty;
	asked->doubled_periods += row->doubled;
	asked->uneven |= row->lateness.count && row->lateness.p99_ns + (int64_t)row->lateness.error_ns >
						(int64_t)(row->asked_ns / UNEVEN_SHARE);
	asked->scattered |= row->scattered;
	if (row->rate.known && (!asked->rate.known || nearest_ppb(&row->rate) > nearest_ppb(&asked->rate)))
		asked->rate = row->rate;
}

bool
asked_is_polled(const struct asked *asked)
{
	return text_equal(asked->kind, "status");
}

struct asked
asked_all_of(const struct report *report, const char *source)
{
	struct asked asked = { .source = source };

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (!text_equal(row->source, source))
			continue;
		asked.kind = row->route_kind;
		asked.pin = row->pin;
		asked.came |= row->delivered != 0;
		asked.doubled += row->doubled;
		asked.over += row->over;
		asked.stale += row->stale;
		asked.storms |= row->state == CLOCK_BROKEN && !asked_is_polled(&asked);
		asked.came |= asked.storms;
		if (row->periodic) {
			take_periods(&asked, row);
			continue;
		}
		take_shots(&asked, row);
		take_early(&asked, row, interval_cores_is_early(report, source, row->core));
	}
	return asked;
}

struct behaviour *
asked_row(struct report *report, const char *rule, const struct asked *asked)
{
	struct behaviour *row = behaviour_add(&report->behaviours, rule, asked->source);

	if (row)
		row->checked = true;
	return row;
}

void
asked_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high)
{
	row->has_figure = true;
	row->measured = measured;
	row->low = low;
	row->high = high;
}
