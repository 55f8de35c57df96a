/* Section on sleep states: what clocks did while cores slept, and how late cores woke. */
#include "render/cores/table_cores.h"

#include "base/number.h"
#include "report/phrase.h"

#define STATE_COLUMNS 12

/* Writes FIGURE in eight columns: a change that is proven with its sign, otherwise its bound, as "<1.00us". */
static void
put_change(struct text *out, struct offset figure)
{
	char cell[24] = "-";
	bool is_proven = offset_excludes_zero(figure);

	if (offset_is_known(figure))
		text_format(cell, sizeof(cell), "%s%s", is_proven ? figure.high < 0 ? "-" : "+" : "<",
			    number_in_cell_from_ns(is_proven ? offset_min_abs(figure) : offset_max_abs(figure)).text);
	text_printf(out, "%8s", cell);
}

static void
put_lateness(struct text *out, int64_t ns, bool known)
{
	text_printf(out, "%8s", known ? number_in_cell_from_ns(ns < 0 ? 0 : (uint64_t)ns).text : "-");
}

void
table_put_sleeps(struct text *out, const struct report *report)
{
	const struct report_sleeps *sleeps = &report->figures.sleeps;

	if (!sleeps->count)
		return;
	text_printf_coloured(out, INK_HEADING, "\nSleep: what clocks did while cores slept, and how late cores woke\n\n");
	text_put(out, "state         core   TSC +-  timer-     IPI IPI max   timer  reached\n");
	for (size_t i = 0; i < sleeps->count; i++) {
		const struct report_sleep *row = &sleeps->rows[i];
		const struct report_wakes *ipi = &row->wakes[WOKEN_BY_IPI], *timer = &row->wakes[WOKEN_BY_TIMER];

		text_printf(out, "%-*s%6u ", STATE_COLUMNS, row->state, row->core);
		put_change(out, row->tsc_gained_ns);
		put_change(out, row->lapic_lost_ns);
		put_lateness(out, ipi->p50_ns, ipi->count);
		put_lateness(out, ipi->max_ns, ipi->count);
		put_lateness(out, timer->p50_ns, timer->count);
		text_printf(out, "  %s\n", phrase_reached_state(row).bytes);
	}
	table_put_paragraph(out, 0, "TSC +-: what the core's TSC gained or lost in its sleeps; timer-: what its local APIC "
				    "timer lost; <: less than. IPI, timer: half of the wake-ups took at least this time; reached: the "
				    "state in which the CPU counted the longest time; at most C1 if the core's other thread (SMT) is awake.");
}
