/* Read latency of the clocks side by side: a row for each power of two of nanoseconds, a share and a bar each. */
#include "table_sections.h"

#include "number.h"
#include "scale.h"

#define LABEL_COLUMNS 9 /* "<= 1.02us" */
#define SHARE_COLUMNS 5 /* "100.0" */
#define BAR_COLUMNS   7 /* at least; the whole of it is all samples */
#define BAR_MAX       40
#define GAP_COLUMNS   2 /* before a share, and before a bar */
#define CLOCK_COLUMNS (SHARE_COLUMNS + GAP_COLUMNS)

/* Neither nothing nor all is said of a share that only rounds to it. */
static struct number
share_of(uint64_t count, uint64_t total)
{
	uint64_t tenths = scale_mul_div_nearest(count, 1000, total); /* of a percent */

	if (tenths == 0)
		return (struct number){ "<0.1" };
	if (tenths == 1000 && count < total)
		return (struct number){ ">99.9" };
	return number_percent(count, total, 1);
}

static void
put_share(struct text *out, uint64_t count, uint64_t total, size_t bar_columns)
{
	uint64_t bar = scale_mul_div_nearest(count, bar_columns, total);

	if (count == 0) {
		text_printf(out, "%*s", (int)(CLOCK_COLUMNS + bar_columns), "");
		return;
	}
	text_printf(out, " %*s ", SHARE_COLUMNS, share_of(count, total).text);
	for (uint64_t i = 0; i < bar_columns; i++)
		text_put_char(out, i < bar ? '#' : i == 0 ? '.' : ' ');
}

/* Clocks side by side. */
struct block {
	const struct report *report;
	const size_t *picked;
	size_t count, bar_columns;
};

static const struct latency *
latency_of(const struct block *block, size_t i)
{
	return block->report->clocks[block->picked[i]].latency;
}

static uint64_t
count_of(const struct block *block, size_t i, size_t octave)
{
	return histogram_octave(&latency_of(block, i)->histogram, octave);
}

static bool
is_hit(const struct block *block, size_t octave)
{
	for (size_t i = 0; i < block->count; i++)
		if (count_of(block, i, octave))
			return true;
	return false;
}

static void
put_row(struct text *out, const struct block *block, size_t octave)
{
	text_printf(out, "<= %6s", number_ns(octave_high(octave)).text);
	for (size_t i = 0; i < block->count; i++)
		put_share(out, count_of(block, i, octave), latency_of(block, i)->count, block->bar_columns);
	table_end_line(out);
}

static void
put_block(struct text *out, const struct block *block)
{
	size_t first = 0, last = OCTAVES - 1;

	while (first < last && !is_hit(block, first))
		first++;
	while (last > first && !is_hit(block, last))
		last--;
	text_printf(out, "\n%*s", LABEL_COLUMNS, "");
	for (size_t i = 0; i < block->count; i++) {
		const char *id = block->report->clocks[block->picked[i]].clock.id;
		int columns = (int)(SHARE_COLUMNS + block->bar_columns);

		text_printf(out, "  %-*.*s", columns, columns, id);
	}
	table_end_line(out);
	for (size_t octave = first; octave <= last; octave++)
		put_row(out, block, octave);
}

/* Bars as wide as the screen lets those of ABREAST clocks be; all alike in a file. */
static size_t
bar_columns(const struct text *out, size_t abreast)
{
	size_t columns = table_columns(out);
	size_t each = columns > LABEL_COLUMNS ? (columns - LABEL_COLUMNS) / abreast : 0;
	size_t bar = each > CLOCK_COLUMNS ? each - CLOCK_COLUMNS : 0;

	if (bar < BAR_COLUMNS || !out->columns)
		return BAR_COLUMNS;
	return bar < BAR_MAX ? bar : BAR_MAX;
}

/* At least TABLE_CLOCKS_ABREAST; more where a screen is wide. */
static size_t
clocks_abreast(size_t columns)
{
	size_t abreast = columns > LABEL_COLUMNS ? (columns - LABEL_COLUMNS) / (CLOCK_COLUMNS + BAR_COLUMNS) : 0;

	return abreast > TABLE_CLOCKS_ABREAST ? abreast : TABLE_CLOCKS_ABREAST;
}

static size_t
put_blocks(struct text *out, const struct report *report, bool main)
{
	size_t picked[REPORT_CLOCKS_MAX], abreast = clocks_abreast(table_columns(out));
	size_t count = table_pick_clocks(report, main, picked);

	for (size_t at = 0; at < count; at += abreast) {
		struct block block = { report, picked + at, count - at, 0 };

		if (block.count > abreast)
			block.count = abreast;
		block.bar_columns = bar_columns(out, block.count);
		put_block(out, &block);
	}
	return count;
}

void
table_histogram_main(struct text *out, const struct report *report)
{
	text_put_inked(out, INK_HEADING,
		       "\nLatency with the bracket, % of each clock's reads (each bar is out of 100 %)\n");
	if (!put_blocks(out, report, true))
		text_put(out, "\nNo clock's latency was measured.\n");
}

void
table_histogram(struct text *out, const struct report *report)
{
	table_histogram_main(out, report);
	put_blocks(out, report, false);
}

void
table_histogram_of(struct text *out, const struct report *report, size_t clock)
{
	const struct latency *latency = report->clocks[clock].latency;
	struct block block = { report, &clock, 1, bar_columns(out, 1) };

	if (latency && latency->count)
		put_block(out, &block);
}
