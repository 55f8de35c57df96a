/* The figures of a soak over time. Each line summarises one or more rows of the series. See table_sections.h. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/units.h"

#define LINES_MAX   12 /* maximum number of lines for the series in a report */
#define CLOCKS_SIDE_BY_SIDE     3  /* number of clocks that are printed next to each other */
#define CELL_SIZE   24

/* Rows FROM to TO - 1 of the series, which share a line. */
struct stretch {
	const struct report *report;
	size_t from, to;
};

static uint64_t
largest_p99_ns(const struct stretch *stretch, size_t clock)
{
	uint64_t largest = 0;

	for (size_t r = stretch->from; r < stretch->to; r++) {
		const struct series_clock *read = &stretch->report->facts.series.rows[r].clocks[clock];

		if (read->count && read->p99_ns > largest)
			largest = read->p99_ns;
	}
	return largest;
}

/* Returns the mean of the rows' rates and of their bounds, without weights: all rows are about equally long. */
static struct interval_ppb
mean_rate_of_rows(const struct stretch *stretch, size_t clock)
{
	struct interval_ppb sum = { false, 0, 0, 0 };
	int64_t count = 0;

	for (size_t r = stretch->from; r < stretch->to; r++) {
		const struct series_clock *row = &stretch->report->facts.series.rows[r].clocks[clock];
		const struct interval_ppb *rate = &report_get_soak_rate(stretch->report, row)->ppb;

		if (!rate->known)
			continue;
		count++;
		sum = (struct interval_ppb){ true, sum.value + rate->value, sum.low + rate->low, sum.high + rate->high };
	}
	if (!sum.known)
		return sum;
	return (struct interval_ppb){ true, sum.value / count, sum.low / count, sum.high / count };
}

static uint64_t
largest_offset_ns(const struct stretch *stretch)
{
	const struct report *report = stretch->report;
	const struct series *series = &report->facts.series;
	struct offset range = { 0, 0 };

	for (size_t r = stretch->from; r < stretch->to; r++)
		for (size_t i = 0; i < report->facts.core_count; i++)
			if (!report->facts.cores[i].boot)
				range = offset_hull(range, series_add_resolution(report->figures.tsc_resolution_ticks,
										 series->rows[r].offsets[i]));
	return (uint64_t)report_ticks_to_ns(report, offset_max_abs(range)).high;
}

static uint64_t
longest_gap_ns(const struct stretch *stretch)
{
	uint64_t longest = 0;

	for (size_t r = stretch->from; r < stretch->to; r++) {
		const struct series_row *row = &stretch->report->facts.series.rows[r];

		if (row->gaps && row->worst_gap_ns > longest)
			longest = row->worst_gap_ns;
	}
	return longest;
}

static void
put_ns(struct text *out, uint64_t ns, int width)
{
	text_printf(out, "%*s", width, ns ? number_in_cell_from_ns(ns).text : "-");
}

/* Writes a rate in ppm with as many digits as its error allows. */
static void
put_rate(struct text *out, const struct interval_ppb *rate, int width)
{
	char bytes[CELL_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	if (rate->known) {
		uint64_t error = (uint64_t)(rate->high - rate->low) / 2;
		struct number_within rounded = number_round_to_error(rate->value, error);
		uint64_t size = rounded.value < 0 ? 0 - (uint64_t)rounded.value : (uint64_t)rounded.value;

		text_put_char(&text, rounded.value < 0 ? '-' : '+');
		text_put_decimal(&text, size, 3, error < 100 ? 3 : error < 1000 ? 2 : error < 10000 ? 1 : 0);
	} else {
		text_put_char(&text, '-');
	}
	text_printf(out, "%*s", width, bytes);
}

/* Returns true if all other rates are measured against CLOCK. Its own rate is then not shown. */
static bool
are_rates_relative_to_clock(const struct report *report, size_t clock)
{
	return text_equal(report->facts.clocks[clock].clock.id, report->figures.relative_to);
}

static size_t
find_clocks_in_series(const struct report *report, size_t picked[REPORT_CLOCKS_MAX])
{
	size_t count = table_find_clocks_with_reads(report, true, picked);

	return count < CLOCKS_SIDE_BY_SIDE ? count : CLOCKS_SIDE_BY_SIDE;
}

static void
put_series_line(struct text *out, const struct stretch *stretch)
{
	const struct report *report = stretch->report;
	const struct series_row *last = &report->facts.series.rows[stretch->to - 1];
	size_t picked[REPORT_CLOCKS_MAX], count = find_clocks_in_series(report, picked);

	text_printf(out, "%6lu s", (report_run_time_ns(report, last->to_tsc) + NS_PER_S / 2) / NS_PER_S);
	put_ns(out, longest_gap_ns(stretch), 8);
	put_ns(out, largest_offset_ns(stretch), 8);
	for (size_t i = 0; i < count; i++) {
		struct interval_ppb rate = mean_rate_of_rows(stretch, picked[i]);

		rate.known &= !are_rates_relative_to_clock(report, picked[i]);
		put_ns(out, largest_p99_ns(stretch, picked[i]), 8);
		put_rate(out, &rate, 10);
	}
	text_put_char(out, '\n');
}

void
table_put_series_heading(struct text *out, const struct report *report)
{
	size_t picked[REPORT_CLOCKS_MAX], count = find_clocks_in_series(report, picked);

	text_printf(out, "%8s%8s%8s", "up to", "gap", "cores");
	for (size_t i = 0; i < count; i++)
		text_printf(out, "%8s%10s", report->facts.clocks[picked[i]].clock.id, "ppm");
	text_put_char(out, '\n');
}

void
table_put_latest_series_row(struct text *out, const struct report *report)
{
	if (report->facts.series.count)
		put_series_line(out, &(struct stretch){ report, report->facts.series.count - 1,
							report->facts.series.count });
}

/* Returns true if the offset in at least one row can be larger than the bound of the offsets for the whole run. */
static bool
does_row_exceed_bound(const struct report *report)
{
	return report->outcomes.sync.within_known &&
	       largest_offset_ns(&(struct stretch){ report, 0, report->facts.series.count }) >
		       report->outcomes.sync.within_ns;
}

void
table_put_series(struct text *out, const struct report *report)
{
	size_t rows = report->facts.series.count, lines = rows < LINES_MAX ? rows : LINES_MAX;

	if (!rows)
		return;
	text_printf_coloured(out, INK_HEADING, "\nThe run over time\n\n");
	table_put_series_heading(out, report);
	for (size_t i = 0; i < lines; i++)
		put_series_line(out, &(struct stretch){ report, i * rows / lines, (i + 1) * rows / lines });
	text_put_char(out, '\n');
	table_put_paragraph(out, 2, "\"gap\": longest time stolen from a core at once. \"cores\": largest possible offset "
				"from the boot core's TSC. Clocks: largest p99 latency, and rate in ppm against %s.",
			    report->figures.relative_to ? report->figures.relative_to : "another");
	if (does_row_exceed_bound(report))
		table_put_paragraph(out, 2, "\"cores\" comes from separate and mostly shorter measurements, so it can be larger "
				    "than the bound under \"TSC synchronisation of the cores\". The offset may also really have "
				    "been larger then.");
	if (rows > lines)
		table_put_paragraph(out, 2, "A line covers up to %zu rows of the series: each row is in report.html.",
				    (rows + lines - 1) / lines);
}
