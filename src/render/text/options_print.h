/* Prints the options for people: the output of the option `help`. */
#ifndef BARETICK_OPTIONS_PRINT_H
#define BARETICK_OPTIONS_PRINT_H

#include "base/text.h"
#include "options/options.h"

/* Writes every option with its meaning, values and default, in at most 79 columns. */
void options_print(struct text *out, const struct options_names *names);

#endif
