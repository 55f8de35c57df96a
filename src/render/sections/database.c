/* The cost of clock reads for a database that times its rows. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"

#define ID_COLUMNS    11 /* width of a clock's id and, if the clock failed, a mark */
#define CELL_SIZE     24
#define PS_PER_US     1000000
#define COARSE_PS     UINT64_C(1000000) /* 1 us: a clock with longer steps is too coarse to time rows */
#define SHORT_US      10000 /* times below this limit, 10 ms, are printed with tenths of a millisecond */

static bool
is_read_cost_known(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT && entry->cost.read_ps.known;
}

static bool
has_clock_failed(const struct report_clock *entry)
{
	return entry->verdict == VERDICT_FAIL;
}

/* Returns true if the clock cannot time rows of a database, because it failed or its steps are too long. */
static bool
is_clock_unfit_for_database(const struct report *report, const struct report_clock *entry)
{
	return has_clock_failed(entry) || report_clock_ticks_to_ps(report, entry, entry->resolution.gcd_ticks) > COARSE_PS;
}

/*
 * Returns the clock with the cheapest reads. If some clocks can time rows of a database, chooses only among these.
 * Returns NULL if no clock's cost is known.
 */
static const struct report_clock *
find_fastest_clock(const struct report *report)
{
	const struct report_clock *least = NULL;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *entry = &report->clocks[i];

		if (!is_read_cost_known(entry))
			continue;
		if (!least || is_clock_unfit_for_database(report, entry) < is_clock_unfit_for_database(report, least) ||
		    (is_clock_unfit_for_database(report, entry) == is_clock_unfit_for_database(report, least) &&
		     entry->cost.read_ps.value < least->cost.read_ps.value))
			least = entry;
	}
	return least;
}

/* Writes PS in milliseconds, right-aligned in WIDTH columns. */
static void
put_ms(struct text *out, int64_t ps, int width)
{
	uint64_t us = scale_mul_div_nearest((uint64_t)ps, 1, PS_PER_US);
	char bytes[CELL_SIZE];
	struct text text;

	text_init(&text, bytes, sizeof(bytes));
	text_put_decimal(&text, us, 3, us < SHORT_US);
	text_printf(out, "%*s", (int)(width > (int)text.length ? width - (int)text.length : 0), "");
	text_put(out, bytes);
}

static void
put_row_of_clock(struct text *out, const struct report *report, const struct report_clock *entry,
		 const struct report_clock *least)
{
	const struct report_cost *cost = &entry->cost;
	bool worse = is_clock_unfit_for_database(report, entry) && !is_clock_unfit_for_database(report, least);
	char label[CELL_SIZE];
	struct text text;

	text_init(&text, label, sizeof(label));
	text_printf(&text, "%s%s", entry->clock.id, has_clock_failed(entry) ? "!" : "");
	table_put_label(out, label, ID_COLUMNS);
	put_ms(out, cost->rows_ps.value, 9);
	put_ms(out, cost->rows_ps.low, 10);
	text_put(out, " ..");
	put_ms(out, cost->rows_ps.high, 8);
	if (worse)
		text_printf(out, "%11s", "-");
	else if (entry != least && cost->rows_ps.low <= least->cost.rows_ps.high)
		text_printf(out, "%11s", "n.d.");
	else
		put_ms(out, cost->rows_ps.value - least->cost.rows_ps.value, 11);
	text_printf(out, "  %6s  %6s  %6s\n", number_in_cell_from_ps((uint64_t)cost->read_ps.value).text,
		    number_in_cell_from_ps(cost->null_ps).text, number_in_cell_from_ps(cost->loop_ps).text);
}

void
table_put_database_timing_cost(struct text *out, const struct report *report)
{
	const struct report_clock *least = find_fastest_clock(report);
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	text_put_coloured(out, INK_HEADING, "\nWhat EXPLAIN ANALYZE costs: 100,000 rows of a database, 2 clock reads "
			  "each\n\n");
	if (!least) {
		text_put(out, "Not known: no core read both a clock and null, whose cost is subtracted.\n");
		return;
	}
	text_printf(out, "%-*s%9s%10s ..%8s%11s  a read bracket pg_test\n", ID_COLUMNS, "clock", "ms", "least", "most",
		    "over best");
	for (size_t i = 0; i < report->clock_count; i++)
		if (is_read_cost_known(&report->clocks[i]))
			put_row_of_clock(out, report, &report->clocks[i], least);
	for (size_t i = 0; i < report->clock_count && !text->length; i++)
		if (is_read_cost_known(&report->clocks[i]) && has_clock_failed(&report->clocks[i]))
			text_put(text, "\"!\": the clock failed, so its times cannot be trusted. ");
	text_put(text, "\"ms\": extra time of the query. \"over best\": above the cheapest clock. \"a read\": cost "
		       "without bracket, median of cores. \"pg_test\": mean time in a loop on the boot core, "
		       "without bracket (the average loop time in the last section includes it); pg_test_timing "
		       "prints at least this.");
	text_put_char(out, '\n');
	table_end_sentence(out, &sentence);
}

void
table_put_database_timing_in_short(struct text *out, const struct report *report)
{
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);
	size_t count = 0;

	text_put(text, "Timing 100,000 rows of a database, 2 clock reads each:");
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *entry = &report->clocks[i];

		if (!is_read_cost_known(entry) || !report_clock_is_main_of_device(entry))
			continue;
		text_printf(text, "%s %s ", count++ ? "," : "", entry->clock.id);
		put_ms(text, entry->cost.rows_ps.value, 0);
		text_put(text, " ms");
	}
	text_put(text, count ? "." : " -");
	text_put_char(out, '\n');
	table_end_sentence(out, &sentence);
}
