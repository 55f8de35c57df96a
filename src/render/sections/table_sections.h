/* Functions that write the sections of a report, for the text file and for the screen. */
#ifndef BARETICK_TABLE_SECTIONS_H
#define BARETICK_TABLE_SECTIONS_H

#include "render/layout/layout.h"

/* Heading of the last section. qemu/run shows only the report's lines before this heading. */
#define TABLE_DURATIONS "Durations of each clock's reads with the bracket, in pg_test_timing's format"

/* Writes the version, and the start time and duration of the run. */
void table_put_run_start(struct text *out, const struct report *report);
/* Writes the best clock, its cost and the clock that Linux would use, or nothing before the report is judged. */
void table_put_summary(struct text *out, const struct report *report);

/* Writes a paragraph with the duration of each phase of the run, or nothing if they are not known. */
void table_put_phases(struct text *out, const struct report *report);
void table_put_cpu(struct text *out, const struct report *report);
/* Writes lines on the hypervisor, the firmware, the cores, the options and the TSC. */
void table_put_machine(struct text *out, const struct report *report);
void table_put_verdict(struct text *out, const struct report *report);
/* Writes stolen time, and whether latencies are reliable, or nothing before the report is judged. */
void table_put_timing_quality(struct text *out, const struct report *report);
/* Returns true if there is a finding on ENTRY. */
bool table_has_findings(const struct report *report, const struct report_clock *entry);
/* Writes the findings on ENTRY, or all findings if ENTRY is NULL. If DETAILED is true, adds causes and advice. */
void table_put_findings(struct text *out, const struct report *report, const struct report_clock *entry, bool detailed);
/* Writes the report's notes, and drivers' remarks on clocks. */
void table_put_notes(struct text *out, const struct report *report);
/* Writes a table for each time at which the clocks diverged, with late systems, or nothing if they never diverged. */
void table_put_discontinuities(struct text *out, const struct report *report);
/* Writes a row for each clock. */
void table_put_clocks(struct text *out, const struct report *report);
/* Writes the range of each cost of a read that differs between cores, for each clock's main read method. */
void table_put_costs_that_differ(struct text *out, const struct report *report);
/* Writes the histograms of all clocks, next to each other. */
void table_put_all_histograms(struct text *out, const struct report *report);
/* Writes the histograms of the main read method of each clock. */
void table_put_main_histograms(struct text *out, const struct report *report);
/* Writes the histogram of one clock, without a title. */
void table_put_histogram_of_clock(struct text *out, const struct report *report, size_t clock);
/* Writes the durations of reads, clock by clock, in the format of PostgreSQL's pg_test_timing. */
void table_put_durations(struct text *out, const struct report *report);
void table_put_durations_of_clock(struct text *out, const struct report *report, const struct report_clock *entry);
/* Writes stolen time, and latencies without the reads that it made longer. */
void table_put_interference(struct text *out, const struct report *report);
/* Writes the table of timer interrupts, or nothing if no timer was tested. */
void table_put_intervals(struct text *out, const struct report *report);
/* Writes the rates that the machine states, their errors, and their users, or nothing if no rate is stated. */
void table_put_claims(struct text *out, const struct report *report);
/* Writes the figures of a soak (a long run) over time, in at most a dozen lines. */
void table_put_series(struct text *out, const struct report *report);
/* Write parts of the progress display of a soak: the column headings, and the line of the latest complete row. */
void table_put_series_heading(struct text *out, const struct report *report);
void table_put_latest_series_row(struct text *out, const struct report *report);
/* Writes a matrix of the timers' checks, the number of passed checks, and sentences on checks that did not pass. */
void table_put_behaviours(struct text *out, const struct report *report);
/* Writes every device check of the clock with the id CLOCK. */
void table_put_behaviours_of_clock(struct text *out, const struct report *report, const char *clock);
/* Writes the calibration loops and the errors of the rates that they found, or nothing if no loop was run. */
void table_put_calibrations(struct text *out, const struct report *report);
/* Writes the recommended clocks in order, and the clocks that systems take. */
void table_put_advice(struct text *out, const struct report *report);
/* Writes the cost of timing 100,000 rows of a database, for each clock. */
void table_put_database_timing_cost(struct text *out, const struct report *report);
/* Writes the cost of timing 100,000 rows of a database, in one sentence. */
void table_put_database_timing_in_short(struct text *out, const struct report *report);

#endif
