/* Chooses which cores have their own row, and which share the row of their package. See table_cores.h. */
#include "render/cores/table_cores.h"

#define LABEL_SIZE 16

static bool
add_core_to_package_group(struct table_groups *groups, uint32_t package)
{
	size_t i = 0;

	while (i < groups->count && groups->packages[i] != package)
		i++;
	if (i == TABLE_GROUPS_MAX)
		return false;
	groups->packages[i] = package;
	groups->count += i == groups->count;
	groups->cores[i]++;
	return true;
}

struct table_groups
table_group_cores(const struct report *report)
{
	struct table_groups groups = { .are_packages = true };
	size_t started = 0;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct report_core *core = &report->facts.cores[i];

		if (!core->started)
			continue;
		started++;
		if (groups.are_packages)
			groups.are_packages = core->facts_known && core->facts.has_topology &&
					      add_core_to_package_group(&groups, core->facts.package);
	}
	if (groups.are_packages)
		return groups;
	return (struct table_groups){ .count = 1, .cores = { started } };
}

size_t
table_find_group_of_core(const struct table_groups *groups, const struct report_core *core)
{
	size_t i = 0;

	if (!core->started)
		return groups->count;
	while (groups->are_packages && i < groups->count && groups->packages[i] != core->facts.package)
		i++;
	return i;
}

void
table_put_group_label(struct text *out, const struct table_groups *groups, size_t group)
{
	if (groups->are_packages)
		text_printf(out, "package %u (%zu)", groups->packages[group], groups->cores[group]);
	else
		text_printf(out, "all cores (%zu)", groups->cores[group]);
}

static enum table_remark
find_remark_on_core(const struct table_rows *rows, size_t index)
{
	const struct report_core *core = &rows->report->facts.cores[index];
	const struct core_outcome *outcome = &rows->report->outcomes.sync.cores[index];

	if (core->boot)
		return TABLE_BOOT;
	if (!core->started || core->reason[0])
		return TABLE_SILENT;
	if (outcome->off_majority)
		return TABLE_OFF_MAJORITY;
	if (outcome->drifts)
		return TABLE_DRIFTS;
	for (size_t i = 0; i < rows->slowest_count; i++)
		if (rows->slowest[i] == index)
			return TABLE_SLOWEST;
	return TABLE_PLAIN;
}

struct table_rows
table_begin_rows(const struct report *report, bool started_only)
{
	return (struct table_rows){ .report = report, .rows_shared = report->facts.core_count > TABLE_ROWS_MAX,
				    .started_only = started_only };
}

static size_t
get_max_rows_with_remark(enum table_remark remark)
{
	if (remark == TABLE_PLAIN)
		return 0;
	/* There is at most one slowest core for each clock, so the number of slowest cores needs no limit. */
	return remark == TABLE_SLOWEST ? SIZE_MAX : TABLE_REMARKED_MAX;
}

const struct report_core *
table_get_next_core_with_row(struct table_rows *rows)
{
	while (rows->next < rows->report->facts.core_count) {
		size_t index = rows->next++;
		const struct report_core *core = &rows->report->facts.cores[index];
		enum table_remark remark = find_remark_on_core(rows, index);

		if (!core->started && rows->started_only)
			continue;
		if (rows->counts[remark]++ < get_max_rows_with_remark(remark) || !rows->rows_shared)
			return core;
	}
	return NULL;
}

void
table_put_cores_without_row(struct text *out, const struct table_rows *rows)
{
	static const struct {
		enum table_remark remark;
		const char *words;
	} kinds[] = {
		{ TABLE_SILENT, "more failed to start or stopped answering" },
		{ TABLE_OFF_MAJORITY, "more differ from the majority" },
		{ TABLE_DRIFTS, "more drift" },
	};
	size_t line_start = out->length, kinds_left = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && rows->rows_shared; i++) {
		size_t count = rows->counts[kinds[i].remark];

		if (count > TABLE_REMARKED_MAX)
			text_printf(out, "%s%zu %s", kinds_left++ ? ", " : "", count - TABLE_REMARKED_MAX,
				    kinds[i].words);
	}
	if (kinds_left)
		table_put_wrapped(out, line_start, 0, ": see report.json.");
}

void
table_put_core_label(struct text *out, const struct report_core *core, const char *mark)
{
	char label[LABEL_SIZE];

	text_format(label, sizeof(label), "%*u%s", TABLE_CORE_COLUMNS, core->apic_id, mark);
	table_put_label(out, label, TABLE_CORE_COLUMNS + 1);
}
