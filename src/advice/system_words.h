/* The sentences on systems other than Linux, in advice.taken. See systems.h. */
#ifndef BARETICK_SYSTEM_WORDS_H
#define BARETICK_SYSTEM_WORDS_H

#include "base/text.h"
#include "report/report.h"

/* Returns why PostgreSQL 19 does not read the TSC itself; NULL if it does. */
const char *system_explain_why_postgresql_avoids_tsc(const struct report *report);

/* Returns the first rule with a finding that makes it unsafe to read the TSC on several cores, or NULL. */
const char *system_find_rule_against_tsc(const struct report *report);

/*
 * Returns whether a program may read the TSC on all cores and compare the readings. Writes this as a sentence, unless
 * REASON is NULL.
 */
enum taken_safety system_explain_safety_of_tsc(const struct report *report, struct text *reason);

/* Write the reason of the row of this system. */
void system_explain_xen(const struct report *report, const struct report_taken *row, struct text *reason);
void system_explain_windows(const struct report *report, const struct report_taken *row, struct text *reason);
void system_explain_postgresql(const struct report *report, const struct report_taken *row, struct text *reason);
void system_explain_valkey(const struct report *report, const struct report_taken *row, struct text *reason);
void system_explain_reader_of_tsc(const struct report *report, const struct report_taken *row, struct text *reason);

#endif
