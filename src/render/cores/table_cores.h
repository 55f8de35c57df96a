/* What the cores are in tables: a row each, or a package; and pair by pair. */
#ifndef BARETICK_TABLE_CORES_H
#define BARETICK_TABLE_CORES_H

#include "base/scale.h"
#include "render/layout/layout.h"

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

/* Why a core has a row of its own; the first that holds. */
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

/* The APIC id and a mark behind it, in TABLE_CORE_COLUMNS + 1. */
void table_core_label(struct text *out, const struct report_core *core, const char *mark);

/*
 * "LOW .. HIGH", each in WIDTH columns: in ns, or with units where that is longer than 8; in ppm, at most 7.
 */
void table_offset(struct text *out, const struct scale *scale, struct offset offset, int width);
void table_drift(struct text *out, struct offset drift, int width);

void table_cores(struct text *out, const struct report *report);      /* read latency from each of them */
void table_skew(struct text *out, const struct report *report);       /* their TSCs against one another */
void table_synchrony(struct text *out, const struct report *report);  /* the sentences of that */
void table_skew_checks(struct text *out, const struct report *report); /* in a sentence each */
void table_skew_rows(struct text *out, const struct report *report);  /* a row each */
/* "in the last tournament, at 9.1 s" between the two, where the last one is shown; else nothing. */
void table_last_shown(struct text *out, const struct report *report, const char *before, const char *behind);
void table_map(struct text *out, const struct report *report);        /* pair by pair */
size_t table_map_columns(const struct report *report); /* that show every pair; with fewer there are the worst only */
void table_skew_in_short(struct text *out, const struct report *report); /* in less than a line */

#endif
