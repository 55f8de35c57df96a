/*
 * The report as text for people: plain ASCII, lines of at most 79 columns that end with a newline. Values that
 * were not measured are "-".
 */
#ifndef BARETICK_REPORT_TEXT_H
#define BARETICK_REPORT_TEXT_H

#include "base/text.h"
#include "report/report.h"

/*
 * Writes the whole report: machine, verdict, a row for each clock, findings, histograms, cores, the cost of reads for a
 * database, and at the end the durations of each clock's reads.
 */
void table_render(struct text *out, const struct report *report);

/* Returns the length of TEXT, a report from table_render(), up to its last section, which fills many screens. */
size_t table_get_summary_length(const struct text *text);

#endif
