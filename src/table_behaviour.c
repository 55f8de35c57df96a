/* What the data sheets promise of each device and what came of it; and which clock to take. */
#include "table_internal.h"

#include "rules.h"

#define OUTCOME_COLUMNS 9
#define RULE_COLUMNS    15
#define TEXT_COLUMN     (OUTCOME_COLUMNS + RULE_COLUMNS)
#define ADVICE_INDENT   7

/* What was seen, or why it was not: the outcome stands beside it already. */
static const char *
text_of(const struct behaviour *row)
{
	static const char prefix[] = "Not seen: ";
	size_t same = 0;

	while (prefix[same] && row->text[same] == prefix[same])
		same++;
	return !row->seen && !prefix[same] ? &row->text[same] : row->text;
}

void
table_behaviours(struct text *out, const struct report *report)
{
	if (!report->behaviours.count)
		return;
	text_put(out, "\nWhat the data sheets promise, and what came of it\n\n");
	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];
		size_t line_start = out->length;

		text_printf(out, "%-*s%-*s", OUTCOME_COLUMNS, rules_outcome(row, &report->options),
			    RULE_COLUMNS, row->rule);
		table_wrap(out, line_start, TEXT_COLUMN, text_of(row));
	}
}

void
table_advice(struct text *out, const struct report *report)
{
	if (!report->advice.count)
		return;
	text_put(out, "\nRecommendation\n\n");
	for (size_t i = 0; i < report->advice.count; i++) {
		bool avoid = report->advice.rows[i].avoid;
		size_t line_start = out->length;

		if (avoid)
			text_printf(out, "%-*s", ADVICE_INDENT, "avoid");
		else
			text_printf(out, "%5zu. ", i + 1);
		text_printf(out, "%s: ", report->advice.rows[i].clock);
		table_wrap(out, line_start, ADVICE_INDENT, report->advice.rows[i].reason);
	}
}
