/* A row for each core: its read latency of each clock, while it reads the clock alone and while all cores read it. */
#include "render/cores/table_cores.h"

#include "base/number.h"
#include "base/scale.h"
#include "stats/latency.h"

#define LABEL_COLUMNS (TABLE_CORE_COLUMNS + 1) /* width of a core's label, with the mark of the boot core */
#define CLOCK_COLUMNS 14                       /* width of a clock's two figures: each has 6 columns, after a blank */
#define FIGURES 2 /* number of figures of each clock in a row */

/* A block of rows: latencies while one core reads a clock, or while all cores read it at once. */
struct block {
	const char *title;
	const char *headings[FIGURES];
	/* Sets *FIGURE to figure number WHICH (from 0) of a clock on a core. Returns false if it is not known. */
	bool (*figure)(const struct report_core *core, size_t clock, size_t which, uint64_t *figure);
	bool has_ratio; /* true if figure 1 is a ratio in tenths instead of a time in ns */
	/* true: cores that did not start have no rows in this block, because they have rows in another block */
	bool started_only;
};

/* A block and the clocks that have columns in it. */
struct columns {
	const struct report *report;
	const struct block *block;
	size_t *picked;
	size_t count;
};

static bool
get_uncontended_figure(const struct report_core *core, size_t clock, size_t which, uint64_t *figure)
{
	const struct core_latency *latency = &core->latency[clock];

	*figure = which == 0 ? latency->p50_ns : latency->p99_ns;
	return latency->count && (which == 0 || latency_is_percentile_known(latency->count, 99000));
}

/*
 * Figure 0 is the median latency while all cores read the clock. Figure 1 is the ratio, in tenths, of this median to
 * the median while only this core reads the clock.
 */
static bool
get_contended_figure(const struct report_core *core, size_t clock, size_t which, uint64_t *figure)
{
	const struct core_latency *alone = &core->latency[clock], *latency = &core->contended[clock];

	*figure = latency->p50_ns;
	if (which == 0 || !latency->count)
		return latency->count;
	*figure = scale_mul_div_nearest(latency->p50_ns, 10, alone->p50_ns);
	return alone->count && alone->p50_ns;
}

static struct number
format_figure(const struct block *block, size_t which, uint64_t figure)
{
	return block->has_ratio && which ? number_from_tenths(figure) : number_in_cell_from_ns(figure);
}

static const struct block alone = {
	.title = "Latency with the bracket on each core, by APIC id (* = boot core, BSP)",
	.headings = { "p50", "p99" },
	.figure = get_uncontended_figure,
};

static const struct block contended = {
	.title = "Contended: p50 while all cores read one clock, and its ratio to the p50 above",
	.headings = { "p50", "ratio" },
	.figure = get_contended_figure,
	.has_ratio = true,
	.started_only = true,
};

static void
put_column_headings(struct text *out, const struct columns *columns)
{
	size_t count = columns->count;

	text_printf_coloured(out, INK_HEADING, "\n%s\n\n", columns->block->title);
	text_printf(out, "%*s", LABEL_COLUMNS, "");
	for (size_t i = 0; i < count; i++)
		text_printf(out, "  %-*.*s", CLOCK_COLUMNS - 2, CLOCK_COLUMNS - 2,
			    columns->report->facts.clocks[columns->picked[i]].clock.id);
	if (count)
		table_end_line(out);
	else
		text_put(out, "  no clock was measured\n");
	text_printf(out, "%*s ", TABLE_CORE_COLUMNS, "core");
	for (size_t i = 0; i < count || i == 0; i++)
		text_printf(out, " %6s %6s", columns->block->headings[0], columns->block->headings[1]);
	table_end_line(out);
}

static void
put_reason_core_does_not_run(struct text *out, size_t line_start, const struct report_core *core)
{
	char sentence[CLOCK_REASON_SIZE + 32];

	text_format(sentence, sizeof(sentence), "%s%s%s", core->started ? "stopped answering" : "did not start",
		    core->reason[0] ? ": " : "", core->reason);
	table_pad_to_column(out, line_start, LABEL_COLUMNS + 1);
	out->ink = INK_WARN;
	table_put_wrapped(out, line_start, LABEL_COLUMNS + 1, sentence);
	out->ink = INK_PLAIN;
}

static void
put_row_of_core(struct text *out, const struct columns *columns, const struct report_core *core)
{
	const struct block *block = columns->block;
	uint64_t figure;

	table_put_core_label(out, core, core->boot ? "*" : "");
	if (!core->started) {
		put_reason_core_does_not_run(out, out->length - LABEL_COLUMNS, core);
		return;
	}
	for (size_t i = 0; i < FIGURES * columns->count; i++) {
		bool known = block->figure(core, columns->picked[i / FIGURES], i % FIGURES, &figure);

		text_printf(out, " %6s", known ? format_figure(block, i % FIGURES, figure).text : "-");
	}
	if (!columns->count)
		text_printf(out, " %6s %6s", "-", "-");
	table_end_line(out);
	if (core->reason[0] && !block->started_only)
		put_reason_core_does_not_run(out, out->length, core);
}

/* One figure (such as the median latency of a clock) of all cores in one group. */
struct column {
	const struct columns *columns;
	const struct table_groups *groups;
	size_t group, clock, which;
};

/* Returns the number of figures in COLUMN that are at most LIMIT, and sets the least and the greatest of these. */
static size_t
count_figures_up_to(const struct column *column, uint64_t limit, uint64_t *least, uint64_t *greatest)
{
	const struct report *report = column->columns->report;
	size_t count = 0;

	*least = UINT64_MAX;
	*greatest = 0;
	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct report_core *core = &report->facts.cores[i];
		uint64_t figure;

		if (table_find_group_of_core(column->groups, core) != column->group ||
		    !column->columns->block->figure(core, column->clock, column->which, &figure) ||
		    figure > limit)
			continue;
		count++;
		*least = figure < *least ? figure : *least;
		*greatest = figure > *greatest ? figure : *greatest;
	}
	return count;
}

/*
 * Returns the figure with index PLACE in the ascending order of COLUMN's figures. Searches by bisection, because there
 * is no memory to sort them.
 */
static uint64_t
find_nth_smallest_figure(const struct column *column, size_t place)
{
	uint64_t low, high, least, greatest;

	count_figures_up_to(column, UINT64_MAX, &low, &high);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (count_figures_up_to(column, middle, &least, &greatest) > place)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
put_row_of_group(struct text *out, const struct columns *columns, const struct table_groups *groups, size_t group)
{
	static const char *const labels[] = { "min", "median", "max" };
	uint64_t least, greatest;

	table_put_group_label(out, groups, group);
	text_put_char(out, '\n');
	for (size_t row = 0; row < sizeof(labels) / sizeof(labels[0]); row++) {
		text_printf(out, "%*s ", TABLE_CORE_COLUMNS, labels[row]);
		for (size_t i = 0; i < FIGURES * columns->count; i++) {
			struct column column = { columns, groups, group, columns->picked[i / FIGURES], i % FIGURES };
			size_t count = count_figures_up_to(&column, UINT64_MAX, &least, &greatest);
			const size_t places[] = { 0, (count - 1) / 2, count - 1 };

			uint64_t figure = count ? find_nth_smallest_figure(&column, places[row]) : 0;

			text_printf(out, " %6s", count ? format_figure(columns->block, column.which, figure).text : "-");
		}
		table_end_line(out);
	}
}

/* Adds to ROWS, for each clock, the core with the greatest median latency, unless all cores have the same median. */
static void
add_slowest_core_of_each_clock(struct table_rows *rows, const struct columns *columns)
{
	const struct report *report = columns->report;

	for (size_t i = 0; i < columns->count; i++) {
		uint64_t least = UINT64_MAX, greatest = 0, figure;
		size_t slowest = 0;

		for (size_t core = 0; core < report->facts.core_count; core++) {
			if (!columns->block->figure(&report->facts.cores[core], columns->picked[i], 0, &figure))
				continue;
			if (figure > greatest)
				slowest = core;
			least = figure < least ? figure : least;
			greatest = figure > greatest ? figure : greatest;
		}
		if (greatest > least)
			rows->slowest[rows->slowest_count++] = slowest;
	}
}

static void
put_block_of_columns(struct text *out, const struct columns *columns)
{
	struct table_rows rows = table_begin_rows(columns->report, columns->block->started_only);
	const struct report_core *core;

	put_column_headings(out, columns);
	if (rows.rows_shared) {
		struct table_groups groups = table_group_cores(columns->report);

		for (size_t i = 0; i < groups.count; i++)
			put_row_of_group(out, columns, &groups, i);
		add_slowest_core_of_each_clock(&rows, columns);
	}
	while ((core = table_get_next_core_with_row(&rows)))
		put_row_of_core(out, columns, core);
	table_put_cores_without_row(out, &rows);
	if (!columns->report->facts.core_count)
		text_printf(out, "%*s\n", TABLE_CORE_COLUMNS, "-");
}

/* Returns true if at least one core has a median latency of CLOCK for the block of COLUMNS. */
static bool
is_clock_measured(const struct columns *columns, size_t clock)
{
	const struct report *report = columns->report;
	uint64_t figure;

	for (size_t core = 0; core < report->facts.core_count; core++)
		if (columns->block->figure(&report->facts.cores[core], clock, 0, &figure))
			return true;
	return false;
}

static void
drop_unmeasured_clocks(struct columns *columns)
{
	size_t kept = 0;

	for (size_t i = 0; i < columns->count; i++)
		if (is_clock_measured(columns, columns->picked[i]))
			columns->picked[kept++] = columns->picked[i];
	columns->count = kept;
}

/* Returns true if the second figure of a clock in COLUMNS is not known for a started core. */
static bool
is_any_figure_missing(const struct columns *columns)
{
	const struct report *report = columns->report;
	uint64_t figure;

	for (size_t core = 0; core < report->facts.core_count; core++)
		for (size_t i = 0; i < columns->count; i++)
			if (report->facts.cores[core].started &&
			    !columns->block->figure(&report->facts.cores[core], columns->picked[i], 1, &figure))
				return true;
	return false;
}

/* Writes notes below the table: why it has dashes, and that stolen time makes the ratios unreliable. */
static void
put_notes_below_table(struct text *out, const struct columns *columns)
{
	const struct report *report = columns->report;
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	if (is_any_figure_missing(columns))
		text_put(text, "\"-\": no other core read the clock at that time, or this core did not answer. ");
	if (!report->outcomes.quality.reliable_tails && report->outcomes.quality.stolen_known &&
	    report->figures.interference.gaps)
		text_printf(text, "Medians and ratios are not reliable: %s %% of the observed time was stolen, and cores that "
			    "wait for their host's time do not read together.",
			    number_as_percent(report->figures.interference.total_ns,
					      report->figures.interference.observed_ns, 1).text);
	if (!text->length)
		return;
	text_put_char(out, '\n');
	table_end_sentence(out, &sentence);
}

/*
 * Lists the clocks of ALL whose latency was not measured while all cores read them, except clocks that only one core
 * can read.
 */
static void
put_unmeasured_clocks(struct text *out, const struct columns *all)
{
	const struct report *report = all->report;
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);
	size_t missed = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct clock *clock = &report->facts.clocks[all->picked[i]].clock;

		if (!clock->one_core_only && !is_clock_measured(all, all->picked[i]))
			text_printf(text, "%s%s", missed++ ? ", " : "Not measured on all cores at once: ", clock->id);
	}
	if (!missed || report->facts.machine.cores_started < 2)
		return;
	text_put(text, "; no two cores read the same clock at the same time, or too little time was left.");
	text_put_char(out, '\n');
	table_end_sentence(out, &sentence);
}

/* Writes a table for every TABLE_CLOCKS_PER_ROW clocks of COLUMNS, because more do not fit next to each other. */
static void
put_blocks_of_columns(struct text *out, const struct columns *columns)
{
	struct columns some = *columns;
	size_t left = columns->count;

	do {
		some.count = left < TABLE_CLOCKS_PER_ROW ? left : TABLE_CLOCKS_PER_ROW;
		put_block_of_columns(out, &some);
		some.picked += some.count;
		left -= some.count;
	} while (left);
}

void
table_put_cores(struct text *out, const struct report *report)
{
	size_t picked[REPORT_CLOCKS_MAX], measured[REPORT_CLOCKS_MAX];
	size_t count = table_find_clocks_with_reads(report, true, picked);
	struct columns all = { report, &alone, picked, count }, kept = { report, &contended, measured, count };

	put_blocks_of_columns(out, &all);
	all.block = &contended;
	__builtin_memcpy(measured, picked, sizeof(measured));
	drop_unmeasured_clocks(&kept);
	if (kept.count) {
		put_blocks_of_columns(out, &kept);
		put_notes_below_table(out, &kept);
	}
	put_unmeasured_clocks(out, &all);
}
