/* Prints the options. See options_print.h. */
#include "render/text/options_print.h"

#include "render/layout/layout.h"

#define INDENT 4

void
options_print(struct text *out, const struct options_names *names)
{
	for (const struct option *option = options_table; option->key; option++) {
		char bytes[512];
		struct text valid;

		text_printf(out, "%s\n", option->sample);
		table_paragraph(out, INDENT, "%s", option->meaning);
		if (option->kind == OPTION_FLAG)
			continue;
		text_init(&valid, bytes, sizeof(bytes));
		options_put_valid(&valid, option, names);
		table_paragraph(out, INDENT, "Takes %s.", bytes);
		table_paragraph(out, INDENT, "Default: %s.", option->preset);
	}
}
