/* Prints the rule catalogue. See rules_print.h. */
#include "render/text/rules_print.h"

#include "rules/rules.h"
#include "render/layout/layout.h"

#define INDENT 4

void
rules_print(struct text *out, const struct options *options)
{
	for (const struct rule *rule = rules; rule->id; rule++) {
		text_printf(out, "%s (%s, %s%s)\n", rule->id, rule->clock ? rule->clock : "machine",
			    verdict_word(rule->severity), rule->warns_in_guest ? ", in a guest warn" : "");
		if (rule->what)
			table_paragraph(out, INDENT, "Compared: %s; limit.%s=%lu (%s).", rule->what, rule->id,
				      rules_limit(rule, options), rule->unit);
		table_paragraph(out, INDENT, "%s", rule->sentence);
		table_paragraph(out, INDENT, "Known causes: %s", rule->cause);
		table_paragraph(out, INDENT, "What to do: %s", rule->advice);
		table_paragraph(out, INDENT, "Known from: %s.", rule->source);
	}
}
