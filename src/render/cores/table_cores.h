/* Tables of the cores: a row for each core or package, and a map with a character for each pair of cores. */
#ifndef BARETICK_TABLE_CORES_H
#define BARETICK_TABLE_CORES_H

#include "render/layout/layout.h"

/*
 * Groups of cores. With more than TABLE_ROWS_MAX cores each group has one row. Each package is a group if every core
 * reports its package and there are at most TABLE_GROUPS_MAX packages. Otherwise all cores are one group. Cores that
 * did not start are in no group.
 */
struct table_groups {
	size_t count;
	bool are_packages;
	uint32_t packages[TABLE_GROUPS_MAX];
	size_t cores[TABLE_GROUPS_MAX]; /* number of cores in each group */
};

struct table_groups table_group_cores(const struct report *report);

/* Returns the index of CORE's group, or groups->count if CORE is in no group. */
size_t table_find_group_of_core(const struct table_groups *groups, const struct report_core *core);

/* Writes "package 0 (64)" or "all cores (64)", with the number of cores. */
void table_put_group_label(struct text *out, const struct table_groups *groups, size_t group);

/* The reason why a core has its own row in addition to its group's row. If several apply, the first is used. */
enum table_remark {
	TABLE_PLAIN,   /* no reason */
	TABLE_BOOT,    /* it is the boot core */
	TABLE_SILENT,  /* it did not start, or stopped answering */
	TABLE_OFF_MAJORITY,   /* its TSC differs from the TSCs of most cores */
	TABLE_DRIFTS,  /* its TSC drifts */
	TABLE_SLOWEST, /* it has the slowest reads of a clock: its index is in table_rows.slowest */
	TABLE_REMARKS
};

/*
 * Iterates over the cores that have their own row, in the report's order. If the cores of a group share a row,
 * only cores with a remark have their own row: the first TABLE_REMARKED_MAX cores with each remark, and all cores with
 * TABLE_SLOWEST. Otherwise every core has its own row.
 */
#define TABLE_REMARKED_MAX 8

struct table_rows {
	const struct report *report;
	/* true: the cores of a group share a row, because there are more than TABLE_ROWS_MAX cores */
	bool rows_shared;
	bool started_only; /* true: cores that did not start are skipped */
	size_t next;       /* index of the core that table_get_next_core_with_row() checks next */
	/* indices of the cores with the slowest reads, at most one core for each clock; the caller fills both fields */
	size_t slowest[TABLE_CLOCKS_PER_ROW], slowest_count;
	size_t counts[TABLE_REMARKS]; /* number of cores with each remark among the cores before NEXT */
};

struct table_rows table_begin_rows(const struct report *report, bool started_only);
const struct report_core *table_get_next_core_with_row(struct table_rows *rows); /* returns NULL after the last row */

/* Writes the number of cores with a remark but without their own row. Writes nothing if there are no such cores. */
void table_put_cores_without_row(struct text *out, const struct table_rows *rows);

/* Writes the core's APIC id and MARK, padded to TABLE_CORE_COLUMNS + 1 columns. */
void table_put_core_label(struct text *out, const struct report_core *core, const char *mark);

/*
 * Write an interval as "LOW .. HIGH", each end in WIDTH columns. Offsets are in ns without a unit, or have a unit if an
 * end would need more than 8 columns. Drifts are in ppm and have at most 7 columns.
 */
void table_put_offset(struct text *out, const struct report *report, struct offset offset, int width);
void table_put_drift(struct text *out, struct offset drift, int width);

/* Writes the read latency on each core. */
void table_put_cores(struct text *out, const struct report *report);
/* Writes the whole section on the cores' TSCs. */
void table_put_skew_section(struct text *out, const struct report *report);
/* Writes the section's sentences, without its tables. */
void table_put_synchrony(struct text *out, const struct report *report);
/* Writes sentences on drift, TSC_ADJUST and warps. */
void table_put_skew_checks(struct text *out, const struct report *report);
/* Writes a row for each core's offset and drift. */
void table_put_skew_rows(struct text *out, const struct report *report);
/* If the report shows the last pass instead of the first, writes BEFORE, "in the last pass, at 9.1 s" and AFTER. */
void table_put_time_of_last_pass(struct text *out, const struct report *report, const char *before, const char *after);
/* Writes the map of pairs of cores or, if the map is wider than a line, the worst pairs. */
void table_put_pair_map(struct text *out, const struct report *report);
/* Returns the width that a map of all pairs needs. On narrower lines table_put_pair_map() writes the worst pairs. */
size_t table_count_pair_map_columns(const struct report *report);
/* Writes one sentence on the synchronisation. */
void table_put_skew_in_short(struct text *out, const struct report *report);

/* Writes a row for each sleeping core and state, or nothing if no sleep state was tested. */
void table_put_sleeps(struct text *out, const struct report *report);

#endif
