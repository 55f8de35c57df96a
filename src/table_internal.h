/* What the files of the table share, and nobody else needs. */
#ifndef BARETICK_TABLE_INTERNAL_H
#define BARETICK_TABLE_INTERNAL_H

#include "table.h"

#define TABLE_CLOCKS_ABREAST 5 /* columns of a clock each that fit side by side */

/* Ends the line that OUT stands in: blanks at its end go, a newline comes. */
void table_end_line(struct text *out);

/* Blanks up to COLUMN of the line that began at LINE_START; none where it is that long already. */
void table_pad(struct text *out, size_t line_start, size_t column);

/* The first bytes of SENTENCE that fit WIDTH, whole words as far as there are any. */
size_t table_fit(const char *sentence, size_t width);

/*
 * SENTENCE from the column where OUT stands, in lines of at most TABLE_COLUMNS, each further one begun with
 * INDENT blanks; and the end of the last line. INDENT is less than TABLE_COLUMNS.
 */
void table_wrap(struct text *out, size_t line_start, size_t indent, const char *sentence);

/* LABEL in WIDTH columns; one that is longer has the line to itself, and blanks stand below it. */
void table_label(struct text *out, const char *label, size_t width);

/* The clocks with samples that are main ones, or those that are not: how many, and their indices in the report. */
size_t table_pick_clocks(const struct report *report, bool main, size_t picked[REPORT_CLOCKS_MAX]);

void table_clocks(struct text *out, const struct report *report);     /* a row each */
void table_histogram(struct text *out, const struct report *report);  /* side by side */
void table_durations(struct text *out, const struct report *report);  /* each by itself, as pg_test_timing */
void table_cores(struct text *out, const struct report *report);      /* a row each, and the warp check */
void table_database(struct text *out, const struct report *report);   /* what it costs one */

#endif
