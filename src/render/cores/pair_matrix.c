/*
 * Writes the TSC offsets of pairs of cores: a map with one character for each pair or, if the map is wider than a line,
 * the pairs with the largest offsets, and for each package the number of pairs that agree or differ.
 */
#include "render/cores/table_cores.h"

#define MAP_MARGIN      19 /* a line of 79 columns can show a map of up to 60 cores */
#define WORST_PAIRS     8
#define OFFSET_COLUMNS  8
#define ID_COLUMNS      10 /* digits of the largest APIC id */
#define GROUP_COLUMNS   18
#define COUNT_COLUMNS   7

/* The map's character for a pair of cores. PAIR_BEHIND: the row's core has a smaller TSC than the column's core. */
enum pair {
	PAIR_AGREE = '.',
	PAIR_BEHIND = '<',
	PAIR_AHEAD = '>',
	PAIR_UNKNOWN = '?',
	PAIR_CONTRADICTS = '!',
	PAIR_SELF = '\\',
};

static enum pair
classify_pair(const struct report *report, size_t a, size_t b)
{
	const struct offsets *offsets = &report_get_shown_pass(report)->offsets;
	struct offset offset = offsets_get_offset(offsets, a, b);

	if (!offset_is_known(offset))
		return PAIR_UNKNOWN;
	if (offsets_get_movement_ticks(offsets, a, b))
		return PAIR_CONTRADICTS;
	if (!offset_excludes_zero(offset))
		return PAIR_AGREE;
	return offset.low > 0 ? PAIR_BEHIND : PAIR_AHEAD;
}

static void
put_legend(struct text *out, const struct report *report)
{
	text_printf_coloured(out, INK_HEADING, report->outcomes.sync.shown ? "\nPairs of cores" : "\nPairs of cores:");
	table_put_time_of_last_pass(out, report, " ", ":\n");
	text_put(out, report->outcomes.sync.shown ? "" : " ");
	text_put(out, "\".\" no difference proven, \"<\" row's core behind column's,\n"
		      "\">\" row's core ahead, \"?\" not known");
	text_put(out, report_get_shown_pass(report)->summary.contradictions ? ", \"!\" contradicts the others\n\n" : "\n\n");
}

/* Writes the APIC id of each column's core, with its digits from top to bottom. */
static void
put_apic_ids_of_columns(struct text *out, const struct report *report)
{
	size_t cores = report->figures.skew.passes[0].offsets.cores;
	uint32_t highest = 0;
	uint64_t power = 1;

	for (size_t i = 0; i < cores; i++)
		if (report_get_apic_id_of_rank(report, i) > highest)
			highest = report_get_apic_id_of_rank(report, i);
	while (highest / power >= 10)
		power *= 10;
	for (; power; power /= 10) {
		text_printf(out, "%*s", TABLE_CORE_COLUMNS + 2, "");
		for (size_t i = 0; i < cores; i++) {
			uint64_t digits = report_get_apic_id_of_rank(report, i) / power;

			text_put_char(out, digits || power == 1 ? (char)('0' + digits % 10) : ' ');
		}
		table_end_line(out);
	}
}

static void
put_pair_symbol(struct text *out, enum pair pair)
{
	if (pair == PAIR_BEHIND || pair == PAIR_AHEAD || pair == PAIR_CONTRADICTS)
		out->ink = INK_FAIL;
	else if (pair != PAIR_AGREE)
		out->ink = INK_DIM;
	text_put_char(out, (char)pair);
	out->ink = INK_PLAIN;
}

static void
put_map_of_all_pairs(struct text *out, const struct report *report)
{
	size_t cores = report->figures.skew.passes[0].offsets.cores;
	/* In a star schedule each core was compared with the boot core only, so the map has one row. */
	size_t rows = report->figures.skew.passes[0].offsets.kind == PAIR_SCHEDULE_STAR ? 1 : cores;

	put_legend(out, report);
	put_apic_ids_of_columns(out, report);
	for (size_t a = 0; a < rows; a++) {
		table_put_core_label(out, report_get_core_of_rank(report, a),
				     report_get_core_of_rank(report, a)->boot ? "*" : "");
		text_put_char(out, ' ');
		for (size_t b = 0; b < cores; b++)
			put_pair_symbol(out, a == b ? PAIR_SELF : classify_pair(report, a, b));
		text_put_char(out, '\n');
	}
}

struct worst {
	size_t a, b;
	struct offset offset;
};

/*
 * Inserts PAIR into the list of the COUNT worst pairs, sorted from the worst. If the list is full, drops its last
 * pair. Returns the new number of pairs.
 */
static size_t
insert_worst_pair(struct worst worst[WORST_PAIRS], size_t count, struct worst pair)
{
	size_t at = count;

	while (at && offset_is_worse(pair.offset, worst[at - 1].offset))
		at--;
	if (at == WORST_PAIRS)
		return count;
	count += count < WORST_PAIRS;
	for (size_t i = count - 1; i > at; i--)
		worst[i] = worst[i - 1];
	worst[at] = pair;
	return count;
}

static void
put_worst_pairs(struct text *out, const struct report *report)
{
	const struct offsets *offsets = &report_get_shown_pass(report)->offsets;
	struct worst worst[WORST_PAIRS];
	size_t count = 0;

	for (size_t a = 0; a < offsets->cores; a++) {
		for (size_t b = a + 1; b < offsets->cores; b++) {
			struct worst pair = { a, b, offsets_get_offset(offsets, a, b) };

			if (offset_is_known(pair.offset))
				count = insert_worst_pair(worst, count, pair);
		}
	}
	text_printf_coloured(out, INK_HEADING,
			     "\nThe %zu pairs with the largest proven or possible offsets (second core - first)\n", count);
	table_put_time_of_last_pass(out, report, "", "\n");
	text_put_char(out, '\n');
	text_printf(out, "%*s %*s %*s\n", ID_COLUMNS, "core", ID_COLUMNS, "core", 2 * OFFSET_COLUMNS + 4,
		    "offset, ns");
	for (size_t i = 0; i < count; i++) {
		text_printf(out, "%*u %*u ", ID_COLUMNS, report_get_apic_id_of_rank(report, worst[i].a), ID_COLUMNS,
			    report_get_apic_id_of_rank(report, worst[i].b));
		table_put_offset(out, report, worst[i].offset, OFFSET_COLUMNS);
		text_put_char(out, '\n');
	}
}

/* Numbers of pairs that agree, differ, contradict other pairs, or are not known: in a group, or between groups. */
struct counts {
	size_t agree, differ, contradict, unknown;
};

static void
count_pair(struct counts *counts, enum pair pair)
{
	counts->agree += pair == PAIR_AGREE;
	counts->differ += pair == PAIR_BEHIND || pair == PAIR_AHEAD;
	counts->contradict += pair == PAIR_CONTRADICTS;
	counts->unknown += pair == PAIR_UNKNOWN;
}

static void
put_counts_of_pairs(struct text *out, const struct counts *counts)
{
	text_printf(out, "%*zu%*zu%*zu%*zu", COUNT_COLUMNS, counts->agree, COUNT_COLUMNS, counts->differ,
		    COUNT_COLUMNS, counts->contradict, COUNT_COLUMNS, counts->unknown);
}

static void
put_headings_of_pair_counts(struct text *out, bool with_other_packages)
{
	text_printf(out, "\n%*s  %-*s%s", GROUP_COLUMNS, "", 4 * COUNT_COLUMNS, "pairs within",
		    with_other_packages ? "pairs with other packages" : "");
	table_end_line(out);
	text_printf(out, "%*s", GROUP_COLUMNS, "");
	for (size_t i = 0; i < (with_other_packages ? 2 : 1); i++)
		text_printf(out, "%*s%*s%*s%*s", COUNT_COLUMNS, "agree", COUNT_COLUMNS, "differ", COUNT_COLUMNS,
			    "contra", COUNT_COLUMNS, "?");
	table_end_line(out);
}

static void
put_pair_counts_of_groups(struct text *out, const struct report *report)
{
	struct table_groups groups = table_group_cores(report);
	struct counts inside[TABLE_GROUPS_MAX] = { { 0 } }, across[TABLE_GROUPS_MAX] = { { 0 } };
	size_t cores = report->figures.skew.passes[0].offsets.cores;
	char label[2 * GROUP_COLUMNS];
	struct text text;

	for (size_t a = 0; a < cores; a++) {
		size_t group_a = table_find_group_of_core(&groups, report_get_core_of_rank(report, a));

		for (size_t b = a + 1; b < cores; b++) {
			size_t group_b = table_find_group_of_core(&groups, report_get_core_of_rank(report, b));
			enum pair pair = classify_pair(report, a, b);

			count_pair(group_a == group_b ? &inside[group_a] : &across[group_a], pair);
			if (group_a != group_b)
				count_pair(&across[group_b], pair);
		}
	}
	put_headings_of_pair_counts(out, groups.count > 1);
	for (size_t i = 0; i < groups.count; i++) {
		text_init(&text, label, sizeof(label));
		table_put_group_label(&text, &groups, i);
		table_put_label(out, label, GROUP_COLUMNS);
		put_counts_of_pairs(out, &inside[i]);
		if (groups.count > 1)
			put_counts_of_pairs(out, &across[i]);
		text_put_char(out, '\n');
	}
}

size_t
table_count_pair_map_columns(const struct report *report)
{
	return report->figures.skew.passes[0].offsets.cores + MAP_MARGIN;
}

void
table_put_pair_map(struct text *out, const struct report *report)
{
	if (table_count_pair_map_columns(report) <= table_get_max_line_width(out)) {
		put_map_of_all_pairs(out, report);
		return;
	}
	put_worst_pairs(out, report);
	if (report->figures.skew.passes[0].offsets.kind == PAIR_SCHEDULE_ALL)
		put_pair_counts_of_groups(out, report);
}
