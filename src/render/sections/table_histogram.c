/*
 * Histograms of the clocks' read latencies, next to each other. Each row is a range of latencies. It has a percentage
 * and a bar for each clock.
 */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/scale.h"
#include "render/sections/histogram_rows.h"

#define LABEL_COLUMNS 9 /* "<= 1.02us" */
#define SHARE_COLUMNS 5 /* "100.0" */
#define BAR_COLUMNS   7 /* smallest width of a bar */
#define BAR_MAX       40 /* largest width of a bar */
#define GAP_COLUMNS   2 /* two blanks: one before a percentage, one before a bar */
#define HEADING_EVERY 12 /* number of rows; a screen of 25 rows shows at least one heading */
#define CLOCK_COLUMNS (SHARE_COLUMNS + GAP_COLUMNS)

/* Returns COUNT as a percentage of TOTAL. If only rounding makes it 0 or 100, it is "<0.1" or ">99.9". */
static struct number
format_share(uint64_t count, uint64_t total)
{
	uint64_t tenths = scale_mul_div_nearest(count, 1000, total); /* in tenths of a percent */

	if (tenths == 0)
		return (struct number){ "<0.1" };
	if (tenths == 1000 && count < total)
		return (struct number){ ">99.9" };
	return number_as_percent(count, total, 1);
}

/*
 * Writes a bar for COUNT reads. A bar of full width stands for MOST reads. Its length is rounded to half a column, and
 * may be 0.
 */
static void
put_bar(struct text *out, uint64_t count, uint64_t most, size_t bar_columns)
{
	uint64_t halves = scale_mul_div_nearest(count, 2 * bar_columns, most);

	for (uint64_t i = 0; i < bar_columns; i++)
		text_put_char(out, 2 * i + 1 < halves ? '#' : 2 * i < halves ? ':' : ' ');
}

/* A block of clocks whose histograms are printed next to each other. */
struct block {
	size_t count, bar_columns;
	const char *ids[REPORT_CLOCKS_MAX];
	const struct latency *clocks[REPORT_CLOCKS_MAX];
	/* for each clock, the largest number of its reads in one row */
	uint64_t most[REPORT_CLOCKS_MAX];
};

static uint64_t
count_reads_in_row(const struct block *block, size_t i, const struct histogram_row *row)
{
	return histogram_count_between(&block->clocks[i]->histogram, row->low_ns, row->high_ns);
}

static void
put_histogram_row(struct text *out, const struct block *block, const struct histogram_row *row)
{
	if (row->after_gap)
		text_printf(out, "%*s\n", LABEL_COLUMNS, ". . .");
	text_printf(out, "<= %6s", number_in_cell_from_ns(row->high_ns).text);
	for (size_t i = 0; i < block->count; i++) {
		uint64_t count = count_reads_in_row(block, i, row);

		text_printf(out, " %*s ", SHARE_COLUMNS, count ? format_share(count, block->clocks[i]->count).text : "");
		put_bar(out, count, block->most[i], block->bar_columns);
	}
	table_end_line(out);
}

/* Writes the line with the clocks' ids. */
static void
put_block_heading(struct text *out, const struct block *block)
{
	text_printf(out, "%*s", LABEL_COLUMNS, "");
	for (size_t i = 0; i < block->count; i++) {
		int columns = (int)(SHARE_COLUMNS + block->bar_columns);

		text_printf(out, "  %-*.*s", columns, columns, block->ids[i]);
	}
	table_end_line(out);
}

/* On a screen, repeats the heading after HEADING_EVERY rows, because a reader who turns pages does not see it. */
static void
put_histogram_block(struct text *out, struct block *block)
{
	struct histogram_rows rows;

	histogram_pick_rows(&rows, block->clocks, block->count);
	text_put_char(out, '\n');
	put_block_heading(out, block);
	for (size_t i = 0; i < block->count; i++) {
		block->most[i] = 0;
		for (size_t row = 0; row < rows.count; row++) {
			uint64_t count = count_reads_in_row(block, i, &rows.rows[row]);

			block->most[i] = count > block->most[i] ? count : block->most[i];
		}
	}
	for (size_t row = 0; row < rows.count; row++) {
		if (out->columns && row && row % HEADING_EVERY == 0)
			put_block_heading(out, block);
		put_histogram_row(out, block, &rows.rows[row]);
	}
}

/* Returns the width of a bar if PER_BLOCK clocks are next to each other. In a text file the width is BAR_COLUMNS. */
static size_t
get_bar_width(const struct text *out, size_t per_block)
{
	size_t columns = table_get_max_line_width(out);
	size_t each = columns > LABEL_COLUMNS ? (columns - LABEL_COLUMNS) / per_block : 0;
	size_t bar = each > CLOCK_COLUMNS ? each - CLOCK_COLUMNS : 0;

	if (bar < BAR_COLUMNS || !out->columns)
		return BAR_COLUMNS;
	return bar < BAR_MAX ? bar : BAR_MAX;
}

/* Returns the number of clocks next to each other: TABLE_CLOCKS_PER_ROW, or more on a wide screen. */
static size_t
clocks_per_row(size_t columns)
{
	size_t per_block = columns > LABEL_COLUMNS ? (columns - LABEL_COLUMNS) / (CLOCK_COLUMNS + BAR_COLUMNS) : 0;

	return per_block > TABLE_CLOCKS_PER_ROW ? per_block : TABLE_CLOCKS_PER_ROW;
}

/* Returns a block of the COUNT clocks of REPORT whose indices are in PICKED. */
static struct block
make_histogram_block(const struct text *out, const struct report *report, const size_t *picked, size_t count)
{
	struct block block = { .count = count, .bar_columns = get_bar_width(out, count) };

	for (size_t i = 0; i < count; i++) {
		block.ids[i] = report->facts.clocks[picked[i]].clock.id;
		block.clocks[i] = report->facts.clocks[picked[i]].latency;
	}
	return block;
}

static size_t
put_histogram_blocks(struct text *out, const struct report *report, bool main)
{
	size_t picked[REPORT_CLOCKS_MAX], per_block = clocks_per_row(table_get_max_line_width(out));
	size_t count = table_find_clocks_with_reads(report, main, picked);

	for (size_t at = 0; at < count; at += per_block) {
		struct block block = make_histogram_block(out, report, picked + at,
							  count - at < per_block ? count - at : per_block);

		put_histogram_block(out, &block);
	}
	return count;
}

void
table_put_main_histograms(struct text *out, const struct report *report)
{
	text_printf_coloured(out, INK_HEADING, "\nLatency with the bracket, %% of each clock's reads\n");
	if (!put_histogram_blocks(out, report, true)) {
		text_put(out, "\nNo clock's latency was measured.\n");
		return;
	}
	text_put(out, "\n");
	table_put_paragraph(out, 0, "A full bar is the clock's largest share. Each row counts reads up to this time, but "
				"above the row before. Dots: a longer range of times without reads.");
}

void
table_put_all_histograms(struct text *out, const struct report *report)
{
	table_put_main_histograms(out, report);
	put_histogram_blocks(out, report, false);
}

void
table_put_histogram_of_clock(struct text *out, const struct report *report, size_t clock)
{
	const struct latency *latency = report->facts.clocks[clock].latency;

	if (latency && latency->count) {
		struct block block = make_histogram_block(out, report, &clock, 1);

		put_histogram_block(out, &block);
	}
}
