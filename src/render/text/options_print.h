/* The options for people: what the option `help` shows. */
#ifndef BARETICK_OPTIONS_PRINT_H
#define BARETICK_OPTIONS_PRINT_H

#include "base/text.h"
#include "options/options.h"

/* Every option with what it does, takes and is where it isn't given; at most 79 columns. */
void options_print(struct text *out, const struct options_names *names);

#endif
