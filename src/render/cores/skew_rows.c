/*
 * A row for each core: its topology, its TSC's offset and drift against the boot core's TSC, and its TSC_ADJUST.
 */
#include "render/cores/table_cores.h"

#include "base/number.h"
#include "report/phrase.h"

#define LABEL_COLUMNS    (TABLE_CORE_COLUMNS + 1) /* an APIC id and one character for a mark */
#define TOPOLOGY_COLUMNS 8
#define PLACE_COLUMNS    (LABEL_COLUMNS + 1 + TOPOLOGY_COLUMNS)
#define OFFSET_COLUMNS   8  /* width of one end of an interval of offsets */
#define DRIFT_COLUMNS    7
#define ADJUST_COLUMNS   20 /* width of the last column: the smallest TSC_ADJUST has 20 characters */
#define BOTH_ENDS(columns) (2 * (columns) + 4) /* two ends and " .. " between them */
#define LABEL_SIZE       64

#define OFFSET_NS_MAX 9999999 /* largest offset that fits OFFSET_COLUMNS with its sign */
#define PPM_DIGITS    3       /* maximum number of decimals of a drift */
#define DRIFT_PPM_MAX 999999  /* largest drift that fits DRIFT_COLUMNS with its sign */

/* The figures of one core, or the ranges of several cores' figures. */
struct skew_figures {
	struct offset offset, drift_ppb; /* OFFSET_UNKNOWN if there is none, and for the boot core */
	bool has_adjust, adjusts_differ;
	int64_t adjust_ticks;
};

/* An end of an interval. A rounded interval must contain the exact one, so LOW is rounded down, and HIGH up. */
enum end { LOW, HIGH };

static bool
is_size_rounded_up(int64_t value, enum end end)
{
	return (value >= 0) == (end == HIGH);
}

/* Formats an offset in ns, as "+31" or "-500123". If IN_SHORT is true, with a unit, as "+31 ns" or "-500 us". */
static struct number
format_signed_ns(int64_t ns, enum end end, bool in_short)
{
	struct number number = { .text = "" };
	struct text text = text_start(number.text, sizeof(number.text));

	text_put_char(&text, ns < 0 ? '-' : '+');
	if (in_short)
		text_put(&text, number_in_cell_from_ns(number_round_to_three_digits(
					offset_abs(ns), is_size_rounded_up(ns, end))).text);
	else
		text_printf(&text, "%lu", offset_abs(ns));
	return number;
}

/* Formats a drift in ppm, as "+0.003" or "-123.46", with as many decimals as fit. */
static struct number
format_signed_ppm(int64_t ppb, enum end end)
{
	struct number number = { .text = "" };
	uint64_t ppm = offset_abs(ppb) / PPB_PER_PPM;
	unsigned digits = ppm < 99 ? PPM_DIGITS : ppm < 999 ? 2 : ppm < 9999 ? 1 : 0;
	uint64_t step_ppb = digits == PPM_DIGITS ? 1 : digits == 2 ? 10 : digits == 1 ? 100 : PPB_PER_PPM;
	struct text text = text_start(number.text, sizeof(number.text));

	text_put_char(&text, ppb < 0 ? '-' : '+');
	if (ppm < DRIFT_PPM_MAX)
		text_put_decimal(&text, number_round(offset_abs(ppb), step_ppb, is_size_rounded_up(ppb, end)), PPM_DIGITS, digits);
	else
		text_put(&text, ">1e6");
	return number;
}

void
table_put_offset(struct text *out, const struct report *report, struct offset offset, int width)
{
	struct offset ns = report_offset_to_ns(report, offset);
	bool in_short = offset_max_abs(ns) > OFFSET_NS_MAX;

	text_printf(out, "%*s .. %*s", width, format_signed_ns(ns.low, LOW, in_short).text, width,
		    format_signed_ns(ns.high, HIGH, in_short).text);
}

void
table_put_drift(struct text *out, struct offset drift, int width)
{
	text_printf(out, "%*s .. %*s", width, format_signed_ppm(drift.low, LOW).text, width,
		    format_signed_ppm(drift.high, HIGH).text);
}

static bool
is_off_majority_or_drifting(const struct core_outcome *core)
{
	return core->off_majority || core->drifts;
}

static struct skew_figures
collect_figures_of_core(const struct report *report, const struct report_core *core)
{
	return (struct skew_figures){
		.has_adjust = core->facts_known && core->facts.has_tsc_adjust,
		.offset = core->boot ? OFFSET_UNKNOWN : report_get_core_offset(report, report_get_shown_pass(report), core),
		.drift_ppb = core->boot ? OFFSET_UNKNOWN : report_get_core_drift(report, core),
		.adjust_ticks = core->facts.tsc_adjust,
	};
}

/* Widens the ranges in ALL so that they include ONE, the figures of one more core. */
static void
widen_to_include_figures(struct skew_figures *all, const struct skew_figures *one)
{
	all->offset = offset_hull(all->offset, one->offset);
	all->drift_ppb = offset_hull(all->drift_ppb, one->drift_ppb);
	if (one->has_adjust) {
		all->adjusts_differ |= all->has_adjust && one->adjust_ticks != all->adjust_ticks;
		all->adjust_ticks = one->adjust_ticks;
		all->has_adjust = true;
	}
}

static void
put_skew_figures(struct text *out, const struct report *report, const struct skew_figures *figures)
{
	text_put_char(out, ' ');
	if (offset_is_known(figures->offset))
		table_put_offset(out, report, figures->offset, OFFSET_COLUMNS);
	else
		text_printf(out, "%*s", BOTH_ENDS(OFFSET_COLUMNS), "-");
	text_put_char(out, ' ');
	if (offset_is_known(figures->drift_ppb))
		table_put_drift(out, figures->drift_ppb, DRIFT_COLUMNS);
	else
		text_printf(out, "%*s", BOTH_ENDS(DRIFT_COLUMNS), "-");
	if (figures->has_adjust && !figures->adjusts_differ)
		text_printf(out, " %*ld\n", ADJUST_COLUMNS, figures->adjust_ticks);
	else
		text_printf(out, " %*s\n", ADJUST_COLUMNS, figures->adjusts_differ ? "not equal" : "-");
}

static void
put_row_of_core(struct text *out, const struct report *report, const struct report_core *core)
{
	const struct core_facts *facts = &core->facts;
	bool marked = is_off_majority_or_drifting(report_get_core_outcome(report, core));
	struct skew_figures figures = collect_figures_of_core(report, core);
	char label[LABEL_SIZE];
	struct text text = text_start(label, sizeof(label));

	text_printf(&text, "%*u%-2s", TABLE_CORE_COLUMNS, core->apic_id,
		    core->boot && marked ? "*!" : core->boot ? "*" : marked ? "!" : "");
	if (core->facts_known && facts->has_topology)
		text_printf(&text, "%u.%u.%u", facts->package, facts->core, facts->thread);
	else
		text_put(&text, "-");
	out->ink = marked ? INK_FAIL : INK_PLAIN;
	table_put_label(out, label, PLACE_COLUMNS);
	put_skew_figures(out, report, &figures);
	out->ink = INK_PLAIN;
}

/*
 * Widens the ranges in ALL so that they include the figures of some of GROUP's cores. If OFF_OR_DRIFTING is true, these
 * are the cores whose TSC differs from most cores' TSCs or drifts, and otherwise all others. Returns false if GROUP has
 * no such core.
 */
static bool
try_widen_to_figures_of_group(struct skew_figures *all, const struct report *report, const struct table_groups *groups,
			      size_t group, bool off_or_drifting)
{
	bool any = false;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct report_core *core = &report->facts.cores[i];
		struct skew_figures one = collect_figures_of_core(report, core);

		if (table_find_group_of_core(groups, core) != group ||
		    is_off_majority_or_drifting(report_get_core_outcome(report, core)) != off_or_drifting)
			continue;
		widen_to_include_figures(all, &one);
		any = true;
	}
	return any;
}

/*
 * Writes the row of GROUP: the ranges of its cores' figures. Leaves out cores whose TSC differs from most cores' TSCs
 * or drifts, unless this is true for all cores of GROUP.
 */
static void
put_rows_of_group(struct text *out, const struct report *report, const struct table_groups *groups, size_t group)
{
	struct skew_figures all = { .offset = OFFSET_UNKNOWN, .drift_ppb = OFFSET_UNKNOWN };
	char label[LABEL_SIZE];

	if (!try_widen_to_figures_of_group(&all, report, groups, group, false))
		try_widen_to_figures_of_group(&all, report, groups, group, true);
	struct text text = text_start(label, sizeof(label));
	table_put_group_label(&text, groups, group);
	table_put_label(out, label, PLACE_COLUMNS);
	put_skew_figures(out, report, &all);
}

void
table_put_time_of_last_pass(struct text *out, const struct report *report, const char *before, const char *after)
{
	if (!report->outcomes.sync.shown)
		return;
	text_printf(out, "%sin the last pass, at %s", before,
		    phrase_tsc_time(report, report_get_shown_pass(report)->offsets.end_tsc).bytes);
	text_put(out, after);
}

void
table_put_skew_rows(struct text *out, const struct report *report)
{
	struct table_rows rows = table_begin_rows(report, true);
	const struct report_core *core;

	text_printf_coloured(out, INK_HEADING,
			     "\nOffset and drift against the boot core (*); \"!\": differs from most, or drifts\n"
			     "pkg.c.t: package, core in the package, thread in the core\n");
	table_put_time_of_last_pass(out, report, "Offsets ", "\n");
	text_put_char(out, '\n');
	text_printf(out, "%*s  %-*s %*s %*s %*s\n", TABLE_CORE_COLUMNS, "core", TOPOLOGY_COLUMNS, "pkg.c.t",
		    BOTH_ENDS(OFFSET_COLUMNS), "offset, ns", BOTH_ENDS(DRIFT_COLUMNS), "drift, ppm", ADJUST_COLUMNS,
		    "TSC_ADJUST, ticks");
	if (rows.rows_shared) {
		struct table_groups groups = table_group_cores(report);

		for (size_t i = 0; i < groups.count; i++)
			put_rows_of_group(out, report, &groups, i);
	}
	while ((core = table_get_next_core_with_row(&rows)))
		put_row_of_core(out, report, core);
	table_put_cores_without_row(out, &rows);
}
