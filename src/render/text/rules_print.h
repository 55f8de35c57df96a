/* The rule catalogue for people: what the option `rules` shows, and the README's table. */
#ifndef BARETICK_RULES_PRINT_H
#define BARETICK_RULES_PRINT_H

#include "options.h"
#include "text.h"

/* Every rule with its limit in this run, what it means, what it comes from and what to do; at most 79 columns. */
void rules_print(struct text *out, const struct options *options);

/* A Markdown table of all rules by the catalogue's own limits. */
void rules_print_markdown(struct text *out);

#endif
