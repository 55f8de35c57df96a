/* The ids that options accept as values: ids of clocks, and ids of rules that have limits. */
#ifndef BARETICK_NAMES_H
#define BARETICK_NAMES_H

#include "options/options.h"
#include "report/report.h"
#include "rules/rules.h"

struct names {
	const char *clock_ids[REPORT_CLOCKS_MAX + 1];
	const char *rule_ids[RULES_MAX + 1];
	struct options_names options; /* pointers to the two arrays, for the parser of options */
};

/* Fills NAMES, which must not be moved afterwards, because it contains pointers to itself. */
void names_collect_option_ids(struct names *names);

#endif
