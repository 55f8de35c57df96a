/* Names of facts, for error messages, and the field that identifies an element of a list. */
#ifndef BARETICK_FACT_NAMES_H
#define BARETICK_FACT_NAMES_H

#include "analysis/facts.h"

/* Returns the name of the field NUMBER of TABLE as in facts.def, for example "cores.method". */
const char *fact_names_get_field(enum facts_table table, uint8_t number);

/* The names of the lists, for example "clocks". */
extern const char *const fact_list_names[FACTS_LISTS];

/* For each table, the number of the field in its row UNIQUE, or 0 if elements may be equal. */
extern const uint8_t fact_unique_fields[FACTS_TABLES];

#endif
