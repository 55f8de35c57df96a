/* Checks the readings in a record, before the analysis calculates with them. */
#ifndef BARETICK_ENTRIES_CHECK_H
#define BARETICK_ENTRIES_CHECK_H

#include "base/text.h"
#include "report/report.h"

/*
 * Checks the entries of a valid RECORD of SIZE bytes. REPORT contains the facts of the record. Returns true if all
 * numbers are in their ranges, and each timer has a row in REPORT. Otherwise writes a sentence to WHY and returns
 * false.
 */
bool entries_are_in_range(const void *record, size_t size, const struct report *report, struct text *why);

#endif
