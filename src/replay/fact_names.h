/* Names of facts, for error messages. */
#ifndef BARETICK_FACT_NAMES_H
#define BARETICK_FACT_NAMES_H

#include "analysis/facts.h"

/* Returns the name of the field NUMBER of TABLE as in facts.def, for example "cores.method". */
const char *fact_names_get_field(enum facts_table table, uint8_t number);

/* Returns the name of LIST, for example "clocks". */
const char *fact_names_get_list(enum facts_list list);

#endif
