/* The cost of clock reads for a database that times its rows. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"

#define ID_COLUMNS    11 /* width of a clock's id and, if the clock failed, a mark */
#define CELL_SIZE     24
#define SHORT_US      10000 /* times below this limit, 10 ms, are printed with tenths of a millisecond */

/* Returns true if the cost of ENTRY is known, and a kernel or PostgreSQL reads the clock by this method. */
static bool
has_cost_for_database(const struct report *report, const struct report_clock *entry)
{
	const struct report_cost *cost = &report_get_figures(report, entry)->cost;

	return entry->clock.state == CLOCK_PRESENT && cost->read_ps.known && cost->read_in;
}

static bool
has_clock_failed(const struct report *report, const struct report_clock *entry)
{
	return report_get_clock_outcome(report, entry)->verdict == VERDICT_FAIL;
}

/* Writes the lower bound of the time of 200,000 reads, as "2.0 ms", right-aligned in WIDTH columns. */
static void
put_least_ms(struct text *out, const struct report_cost *cost, int width)
{
	uint64_t us = scale_mul_div_nearest((uint64_t)cost->rows_ps.low, 1, PS_PER_US);
	char bytes[CELL_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	text_put_decimal(&text, us, 3, us < SHORT_US);
	text_put(&text, " ms");
	text_printf(out, "%*s%s", (int)(width > (int)text.length ? width - (int)text.length : 0), "", bytes);
}

static void
put_row_of_clock(struct text *out, const struct report *report, const struct report_clock *entry)
{
	const struct report_cost *cost = &report_get_figures(report, entry)->cost;
	char label[CELL_SIZE];
	struct text text = text_start(label, sizeof(label));

	text_printf(&text, "%s%s", entry->clock.id, has_clock_failed(report, entry) ? "!" : "");
	table_put_label(out, label, ID_COLUMNS);
	if (!report_is_machine_emulated(report))
		put_least_ms(out, cost, 10);
	text_printf(out, "  %-10s  %6s  %6s  %6s\n", cost->read_in, number_in_cell_from_ps((uint64_t)cost->read_ps.value).text,
		    number_in_cell_from_ps(cost->null_ps).text, number_in_cell_from_ps(cost->loop_ps).text);
}

static void
put_explanation(struct text *text, const struct report *report, bool any_failed)
{
	if (any_failed)
		text_put(text, "\"!\": the clock failed, so its times cannot be trusted. ");
	if (report_is_machine_emulated(report))
		text_put(text, "No time of a query is given: in an emulator, other parts of it are longer than the clock's. ");
	else
		text_put(text, "\"at least\": the clock's part of a query's extra time, for 100,000 rows of one plan node, "
			 "on the core with the cheapest reads. The model: extra time = rows x plan nodes x (2 x (a read + "
			 "the system's part) + PostgreSQL's own work). ");
	text_put(text, "\"read in\": a read in the kernel is a system call, because user space cannot read this clock. \"a "
		 "read\": cost without bracket, median of cores. \"pg_test\": mean time in a loop on the boot core, "
		 "without bracket (the average loop time in the last section includes it), but with stolen time. "
		 "Under the same load pg_test_timing prints more, because of its own loop and of Linux.");
}

void
table_put_database_timing_cost(struct text *out, const struct report *report)
{
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);
	bool any = false, any_failed = false;

	text_printf_coloured(out, INK_HEADING, "\nWhat EXPLAIN ANALYZE costs: 2 clock reads for each row of a plan node\n\n");
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (!has_cost_for_database(report, entry))
			continue;
		if (!any)
			text_printf(out, "%-*s%s  %-10s  a read bracket pg_test\n", ID_COLUMNS, "clock",
				    report_is_machine_emulated(report) ? "" : "  at least", "read in");
		any = true;
		any_failed |= has_clock_failed(report, entry);
		put_row_of_clock(out, report, entry);
	}
	if (!any) {
		text_put(out, "Not known: no core read both null and a clock as kernels read it.\n");
		return;
	}
	put_explanation(text, report, any_failed);
	text_put_char(out, '\n');
	table_end_sentence(out, &sentence);
}

/* Returns true if an earlier clock of the report is read from the same device, and is part of the table, too. */
static bool
was_device_listed(const struct report *report, const struct report_clock *entry)
{
	for (const struct report_clock *earlier = report->facts.clocks; earlier < entry; earlier++)
		if (has_cost_for_database(report, earlier) && text_equal(earlier->clock.main, entry->clock.main))
			return true;
	return false;
}

void
table_put_database_timing_in_short(struct text *out, const struct report *report)
{
	bool emulated = report_is_machine_emulated(report);
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);
	size_t count = 0;

	text_put(text, emulated ? "Timing a row of a database takes 2 clock reads, each of:" :
		 "Timing 100,000 rows of a database takes at least:");
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (!has_cost_for_database(report, entry) || was_device_listed(report, entry))
			continue;
		text_printf(text, "%s %s ", count++ ? "," : "", entry->clock.id);
		if (emulated)
			text_put(text, number_from_ps((uint64_t)report->figures.clocks[i].cost.read_ps.value).text);
		else
			put_least_ms(text, &report->figures.clocks[i].cost, 0);
	}
	text_put(text, count ? "." : " -");
	text_put_char(out, '\n');
	table_end_sentence(out, &sentence);
}
