/* A row for each clock: its figures, or why there are none. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "report/phrase.h"

#define ID_COLUMNS      10
#define VERDICT_COLUMNS 6
#define LATENCY_COLUMNS 72 /* number of columns of a table row up to its last latency; the verdict follows */
#define STATE_COLUMNS   (TABLE_COLUMNS - VERDICT_COLUMNS - 1 - ID_COLUMNS - 1)

static void
put_figure(struct text *out, bool known, struct number figure)
{
	text_printf(out, " %6s", known ? figure.text : "-");
}

/* Returns true if no fault of the clock was found, but some rules on it could not be decided. */
static bool
is_any_rule_undetermined(const struct clock_outcome *outcome)
{
	return outcome->verdict == VERDICT_PASS && outcome->open;
}

static const char *
get_verdict_cell_text(const struct clock_outcome *outcome)
{
	if (outcome->verdict == VERDICT_INCOMPLETE)
		return "-";
	return is_any_rule_undetermined(outcome) ? "n.d." : verdict_words[outcome->verdict];
}

static void
put_verdict_cell(struct text *out, const char *word, const struct clock_outcome *outcome)
{
	text_printf_coloured(out, is_any_rule_undetermined(outcome) ? INK_DIM : table_colour_of_verdict(outcome->verdict),
			     " %6s\n", word);
}

/* Returns true if the clock has reads, but too few for p99.9, which needs the most reads of all percentiles. */
static bool
has_too_few_reads(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count &&
	       !latency_percentile_interval(entry->latency, 99900).known;
}

static void
put_figures_of_clock(struct text *out, const struct report *report, const struct report_clock *entry)
{
	static const uint32_t quantiles[] = { 50000, 99000, 99900 };
	const struct clock_outcome *outcome = report_get_clock_outcome(report, entry);
	const struct report_cost *cost = &report_get_figures(report, entry)->cost;
	const struct latency *latency = entry->latency;
	bool known = latency && latency->count;
	uint64_t resolution_ps = report_clock_ticks_to_ps(report, entry, entry->resolution.gcd_ticks);

	text_printf(out, " %12s", number_from_millihz(report_clock_rate_millihz(report, entry)).text);
	put_figure(out, entry->resolution.steps && resolution_ps, number_in_cell_from_ps(resolution_ps));
	put_figure(out, cost->read_ps.known, number_in_cell_from_ps((uint64_t)cost->read_ps.value));
	put_figure(out, known, number_in_cell_from_ns(known ? latency->min_ns : 0));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		put_figure(out, known && latency_percentile_interval(latency, quantiles[i]).known,
			   number_in_cell_from_ns(known ? latency_percentile_ns(latency, quantiles[i]) : 0));
	put_figure(out, known, number_in_cell_from_ns(known ? latency->max_ns : 0));
	put_verdict_cell(out, get_verdict_cell_text(outcome), outcome);
}

/* Writes a clock's state and its reason instead of figures, with the verdict at the end of the first line. */
static void
put_state_of_clock(struct text *out, const struct report_clock *entry, const struct clock_outcome *outcome)
{
	char sentence[CLOCK_REASON_SIZE + 16];
	const char *rest = sentence;

	text_format(sentence, sizeof(sentence), "%s%s%s", clock_state_words[entry->clock.state],
		    entry->clock.reason[0] ? ": " : "", entry->clock.reason);
	out->ink = outcome->verdict == VERDICT_ABSENT ? INK_DIM : INK_PLAIN;
	text_printf(out, " %-*.*s", STATE_COLUMNS, (int)table_bytes_that_fit(rest, STATE_COLUMNS), rest);
	put_verdict_cell(out, verdict_words[outcome->verdict], outcome);
	for (rest += table_bytes_that_fit(rest, STATE_COLUMNS); *rest;
	     rest += table_bytes_that_fit(rest, STATE_COLUMNS)) {
		rest += *rest == ' ';
		text_printf(out, "%*s%.*s\n", ID_COLUMNS + 1, "", (int)table_bytes_that_fit(rest, STATE_COLUMNS), rest);
	}
	out->ink = INK_PLAIN;
}

void
table_put_clocks(struct text *out, const struct report *report)
{
	bool any_open = false, any_few = false;

	text_printf_coloured(out, INK_HEADING, "%*s\n", LATENCY_COLUMNS, "latency with the bracket, boot core");
	text_printf_coloured(out, INK_HEADING, "%-*s %12s    res a read    min    p50    p99  p99.9   max verdict\n",
			     ID_COLUMNS, "clock", "rate");
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		any_open |= is_any_rule_undetermined(report_get_clock_outcome(report, entry));
		any_few |= has_too_few_reads(entry);
		table_put_label(out, entry->clock.id, ID_COLUMNS);
		if (entry->clock.state == CLOCK_PRESENT)
			put_figures_of_clock(out, report, entry);
		else
			put_state_of_clock(out, entry, report_get_clock_outcome(report, entry));
	}
	table_put_wrapped(out, out->length, 2,
			  "  \"res\": resolution. \"a read\": cost without the bracket, median of the cores.");
	if (any_open)
		table_put_wrapped(out, out->length, 2,
				  "  \"n.d.\": not determined. No fault was found, but some rules are undecided: see Specified "
				  "behaviour.");
	if (any_few)
		table_put_wrapped(out, out->length, 2, "  \"-\" instead of a percentile: there were too few reads.");
}

void
table_put_costs_that_differ(struct text *out, const struct report *report)
{
	struct phrase ranges = { "" };

	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report->figures.clocks[i].cost.differs && report_clock_is_main_of_device(&report->facts.clocks[i]))
			phrase_add(&ranges, "%s %s %s", ranges.bytes[0] ? "," : "", report->facts.clocks[i].clock.id,
				   phrase_read_cost(report, report->facts.clocks[i].clock.id).bytes);
	if (ranges.bytes[0])
		table_put_wrapped(out, out->length, 2, phrase("  A read's cost differs between cores:%s.",
							      ranges.bytes).bytes);
}
