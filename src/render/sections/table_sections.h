/* Functions that write the sections of a report, for the text file and for the screen. */
#ifndef BARETICK_TABLE_SECTIONS_H
#define BARETICK_TABLE_SECTIONS_H

#include "render/layout/layout.h"

/* Heading of the last section. qemu/run shows the lines before it. */
#define TABLE_DURATIONS "Durations of each clock's reads, as pg_test_timing prints them"

void table_run_start(struct text *out, const struct report *report); /* version, start time and duration of the run */
/* The best clock, its cost and the clock that Linux takes, in two short lines. Writes nothing before the judgement. */
void table_answer(struct text *out, const struct report *report);
void table_cpu(struct text *out, const struct report *report);
/* lines on the hypervisor, the firmware, the cores, the options and the TSC */
void table_machine(struct text *out, const struct report *report);
void table_verdict(struct text *out, const struct report *report);
/* Stolen time, and whether latencies are reliable. Writes nothing before the report is judged. */
void table_quality(struct text *out, const struct report *report);
/* Returns true if there is a finding on ENTRY. */
bool table_has_findings(const struct report *report, const struct report_clock *entry);
/* Writes the findings on ENTRY, or all findings if ENTRY is NULL. If DETAILED is true, adds causes and advice. */
void table_findings(struct text *out, const struct report *report, const struct report_clock *entry, bool detailed);
/* the report's notes, and drivers' remarks on clocks */
void table_notes(struct text *out, const struct report *report);
void table_clocks(struct text *out, const struct report *report);     /* a row for each clock */
void table_histogram(struct text *out, const struct report *report);  /* histograms of all clocks, next to each other */
/* histograms of the main read method of each clock */
void table_histogram_main(struct text *out, const struct report *report);
/* The histogram of one clock, without a title. */
void table_histogram_of(struct text *out, const struct report *report, size_t clock);
/* Durations of reads, clock by clock, in the format of PostgreSQL's pg_test_timing. */
void table_durations(struct text *out, const struct report *report);
void table_durations_of(struct text *out, const struct report *report, const struct report_clock *entry);
void table_interference(struct text *out, const struct report *report); /* stolen time, and latencies without it */
/* Timers' interrupts, if any were tested. */
void table_intervals(struct text *out, const struct report *report);
/* Stated rates of clocks, with their errors and users. Writes nothing if the machine states none. */
void table_claims(struct text *out, const struct report *report);
/* The figures of a soak (a long run) over time, in at most a dozen lines. */
void table_series(struct text *out, const struct report *report);
/*
 * Parts of table_series() for the progress display: the column headings, the line of the latest complete row, and
 * marks for the last MOST rows.
 */
void table_series_head(struct text *out, const struct report *report);
void table_series_latest(struct text *out, const struct report *report);
void table_series_marks(struct text *out, const struct report *report, size_t most);
/* Device checks: a matrix of the timers, the number of passed checks, and a sentence for each other check. */
void table_behaviours(struct text *out, const struct report *report);
/* Writes every device check of the clock with the id CLOCK. */
void table_behaviours_of(struct text *out, const struct report *report, const char *clock);
/* Calibration loops, and the errors of the rates that they found. Writes nothing if no loop was run. */
void table_calibrations(struct text *out, const struct report *report);
void table_advice(struct text *out, const struct report *report);     /* the recommended clocks in order */
void table_database(struct text *out, const struct report *report);   /* cost of timing 100,000 rows of a database */
/* cost of timing 100,000 rows of a database, in one sentence */
void table_database_in_short(struct text *out, const struct report *report);

#endif
