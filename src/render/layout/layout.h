/* Lines, columns and words of tables in plain ASCII, for the text report, the screen and the help. */
#ifndef BARETICK_LAYOUT_H
#define BARETICK_LAYOUT_H

#include "base/text.h"
#include "report/report.h"

#define TABLE_COLUMNS 79 /* width of lines in a file */

#define TABLE_SENTENCE_SIZE 2048 /* bytes for a paragraph: twice the size of the longest paragraph */

#define TABLE_SENTENCE_COLUMNS 100 /* maximum width of a paragraph, because longer lines are hard to read */

#define TABLE_LABEL_COLUMNS  9 /* width of the labels in the report's heading */
#define TABLE_CLOCKS_PER_ROW 5 /* number of clocks whose columns fit next to each other in TABLE_COLUMNS */
#define TABLE_CORE_COLUMNS   8 /* columns for an APIC id; an id with more digits is printed on a line of its own */
#define TABLE_ROWS_MAX       64 /* maximum number of cores with a row each; with more, a package's cores share a row */
#define TABLE_GROUPS_MAX     8  /* maximum number of packages with a row each; with more, all cores share a row */

/* Returns the width of lines in OUT: the width of the screen or, if OUT is for a file, TABLE_COLUMNS. */
size_t table_get_max_line_width(const struct text *out);

enum text_ink table_colour_of_verdict(enum verdict verdict);
extern const char *const verdict_words_in_capitals[]; /* verdict_words in capitals */

/* Ends the line: removes blanks at its end and adds a newline. */
void table_end_line(struct text *out);

/* Adds blanks up to COLUMN of the line that starts at offset LINE_START of OUT. Does not change a longer line. */
void table_pad_to_column(struct text *out, size_t line_start, size_t column);

/* Returns the number of bytes of SENTENCE that fit into WIDTH columns, in whole words if possible. */
size_t table_bytes_that_fit(const char *sentence, size_t width);

/*
 * Writes SENTENCE from the current column on. Lines are at most as wide as OUT, and at most TABLE_SENTENCE_COLUMNS.
 * The current line starts at offset LINE_START of OUT. Further lines start with INDENT blanks. Ends the last line.
 */
void table_put_wrapped(struct text *out, size_t line_start, size_t indent, const char *sentence);

/* Writes the formatted text with all lines indented by INDENT. */
void table_put_paragraph(struct text *out, size_t indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A paragraph that is written part by part. When it is printed, its first letter becomes a capital. */
struct table_sentence {
	struct text text;
	char bytes[TABLE_SENTENCE_SIZE];
};

/* starts an empty paragraph, and returns the text to which its parts are written */
struct text *table_begin_sentence(struct table_sentence *sentence);
/* prints the paragraph, and indents all lines after the first */
void table_end_sentence(struct text *out, struct table_sentence *sentence);

/* Prints the formatted text as a paragraph: its first letter becomes a capital, and further lines are indented. */
void table_put_sentence(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Return the ending of a noun or of a verb after the number COUNT, which is "s" or "": "2 cores", but "1 core drifts".
 */
const char *table_plural_ending(uint64_t count);
const char *table_singular_verb_ending(uint64_t count);

/* Writes LABEL and pads it to WIDTH columns. Writes a longer label on a line of its own, and then WIDTH blanks. */
void table_put_label(struct text *out, const char *label, size_t width);

/*
 * Picks clocks with measured latencies: if MAIN is true, the main read method of each device, otherwise all other read
 * methods. PICKED gets the indices of these clocks in the report. Returns their number.
 */
size_t table_find_clocks_with_reads(const struct report *report, bool main, size_t picked[REPORT_CLOCKS_MAX]);

/* Writes a line of the report's heading: LABEL, then a sentence. */
void table_put_labelled_line(struct text *out, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
