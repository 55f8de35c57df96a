/* Prints the options and the rule catalogue. See help.h. */
#include "render/text/help.h"

#include "render/layout/layout.h"
#include "rules/rules.h"

#define INDENT 4

void
options_print_help(struct text *out, const struct options_names *names)
{
	for (const struct option *option = options_table; option->key; option++) {
		char bytes[512];

		text_printf(out, "%s\n", option->sample);
		table_put_paragraph(out, INDENT, "%s", option->meaning);
		if (option->kind == OPTION_FLAG)
			continue;
		struct text valid = text_start(bytes, sizeof(bytes));
		options_put_valid_values(&valid, option, names);
		table_put_paragraph(out, INDENT, "Takes %s.", bytes);
		table_put_paragraph(out, INDENT, "Default: %s.", option->preset);
	}
}

void
rules_print(struct text *out, const struct options *options)
{
	for (const struct rule *rule = rules; rule->id; rule++) {
		text_printf(out, "%s (%s, %s%s)\n", rule->id, rule->clock ? rule->clock : "machine",
			    verdict_words[rule->severity], rule->warns_in_guest ? ", in a guest warn" : "");
		if (rule->what)
			table_put_paragraph(out, INDENT, "Compared: %s; limit.%s=%lu (%s).", rule->what, rule->id,
				      rules_get_limit(rule, options), rule->unit);
		table_put_paragraph(out, INDENT, "%s", rule->sentence);
		table_put_paragraph(out, INDENT, "Known causes: %s", rule->cause);
		table_put_paragraph(out, INDENT, "What to do: %s", rule->advice);
		table_put_paragraph(out, INDENT, "Known from: %s.", rule->source);
	}
}
