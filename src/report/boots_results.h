/* Results of a series of boots (option boots=N), in the report of its present boot. */
#ifndef BARETICK_BOOTS_RESULTS_H
#define BARETICK_BOOTS_RESULTS_H

#include "report/report.h"

/*
 * Sets report.outcomes.boots_so_far to report.facts.boots with the findings and figures of the present boot. Adds notes
 * with the number of boots in which each of them was seen. Does nothing if there is no series.
 */
void boots_add_results(struct report *report);

/* Adds a note that the option boots= has no effect, because the boot volume cannot count the boots. */
void boots_add_note_on_single_boot(struct report *report);

#endif
