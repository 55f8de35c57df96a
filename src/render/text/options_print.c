/* The options for people. See options_print.h. */
#include "options_print.h"

#include "layout.h"

#define INDENT 4

void
options_print_valid(struct text *out, const struct option *option, const struct options_names *names)
{
	text_put(out, option->valid);
	for (const char *const *name = option->list ? option->list(names) : NULL; name && *name; name++)
		text_printf(out, "%s%s", name == option->list(names) ? " " : ", ", *name);
}

void
options_print(struct text *out, const struct options_names *names)
{
	for (const struct option *option = options_table; option->key; option++) {
		char bytes[512];
		struct text valid;

		text_printf(out, "%s\n", option->sample);
		table_paragraph(out, INDENT, "%s", option->meaning);
		if (!option->valid)
			continue;
		text_init(&valid, bytes, sizeof(bytes));
		options_print_valid(&valid, option, names);
		table_paragraph(out, INDENT, "Takes %s.", bytes);
		table_paragraph(out, INDENT, "Default: %s.", option->preset);
	}
}
