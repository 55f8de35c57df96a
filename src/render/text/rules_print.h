/* The rule catalogue for people: what the option `rules` shows. */
#ifndef BARETICK_RULES_PRINT_H
#define BARETICK_RULES_PRINT_H

#include "base/text.h"
#include "options/options.h"

/* Every rule with its limit in this run, what it means, what it comes from and what to do; at most 79 columns. */
void rules_print(struct text *out, const struct options *options);

#endif
