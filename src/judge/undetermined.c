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

/*
 * Adds to the text of ROW how to get a result: by a longer run, or on an idle machine. The firmware's services are
 * called as often in each run, so that a longer run does not help.
 */
static void
explain_too_wide_interval(const struct report *report, struct behaviour *row)
{
	const struct rule *rule = rules_find(row->rule);
	uint64_t limit = rules_get_limit(rule, &report->facts.options);
	struct behaviour as_checked = *row;
	struct phrase run = phrase("on an idle machine");

	if (text_equal(rule->unit, "ppm") && !text_begins_with(rule->id, "efi-"))
		run = phrase("%lu times as long", judge_interval_shrink_factor(row->low, row->high, limit));
	behaviour_set_text(row, "%s The limit is %lu %s; a run %s can decide this check.", as_checked.text, limit, rule->unit,
			   run.bytes);
}

/*
 * Adds an undetermined row if ENTRY's clock jumped against the TSC, but no other clock shows which of the two jumped
 * or stopped.
 */
static void
add_unexplained_jumps(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry)
{
	const char *clock = entry->clock.main;
	struct behaviour *row;

	if (!entry->unexplained_leaps || judge_count_jumps_of_clock(report, clock) ||
	    judge_has_tsc_stepped_or_jumped(report) ||
	    !(row = behaviour_add_row(&outcomes->behaviours, "clock-jumped", clock)))
		return;
	row->checked = row->open = true;
	behaviour_set_text(row, "%s and the TSC diverged %lu time%s in %lu reads, and no other clock shows which of the "
		"two jumped or stopped.",
			   entry->clock.id, entry->unexplained_leaps, entry->unexplained_leaps == 1 ? "" : "s",
			   entry->monotonic.reads);
}

/* Returns true if ROW is not determined because its interval overlaps the limit. */
static bool
is_interval_too_wide(const struct report *report, struct behaviour row)
{
	row.open = false;
	return rules_get_outcome(&row, &report->facts.options) == OUTCOME_NOT_DETERMINED;
}

/* Counts the undetermined rows for each clock: those on the clock itself, and those on the counter that it reads. */
static void
count_undetermined_rules(const struct report *report, struct outcomes *outcomes, const struct behaviour *row)
{
	const struct rule *rule = rules_find(row->rule);

	for (size_t i = 0; i < report->facts.clock_count; i++)
		outcomes->clocks[i].open += rules_does_finding_apply_to_clock(report, &report->facts.clocks[i], row->clock,
									      rule && rule->one_way);
}

/*
 * Kinds of rows without a result, in addition to the kinds of unchecked rows. UNCHECKED_OTHER is also the kind of rows
 * that are not determined for another reason than a wide interval. Their text has the reason.
 */
enum { TOO_COARSE = UNCHECKED_TIME + 1, UNJUDGED };

/*
 * Appends to TEXT how many rows have no RESULT, and in brackets how many for each reason. COUNTS has the number of rows
 * of each kind. If all have other reasons, refers to the rows.
 */
static void
put_unjudged_rows(struct text *text, const char *result, const size_t counts[UNJUDGED])
{
	static const char *const reasons[UNJUDGED][2] = { /* for one row, for several */
		[UNCHECKED_OTHER] = { "other", "others" },
		[UNCHECKED_GUEST] = { "needs bare metal", "need bare metal" },
		[UNCHECKED_NO_REFERENCE] = { "has no reference", "have no reference" },
		[UNCHECKED_TIME] = { "for lack of time", "for lack of time" },
		[TOO_COARSE] = { "too coarse", "too coarse" },
	};
	size_t all = 0;
	const char *separator = " (";

	for (size_t i = 0; i < UNJUDGED; i++)
		all += counts[i];
	if (!all)
		return;
	text_printf(text, "%s%zu %s", text->length ? ", " : "", all, result);
	if (counts[UNCHECKED_OTHER] == all) {
		text_put(text, " (see their rows)");
		return;
	}
	for (size_t next = 1; next <= UNJUDGED; next++) {
		size_t i = next % UNJUDGED; /* UNCHECKED_OTHER, which is 0, is the last */

		if (!counts[i])
			continue;
		text_printf(text, "%s%zu %s", separator, counts[i], reasons[i][counts[i] != 1]);
		separator = ", ";
	}
	text_put_char(text, ')');
}

/* Counts the rows that were not determined or not checked, and writes a summary. It is printed next to the verdict. */
static void
summarize_unjudged_rows(const struct report *report, struct outcomes *outcomes)
{
	size_t open[UNJUDGED] = { 0 }, unchecked[UNJUDGED] = { 0 };

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];
		enum outcome outcome = rules_get_outcome(row, &report->facts.options);

		if (outcome == OUTCOME_NOT_CHECKED)
			unchecked[row->unchecked]++;
		if (outcome != OUTCOME_NOT_DETERMINED)
			continue;
		open[is_interval_too_wide(report, *row) ? TOO_COARSE : UNCHECKED_OTHER]++;
		count_undetermined_rules(report, outcomes, row);
	}
	struct text text = text_start(outcomes->unjudged, sizeof(outcomes->unjudged));
	put_unjudged_rows(&text, "not determined", open);
	put_unjudged_rows(&text, "not checked", unchecked);
}

void
judge_complete_behaviour_rows(const struct report *report, struct outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->behaviours.count; i++) {
		struct behaviour *row = &outcomes->behaviours.rows[i];

		if (!row->open && rules_get_outcome(row, &report->facts.options) == OUTCOME_NOT_DETERMINED) {
			explain_too_wide_interval(report, row);
			row->open = true;
		}
	}
	judge_add_rate_rows(report, outcomes);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		add_unexplained_jumps(report, outcomes, &report->facts.clocks[i]);
	summarize_unjudged_rows(report, outcomes);
}
