/*
 * The report as a table for people: plain ASCII, lines of at most 79 columns that end with a newline. What
 * was not measured is "-". Renders what is there and judges nothing.
 */
#ifndef BARETICK_TABLE_H
#define BARETICK_TABLE_H

#include "base/text.h"
#include "report/report.h"

/* All of it: machine, verdict, a row a clock, findings, histograms side by side, cores, what it costs a
 * database, and last the durations of each clock by itself. */
void table_render(struct text *out, const struct report *report);

#endif
