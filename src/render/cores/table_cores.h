/* Tables of the cores: a row for each core or package, and a map of pairs. */
#ifndef BARETICK_TABLE_CORES_H
#define BARETICK_TABLE_CORES_H

#include "base/scale.h"
#include "render/layout/layout.h"

/*
 * Groups that share a row if there are too many cores. Each package is a group if every core reports its
 * package and there are at most TABLE_GROUPS_MAX. Otherwise all cores are one group. Cores that did not start
 * are in no group.
 */
struct table_groups {
	size_t count;
	bool are_packages;
	uint32_t packages[TABLE_GROUPS_MAX];
	size_t cores[TABLE_GROUPS_MAX]; /* number of cores in each */
};

struct table_groups table_groups(const struct report *report);

/* The group of CORE; groups->count if it is in none. */
size_t table_group_of(const struct table_groups *groups, const struct report_core *core);

/* "package 0 (64)": with the number of its cores. */
void table_group_label(struct text *out, const struct table_groups *groups, size_t group);

/* Why a core has a row of its own; the first reason that applies. */
enum table_remark {
	TABLE_PLAIN,
	TABLE_BOOT,
	TABLE_SILENT, /* did not start, or stopped answering */
	TABLE_APART,
	TABLE_DRIFTS,
	TABLE_SLOWEST, /* set by the caller */
	TABLE_REMARKS
};

/*
 * The cores that have a row of their own, in the report's order. If rows are folded, these are the cores with a
 * remark: the first TABLE_REMARKED_MAX for each kind of remark. Otherwise these are all cores.
 */
#define TABLE_REMARKED_MAX 8

struct table_rows {
	const struct report *report;
	bool folded;
	bool started_only; /* without the cores that did not start */
	size_t next;
	size_t slowest[TABLE_CLOCKS_ABREAST], slowest_count; /* core numbers */
	size_t counts[TABLE_REMARKS]; /* rows so far */
};

struct table_rows table_rows(const struct report *report, bool started_only);
const struct report_core *table_next_row(struct table_rows *rows); /* NULL if there is none left */

/* After the last row: a line on remarkable cores without a row, if there are any. */
void table_rows_left(struct text *out, const struct table_rows *rows);

/* The APIC id followed by a mark, in TABLE_CORE_COLUMNS + 1. */
void table_core_label(struct text *out, const struct report_core *core, const char *mark);

/*
 * "LOW .. HIGH", each in WIDTH columns. Offsets are in ns, or with a unit if that is longer than 8 columns.
 * Drifts are in ppm, at most 7 columns.
 */
void table_offset(struct text *out, const struct scale *scale, struct offset offset, int width);
void table_drift(struct text *out, struct offset drift, int width);

void table_cores(struct text *out, const struct report *report);      /* read latency on each core */
void table_skew(struct text *out, const struct report *report);       /* their TSCs against one another */
void table_synchrony(struct text *out, const struct report *report);  /* the sentences on synchronisation */
void table_skew_checks(struct text *out, const struct report *report); /* a sentence for each check */
void table_skew_rows(struct text *out, const struct report *report);  /* a row for each core */
/* "in the last tournament, at 9.1 s" between BEFORE and BEHIND if the last pass is shown; otherwise nothing. */
void table_last_shown(struct text *out, const struct report *report, const char *before, const char *behind);
void table_map(struct text *out, const struct report *report);        /* pair by pair */
/* Needed to show every pair; with fewer only the worst are shown. */
size_t table_map_columns(const struct report *report);
void table_skew_in_short(struct text *out, const struct report *report); /* less than a line */

#endif
