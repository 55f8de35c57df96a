/* Prints the rule catalogue for people: the output of the option `rules`. */
#ifndef BARETICK_RULES_PRINT_H
#define BARETICK_RULES_PRINT_H

#include "base/text.h"
#include "options/options.h"

/* Writes every rule with its limit in this run, meaning, cause and advice, in at most 79 columns. */
void rules_print(struct text *out, const struct options *options);

#endif
