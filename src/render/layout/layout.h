/* Lines, columns and words of tables in plain ASCII, shared by all renderers for people. */
#ifndef BARETICK_LAYOUT_H
#define BARETICK_LAYOUT_H

#include "base/text.h"
#include "report/report.h"

#define TABLE_COLUMNS 79

#define TABLE_SENTENCE_SIZE 2048 /* in bytes: twice the longest paragraph with its longest figures */

#define TABLE_SENTENCE_COLUMNS 100 /* longer lines are hard to read, however wide a screen is */

#define TABLE_LABEL_COLUMNS  9 /* before the sentence of a heading's line */
#define TABLE_CLOCKS_ABREAST 5 /* clocks whose columns fit next to each other */
#define TABLE_CORE_COLUMNS   8 /* an APIC id; a longer one has its own line */
#define TABLE_ROWS_MAX       64 /* with more cores, rows are folded */
#define TABLE_GROUPS_MAX     8

/* Columns available in lines of OUT: TABLE_COLUMNS, or on a screen its width. */
size_t table_columns(const struct text *out);

/* Colour for a verdict's word, and the word itself in its conspicuous form. */
enum text_ink table_ink(enum verdict verdict);
const char *table_loud(enum verdict verdict);

/* Ends the line: removes blanks at its end and adds a newline. */
void table_end_line(struct text *out);

/* Adds blanks up to COLUMN of the line that starts at LINE_START. Adds none if the line is that long already. */
void table_pad(struct text *out, size_t line_start, size_t column);

/* Number of bytes of SENTENCE that fit WIDTH, in whole words if possible. */
size_t table_fit(const char *sentence, size_t width);

/*
 * Writes SENTENCE from the current column on, in lines of at most table_columns() and TABLE_SENTENCE_COLUMNS.
 * Further lines start with INDENT blanks. Ends the last line.
 */
void table_wrap(struct text *out, size_t line_start, size_t indent, const char *sentence);

/* Writes the formatted text with all lines indented by INDENT. */
void table_paragraph(struct text *out, size_t indent, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Words that make a paragraph: it starts with a capital, and its further lines are indented. */
struct table_sentence {
	struct text text;
	char bytes[TABLE_SENTENCE_SIZE];
};

struct text *table_sentence(struct table_sentence *sentence); /* the text to write the words into */
void table_sentence_end(struct text *out, struct table_sentence *sentence);

/* The "s" of a noun for COUNT things, and the "s" of its verb for one thing. */
const char *table_plural(uint64_t count);
const char *table_singular(uint64_t count);

/* LABEL in WIDTH columns. A longer one has its own line, followed by blanks in the next. */
void table_label(struct text *out, const char *label, size_t width);

/*
 * Picks the clocks with samples that are main ones, or the others. Returns their number; PICKED has their
 * indices in the report.
 */
size_t table_pick_clocks(const struct report *report, bool main, size_t picked[REPORT_CLOCKS_MAX]);

/* A line of the heading: LABEL, then a sentence. */
void table_line(struct text *out, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
