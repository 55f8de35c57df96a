/* The rule catalogue for people. See rules_print.h. */
#include "rules_print.h"

#include "rules.h"
#include "layout.h"

#define INDENT 4

static void __attribute__((format(printf, 2, 3)))
put_paragraph(struct text *out, const char *format, ...)
{
	char bytes[512];
	size_t line_start = out->length;
	struct text text;
	va_list arguments;

	text_init(&text, bytes, sizeof(bytes));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	text_printf(out, "%*s", INDENT, "");
	table_wrap(out, line_start, INDENT, bytes);
}

void
rules_print(struct text *out, const struct options *options)
{
	for (const struct rule *rule = rules; rule->id; rule++) {
		text_printf(out, "%s (%s, %s)\n", rule->id, rule->clock ? rule->clock : "machine", verdict_word(rule->severity));
		if (rule->what)
			put_paragraph(out, "Compared: %s; limit.%s=%lu (%s).", rule->what, rule->id,
				      rules_limit(rule, options), rule->unit);
		put_paragraph(out, "%s", rule->sentence);
		put_paragraph(out, "Likely cause: %s", rule->cause);
		put_paragraph(out, "What to do: %s", rule->advice);
		put_paragraph(out, "Known from: %s.", rule->source);
	}
}
