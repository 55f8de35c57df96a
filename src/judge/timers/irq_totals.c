/* Finds the cores on which each core's own timer breaks a rule. See irq_totals.h. */
#include "judge/timers/irq_totals.h"

#include "base/offset.h"
#include "base/text.h"
#include "rules/rules.h"

static uint64_t
excess(uint64_t figure, uint64_t limit)
{
	return figure > limit ? figure : 0;
}

static uint64_t
late_ns(const struct report_interval *row)
{
	int64_t least = row->lateness.p50_ns - (int64_t)row->lateness.error_ns;

	return row->asked_ns == INTERVAL_LATE_SHOT_NS && least > 0 ? (uint64_t)least : 0;
}

static uint64_t
early_ns(const struct report_interval *row)
{
	const struct interval_ns *by = &row->lateness.earliest;

	return by->known && by->low > 0 ? (uint64_t)by->low : 0;
}

bool
irq_core_is_early(const struct report *report, const char *source, uint32_t core)
{
	uint64_t shots = 0, early_shots = 0;
	unsigned lengths = 0, early = 0;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (row->periodic || row->core != core || !text_equal(row->source, source))
			continue;
		lengths += row->lateness.count > 0;
		early += row->early > 0;
		shots += row->lateness.count;
		early_shots += row->early;
	}
	return early && early >= lengths && (lengths > 1 || 2 * early_shots > shots);
}

static uint64_t
off_ppb(const struct report_interval *row)
{
	return row->rate.known ? offset_min_size(rate_bounds(&row->rate)) : 0;
}

/* Returns by how much the test ROW breaks RULE, as a count or as the excess over the limit; 0 if it does not. */
static uint64_t
amount_over_limit(const struct report *report, const char *rule, const struct report_interval *row)
{
	uint64_t limit = rules_limit_of(report, rule);

	if (text_equal(rule, "irq-doubled"))
		return row->doubled;
	if (text_equal(rule, "irq-lost"))
		return row->periodic ? row->empty : 0;
	if (text_equal(rule, "irq-rate"))
		return row->periodic ? excess(off_ppb(row), limit * PPB_PER_PPM) : 0;
	if (row->periodic)
		return 0;
	if (text_equal(rule, "irq-missing"))
		return row->expired;
	if (text_equal(rule, "irq-early"))
		return irq_core_is_early(report, row->source, row->core) ? excess(early_ns(row), limit) : 0;
	return text_equal(rule, "irq-late") ? excess(late_ns(row), limit) : 0;
}

/*
 * Sets BREACHES to the sum of amount_over_limit() over all rows of BEHAVIOUR's source on the core of row I. Returns
 * false unless I is the first of these rows.
 */
static bool
is_first_of_core(const struct report *report, const struct behaviour *behaviour, size_t i, uint64_t *breaches)
{
	const struct report_interval *rows = report->intervals;

	*breaches = 0;
	for (size_t other = 0; other < report->interval_count; other++) {
		if (!text_equal(rows[other].source, behaviour->clock) || rows[other].core != rows[i].core)
			continue;
		if (other < i)
			return false;
		*breaches += amount_over_limit(report, behaviour->rule, &rows[other]);
	}
	return text_equal(rows[i].source, behaviour->clock);
}

void
irq_judge_cores(struct report *report)
{
	for (size_t n = 0; n < report->behaviours.count; n++) {
		struct behaviour *row = &report->behaviours.rows[n];
		uint64_t most = 0, breaches;

		if (!text_begins(row->rule, "irq-"))
			continue;
		for (size_t i = 0; i < report->interval_count; i++) {
			if (!is_first_of_core(report, row, i, &breaches))
				continue;
			row->cores_asked++;
			row->cores += breaches != 0;
			if (breaches > most)
				row->core = report->intervals[i].core;
			most = breaches > most ? breaches : most;
		}
	}
}
