/* What the files of the table share, and nobody else needs. */
#ifndef BARETICK_TABLE_INTERNAL_H
#define BARETICK_TABLE_INTERNAL_H

#include "scale.h"
#include "table.h"

#define TABLE_SENTENCE_COLUMNS 100 /* longer lines are hard to read, however wide a screen is */

#define TABLE_CLOCKS_ABREAST 5 /* columns of a clock each that fit side by side */
#define TABLE_CORE_COLUMNS   8 /* an APIC id; a longer one has a line to itself */
#define TABLE_ROWS_MAX       64 /* cores that all have a row; of more, the rows are folded */
#define TABLE_GROUPS_MAX     8

/* How many columns lines of OUT may have: TABLE_COLUMNS, but on a screen as many as its text says. */
size_t table_columns(const struct text *out);

/* What a verdict's word is shown in, and that word where it is to be seen first. */
enum text_ink table_ink(enum verdict verdict);
const char *table_loud(enum verdict verdict);

/* Ends the line that OUT stands in: blanks at its end go, a newline comes. */
void table_end_line(struct text *out);

/* Blanks up to COLUMN of the line that began at LINE_START; none where it is that long already. */
void table_pad(struct text *out, size_t line_start, size_t column);

/* The first bytes of SENTENCE that fit WIDTH, whole words as far as there are any. */
size_t table_fit(const char *sentence, size_t width);

/*
 * SENTENCE from the column where OUT stands, in lines of at most table_columns() and TABLE_SENTENCE_COLUMNS, each
 * further one begun with INDENT blanks; and the end of the last line.
 */
void table_wrap(struct text *out, size_t line_start, size_t indent, const char *sentence);

/* Words that make a paragraph: begins with a capital, and its further lines are indented. */
struct table_sentence {
	struct text text;
	char bytes[640];
};

struct text *table_sentence(struct table_sentence *sentence); /* what to write them into */
void table_sentence_end(struct text *out, struct table_sentence *sentence);

/* The s that a noun of COUNT things has, and the one that its verb has instead. */
const char *table_plural(uint64_t count);
const char *table_singular(uint64_t count);

/* LABEL in WIDTH columns; one that is longer has the line to itself, and blanks stand below it. */
void table_label(struct text *out, const char *label, size_t width);

/* The clocks with samples that are main ones, or those that are not: how many, and their indices in the report. */
size_t table_pick_clocks(const struct report *report, bool main, size_t picked[REPORT_CLOCKS_MAX]);

/*
 * What rows of cores are folded into: a package each, as far as every core says which is its own and there are at most
 * TABLE_GROUPS_MAX of them; else all cores are one group. Cores that did not start are in none.
 */
struct table_groups {
	size_t count;
	bool are_packages;
	uint32_t packages[TABLE_GROUPS_MAX];
	size_t cores[TABLE_GROUPS_MAX]; /* in each */
};

struct table_groups table_groups(const struct report *report);

/* The group that CORE is in; groups->count where it is in none. */
size_t table_group_of(const struct table_groups *groups, const struct report_core *core);

/* "package 0 (64)": its cores in brackets. */
void table_group_label(struct text *out, const struct table_groups *groups, size_t group);

/* What sets a core's row apart from others; the first that holds. */
enum table_remark {
	TABLE_PLAIN,
	TABLE_BOOT,
	TABLE_SILENT, /* did not start, or stopped answering */
	TABLE_APART,
	TABLE_DRIFTS,
	TABLE_SLOWEST, /* the caller says so */
	TABLE_REMARKS
};

/*
 * The cores that have a row of their own, in the report's order: all of them, or where rows are folded those with a
 * remark, of each remark the first TABLE_REMARKED_MAX.
 */
#define TABLE_REMARKED_MAX 8

struct table_rows {
	const struct report *report;
	bool folded;
	bool started_only; /* cores that did not start have none */
	size_t next;
	size_t slowest[TABLE_CLOCKS_ABREAST], slowest_count; /* core numbers */
	size_t counts[TABLE_REMARKS]; /* so far */
};

struct table_rows table_rows(const struct report *report, bool started_only);
const struct report_core *table_next_row(struct table_rows *rows); /* NULL: there is none left */

/* A line on the remarkable cores that have no row, where there are any; after the last row. */
void table_rows_left(struct text *out, const struct table_rows *rows);

/* Proven: its interval excludes 0. */
bool table_drifts(const struct report *report, const struct report_core *core);
size_t table_drifting(const struct report *report); /* how many cores do */

/* The APIC id and a mark behind it, in TABLE_CORE_COLUMNS + 1. */
void table_core_label(struct text *out, const struct report_core *core, const char *mark);

/*
 * "LOW .. HIGH", each in WIDTH columns: in ns, or with units where that is longer than 8; in ppm, at most 7.
 */
void table_offset(struct text *out, const struct scale *scale, struct offset offset, int width);
void table_drift(struct text *out, struct drift drift, int width);

/* A line of the heading: LABEL, then a sentence. */
void table_line(struct text *out, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

void table_begun(struct text *out, const struct report *report);      /* what ran, when, how long */
void table_cpu(struct text *out, const struct report *report);
void table_machine(struct text *out, const struct report *report);    /* the rest of it, four lines */
void table_verdict(struct text *out, const struct report *report);
/* Of the clock of that id; NULL: all. Where there are none a sentence says so. DETAILED: with cause and advice. */
void table_findings(struct text *out, const struct report *report, const char *clock, bool detailed);
void table_notes(struct text *out, const struct report *report); /* and what there is to say of present clocks */
void table_clocks(struct text *out, const struct report *report);     /* a row each */
void table_histogram(struct text *out, const struct report *report);  /* side by side */
void table_histogram_main(struct text *out, const struct report *report); /* of main clocks only */
void table_histogram_of(struct text *out, const struct report *report, size_t clock); /* of one, without a title */
void table_durations(struct text *out, const struct report *report);  /* each by itself, as pg_test_timing */
void table_durations_of(struct text *out, const struct report *report, const struct report_clock *entry);
void table_interference(struct text *out, const struct report *report); /* gaps, and reads without them */
void table_behaviours(struct text *out, const struct report *report); /* a row for each promise */
/* Of the clock of that id; NULL: all. */
void table_behaviours_of(struct text *out, const struct report *report, const char *clock);
void table_advice(struct text *out, const struct report *report);     /* the clocks in order */
void table_cores(struct text *out, const struct report *report);      /* read latency from each of them */
void table_skew(struct text *out, const struct report *report);       /* their TSCs against one another */
void table_synchrony(struct text *out, const struct report *report);  /* the sentences of that */
void table_skew_checks(struct text *out, const struct report *report); /* in a sentence each */
void table_skew_rows(struct text *out, const struct report *report);  /* a row each */
void table_map(struct text *out, const struct report *report);        /* pair by pair */
size_t table_map_columns(const struct report *report); /* that show every pair; with fewer there are the worst only */
void table_skew_in_short(struct text *out, const struct report *report); /* in less than a line */
void table_database(struct text *out, const struct report *report);   /* what it costs one */

#endif
