/* Lists the rules that found nothing or could not be checked. */
#ifndef BARETICK_COVERAGE_H
#define BARETICK_COVERAGE_H

#include "report/report.h"

/* Lists the rules that apply to the machine and have neither a row nor a finding in OUTCOMES. */
void coverage_list_other_rules(const struct report *report, struct outcomes *outcomes);

#endif
