/* Lines, columns and words of tables: plain ASCII, shared by all that render for people. */
#ifndef BARETICK_LAYOUT_H
#define BARETICK_LAYOUT_H

#include "base/text.h"
#include "report/report.h"

#define TABLE_COLUMNS 79

#define TABLE_SENTENCE_SIZE 2048 /* in bytes: twice the longest paragraph, whatever its figures are */

#define TABLE_SENTENCE_COLUMNS 100 /* longer lines are hard to read, however wide a screen is */

#define TABLE_LABEL_COLUMNS  9 /* before the sentence of a heading's line */
#define TABLE_CLOCKS_ABREAST 5 /* columns of a clock each that fit side by side */
#define TABLE_CORE_COLUMNS   8 /* an APIC id; a longer one has a line to itself */
#define TABLE_ROWS_MAX       64 /* cores that all have a row; of more, the rows are folded */
#define TABLE_GROUPS_MAX     8

/* How many columns lines of OUT may have: TABLE_COLUMNS, but on a screen as many as its text says. */
size_t table_columns(const struct text *out);

/* What a verdict's word is shown in, and that word where it is to be seen first. */
enum text_ink table_ink(enum verdict verdict);
const char *table_loud(enum verdict verdict);

/* Ends the line: blanks at its end go, a newline comes. */
void table_end_line(struct text *out);

/* Blanks up to COLUMN of the line that began at LINE_START; none where it is that long already. */
void table_pad(struct text *out, size_t line_start, size_t column);

/* The first bytes of SENTENCE that fit WIDTH, whole words as far as there are any. */
size_t table_fit(const char *sentence, size_t width);

/*
 * SENTENCE from the column where OUT is, in lines of at most table_columns() and TABLE_SENTENCE_COLUMNS, each
 * further one begun with INDENT blanks; and the end of the last line.
 */
void table_wrap(struct text *out, size_t line_start, size_t indent, const char *sentence);

/* What is printed, from INDENT on, all of its lines. */
void table_paragraph(struct text *out, size_t indent, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Words that make a paragraph: begins with a capital, and its further lines are indented. */
struct table_sentence {
	struct text text;
	char bytes[TABLE_SENTENCE_SIZE];
};

struct text *table_sentence(struct table_sentence *sentence); /* what to write them into */
void table_sentence_end(struct text *out, struct table_sentence *sentence);

/* The s that a noun of COUNT things has, and the one that its verb has instead. */
const char *table_plural(uint64_t count);
const char *table_singular(uint64_t count);

/* LABEL in WIDTH columns; one that is longer has the line to itself, and blanks follow below it. */
void table_label(struct text *out, const char *label, size_t width);

/* The clocks with samples that are main ones, or those that are not: how many, and their indices in the report. */
size_t table_pick_clocks(const struct report *report, bool main, size_t picked[REPORT_CLOCKS_MAX]);

/* A line of the heading: LABEL, then a sentence. */
void table_line(struct text *out, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
