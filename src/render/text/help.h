/* Prints the options and the rule catalogue for people: the output of the options `help` and `rules`. */
#ifndef BARETICK_HELP_H
#define BARETICK_HELP_H

#include "base/text.h"
#include "options/options.h"

/* Writes every option with its meaning, values and default, in at most 79 columns. */
void options_print_help(struct text *out, const struct options_names *names);

/* Writes every rule with its limit in this run, meaning, cause and advice, in at most 79 columns. */
void rules_print(struct text *out, const struct options *options);

#endif
