/* The sections of the table, of which text and screen are made. */
#ifndef BARETICK_TABLE_SECTIONS_H
#define BARETICK_TABLE_SECTIONS_H

#include "render/layout/layout.h"

/* The line from which on the text is detail: qemu/run shows what is before it. */
#define TABLE_DURATIONS "Durations of each clock's reads, as pg_test_timing prints them"

void table_begun(struct text *out, const struct report *report);      /* what ran, when, how long */
/* The whole report in two short lines; nothing if nothing was judged. */
void table_answer(struct text *out, const struct report *report);
void table_cpu(struct text *out, const struct report *report);
void table_machine(struct text *out, const struct report *report);    /* the rest of it, four lines */
void table_verdict(struct text *out, const struct report *report);
/* How much time was stolen; nothing before it is judged. */
void table_quality(struct text *out, const struct report *report);
/* Whether any holds for ENTRY. */
bool table_has_findings(const struct report *report, const struct report_clock *entry);
/* That hold for ENTRY; NULL: all. Where there are none a sentence says so. DETAILED: with cause and advice. */
void table_findings(struct text *out, const struct report *report, const struct report_clock *entry, bool detailed);
void table_notes(struct text *out, const struct report *report); /* and what there is to say of present clocks */
void table_clocks(struct text *out, const struct report *report);     /* a row each */
void table_histogram(struct text *out, const struct report *report);  /* side by side */
void table_histogram_main(struct text *out, const struct report *report); /* of main clocks only */
void table_histogram_of(struct text *out, const struct report *report, size_t clock); /* of one, without a title */
void table_durations(struct text *out, const struct report *report);  /* each by itself, as pg_test_timing */
void table_durations_of(struct text *out, const struct report *report, const struct report_clock *entry);
void table_interference(struct text *out, const struct report *report); /* gaps, and reads without them */
void table_intervals(struct text *out, const struct report *report);  /* timers' interrupts, where any were asked */
void table_series(struct text *out, const struct report *report);     /* a soak over time, in a dozen lines at most */
/* The columns of its lines; the line of the row that was over last; and a mark for each of the last MOST rows. */
void table_series_head(struct text *out, const struct report *report);
void table_series_latest(struct text *out, const struct report *report);
void table_series_marks(struct text *out, const struct report *report, size_t most);
/* Tests that did not pass, the number that did, and a matrix of the timers. */
void table_behaviours(struct text *out, const struct report *report);
/* Every test of the clock of that id. */
void table_behaviours_of(struct text *out, const struct report *report, const char *clock);
void table_advice(struct text *out, const struct report *report);     /* the clocks in order */
void table_database(struct text *out, const struct report *report);   /* what it costs one */
void table_database_in_short(struct text *out, const struct report *report); /* in a sentence */

#endif
