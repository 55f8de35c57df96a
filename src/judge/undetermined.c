/*
 * Explains and counts the rows that are not determined or not checked. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/offset.h"
#include "base/text.h"
#include "report/phrase.h"

uint64_t
judge_interval_shrink_factor(int64_t low, int64_t high, uint64_t limit)
{
	uint64_t width = (uint64_t)high - (uint64_t)low, distance = limit;

	if (offset_excludes_zero((struct offset){ low, high })) {
		uint64_t middle = offset_min_abs((struct offset){ low, high }) + width / 2;

		distance = middle > limit ? middle - limit : limit - middle;
	}
	return distance ? width / distance + 1 : width + 1;
}

/* Adds to the text of ROW how to get a result: by a longer run, or on an idle machine. */
static void
explain_too_wide_interval(const struct report *report, struct behaviour *row)
{
	const struct rule *rule = rules_find(row->rule);
	uint64_t limit = rules_get_limit(rule, &report->options);
	struct behaviour as_checked = *row;

	if (text_equal(rule->unit, "ppm"))
		behaviour_set_text(row, "%s The limit is %lu; a run %lu times as long can decide this check.",
				   as_checked.text, limit,
				   judge_interval_shrink_factor(row->low, row->high, limit));
	else
		behaviour_set_text(row, "%s The limit is %lu; a run on an idle machine can decide this check.",
				   as_checked.text, limit);
}

/*
 * Adds an undetermined row if ENTRY's clock jumped against the TSC, but no other clock shows which of the two jumped
 * or stopped.
 */
static void
add_unexplained_jumps(struct report *report, const struct report_clock *entry)
{
	const char *clock = entry->clock.main;
	struct behaviour *row;

	if (!entry->unexplained_leaps || judge_count_jumps_of_clock(report, clock) ||
	    judge_has_tsc_stepped_or_jumped(report) ||
	    !(row = behaviour_add_row(&report->behaviours, "clock-jumped", clock)))
		return;
	row->checked = row->open = true;
	behaviour_set_text(row, "%s and the TSC diverged %lu time%s in %lu reads, and no other clock shows which of the "
		"two jumped or stopped.",
			   entry->clock.id, entry->unexplained_leaps, entry->unexplained_leaps == 1 ? "" : "s",
			   entry->monotonic.reads);
}

/* Returns the number of undetermined rows that are about ENTRY's clock, or about the counter that it reads. */
static size_t
count_undetermined_rules(const struct report *report, const struct report_clock *entry)
{
	size_t count = 0;

	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];
		const struct rule *rule = rules_find(row->rule);

		count += rules_get_outcome(row, &report->options) == OUTCOME_NOT_DETERMINED &&
			 rules_does_finding_apply_to_clock(report, entry, row->clock, rule && rule->one_way);
	}
	return count;
}

static size_t
count_unchecked_rows_of_kind(const struct report *report, enum unchecked kind)
{
	size_t count = 0;

	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];

		count += rules_get_outcome(row, &report->options) == OUTCOME_NOT_CHECKED && row->unchecked == kind;
	}
	return count;
}

/* Returns the number of rows that are not determined because their interval overlaps the limit. */
static size_t
count_too_wide_intervals(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->behaviours.count; i++) {
		struct behaviour row = report->behaviours.rows[i];

		if (rules_get_outcome(&row, &report->options) != OUTCOME_NOT_DETERMINED)
			continue;
		row.open = false;
		count += rules_get_outcome(&row, &report->options) == OUTCOME_NOT_DETERMINED;
	}
	return count;
}

/*
 * Appends an item to REASONS, a list in brackets: COUNT and the reason OF_ONE or OF_SEVERAL. Appends nothing if COUNT
 * is 0.
 */
static void
add_reason_for_unjudged_rows(struct phrase *reasons, size_t count, const char *of_one, const char *of_several)
{
	if (count)
		phrase_add(reasons, "%s%zu %s", reasons->bytes[0] ? ", " : " (", count, count == 1 ? of_one : of_several);
}

/* Appends to REASONS that COUNT rows have other reasons. Appends nothing if the list is empty. */
static void
add_other_reasons_for_unjudged_rows(struct phrase *reasons, size_t count)
{
	if (reasons->bytes[0])
		add_reason_for_unjudged_rows(reasons, count, "other", "others");
}

/*
 * Returns the end of the list REASONS: a closing bracket. For an empty list, returns a reference to the rows, whose
 * texts contain the reasons.
 */
static const char *
get_end_of_reasons_list(const struct phrase *reasons)
{
	return reasons->bytes[0] ? ")" : " (see their rows)";
}

/* Writes how many rows were not determined or not checked, and why. Reports print this next to the verdict. */
static void
write_summary_of_unjudged_rows(struct report *report)
{
	size_t open = rules_count_outcomes(report, NULL, OUTCOME_NOT_DETERMINED);
	size_t unchecked = rules_count_outcomes(report, NULL, OUTCOME_NOT_CHECKED);
	size_t coarse = count_too_wide_intervals(report), guest = count_unchecked_rows_of_kind(report, UNCHECKED_GUEST);
	size_t alone = count_unchecked_rows_of_kind(report, UNCHECKED_NO_REFERENCE);
	size_t late = count_unchecked_rows_of_kind(report, UNCHECKED_TIME);
	struct phrase wide = { "" }, reasons = { "" };
	struct text text;

	text_init(&text, report->unjudged, sizeof(report->unjudged));
	add_reason_for_unjudged_rows(&wide, coarse, "too coarse", "too coarse");
	add_other_reasons_for_unjudged_rows(&wide, open - coarse);
	if (open)
		text_printf(&text, "%zu not determined%s%s", open, wide.bytes, get_end_of_reasons_list(&wide));
	add_reason_for_unjudged_rows(&reasons, guest, "needs bare metal", "need bare metal");
	add_reason_for_unjudged_rows(&reasons, alone, "has no reference", "have no reference");
	add_reason_for_unjudged_rows(&reasons, late, "for lack of time", "for lack of time");
	add_other_reasons_for_unjudged_rows(&reasons, unchecked - guest - alone - late);
	if (unchecked)
		text_printf(&text, "%s%zu not checked%s%s", open ? ", " : "", unchecked, reasons.bytes,
			    get_end_of_reasons_list(&reasons));
}

void
judge_complete_behaviour_rows(struct report *report)
{
	for (size_t i = 0; i < report->behaviours.count; i++) {
		struct behaviour *row = &report->behaviours.rows[i];

		if (!row->open && rules_get_outcome(row, &report->options) == OUTCOME_NOT_DETERMINED) {
			explain_too_wide_interval(report, row);
			row->open = true;
		}
	}
	judge_add_rate_rows(report);
	for (size_t i = 0; i < report->clock_count; i++)
		add_unexplained_jumps(report, &report->clocks[i]);
	for (size_t i = 0; i < report->clock_count; i++)
		report->clocks[i].open = count_undetermined_rules(report, &report->clocks[i]);
	write_summary_of_unjudged_rows(report);
}
