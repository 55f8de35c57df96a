/* The device checks, and which clock to take. */
#include "table_sections.h"

#include "rules.h"

#define OUTCOME_COLUMNS 15
#define RULE_COLUMNS    15
#define TEXT_COLUMN     (OUTCOME_COLUMNS + RULE_COLUMNS)
#define ADVICE_INDENT   7

static void
put_row(struct text *out, const struct behaviour *row, const struct options *options)
{
	const struct rule *rule = rules_find(row->rule);
	static const char *const words[] = {
		[OUTCOME_PASSED] = "passed", [OUTCOME_FAILED] = "failed", [OUTCOME_NOT_CHECKED] = "not checked",
		[OUTCOME_NOT_DETERMINED] = "not determined",
	};
	enum outcome outcome = rules_outcome(row, options);
	size_t line_start = out->length;

	if (outcome == OUTCOME_NOT_CHECKED || outcome == OUTCOME_NOT_DETERMINED)
		out->ink = INK_DIM;
	else
		out->ink = rule && outcome == OUTCOME_FAILED ? table_ink(rule->severity) : INK_PASS;
	text_printf(out, "%-*s", OUTCOME_COLUMNS, words[outcome]);
	out->ink = INK_PLAIN;
	text_printf(out, "%-*s", RULE_COLUMNS, row->rule);
	/* A rule of all sources of interrupts has a row for each. */
	if (text_begins(row->rule, "irq-"))
		text_printf(out, "%s: ", row->clock);
	table_wrap(out, line_start, TEXT_COLUMN, row->text);
}

void
table_behaviours_of(struct text *out, const struct report *report, const char *clock)
{
	bool any = false;

	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];

		if (clock && !text_equal(clock, row->clock))
			continue;
		if (!any)
			text_put_inked(out, INK_HEADING, "\nWhat the data sheets promise\n\n");
		any = true;
		put_row(out, row, &report->options);
	}
}

void
table_behaviours(struct text *out, const struct report *report)
{
	table_behaviours_of(out, report, NULL);
}

void
table_advice(struct text *out, const struct report *report)
{
	if (!report->advice.count)
		return;
	text_put_inked(out, INK_HEADING, "\nRecommendation, by Linux's class of rating, then by cost\n\n");
	for (size_t i = 0; i < report->advice.count; i++) {
		bool avoid = report->advice.rows[i].avoid;
		size_t line_start = out->length;

		out->ink = avoid ? INK_WARN : INK_PLAIN;
		if (avoid)
			text_printf(out, "%-*s", ADVICE_INDENT, "avoid");
		else
			text_printf(out, "%5zu. ", i + 1);
		out->ink = INK_PLAIN;
		text_printf(out, "%s: ", report->advice.rows[i].clock);
		table_wrap(out, line_start, ADVICE_INDENT, report->advice.rows[i].reason);
	}
	for (size_t i = 0; i < report->taken_count; i++) {
		const struct report_taken *taken = &report->taken[i];
		size_t line_start = out->length;

		text_printf(out, "    %s takes %s: ", taken->system, taken->clock);
		table_wrap(out, line_start, ADVICE_INDENT, taken->reason);
	}
	if (report->tick.reason[0]) {
		size_t line_start = out->length;

		text_printf(out, "%-*s%s%s", ADVICE_INDENT, "tick", report->tick.source ? report->tick.source : "",
			    report->tick.source ? ": " : "");
		table_wrap(out, line_start, ADVICE_INDENT, report->tick.reason);
	}
}
