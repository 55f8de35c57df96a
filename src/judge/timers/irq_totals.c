/* Totals of all tests of one source of interrupts, and the cores on which its rules are broken. See irq_totals.h. */
#include "judge/timers/irq_totals.h"

#include "base/offset.h"
#include "base/text.h"
#include "rules/rules.h"

#define UNEVEN_SHARE 8u /* if ticks are late by more than 1/8 period, a tick may be matched to the wrong period */

/* Adds the early one-shots of the test ROW. ALWAYS is true if one-shots of every length came early on ROW's core. */
static void
add_early_one_shots(struct irq_totals *totals, const struct report_interval *row, bool always)
{
	if (always && !totals->shots.early_always) {
		totals->shots.early = 0;
		totals->shots.earliest.known = false;
		totals->shots.early_always = true;
	}
	if (totals->shots.early_always && !always)
		return;
	totals->shots.early += row->early;
	if (row->lateness.earliest.known &&
	    (!totals->shots.earliest.known || row->lateness.earliest.low > totals->shots.earliest.low))
		totals->shots.earliest = row->lateness.earliest;
}

static void
add_one_shots(struct irq_totals *totals, const struct report_interval *row)
{
	totals->shots.count += row->expected;
	totals->shots.excused += row->excused;
	totals->shots.empty += row->empty;
	if (row->expected > row->delivered + row->empty)
		totals->shots.unknown += row->expected - row->delivered - row->empty;
	totals->shots.missing += row->expired;
	if (row->asked_ns == IRQ_LATE_SHOT_NS && row->lateness.count >= IRQ_LATE_SHOTS_MIN &&
	    (!totals->late || row->lateness.p50_ns > totals->late->lateness.p50_ns))
		totals->late = row;
}

static void
add_periods_of_row(struct irq_totals *totals, const struct report_interval *row)
{
	totals->periods.count += row->expected;
	totals->periods.excused += row->excused;
	totals->periods.lost += row->empty;
	totals->periods.losses += row->empty ? row->losses : 0;
	totals->periods.doubled += row->doubled;
	totals->periods.uneven |= row->lateness.count && row->lateness.p99_ns + (int64_t)row->lateness.error_ns >
						(int64_t)(row->asked_ns / UNEVEN_SHARE);
	totals->periods.scattered |= row->scattered;
	if (row->rate.known &&
	    (!totals->rate.known || rate_min_abs(&row->rate) > rate_min_abs(&totals->rate)))
		totals->rate = row->rate;
}

bool
irq_is_source_polled(const struct irq_totals *totals)
{
	return text_equal(totals->kind, "status");
}

/*
 * Returns true if SOURCE's one-shots of every length came early on CORE. If only one length was tested, more than half
 * of the one-shots must be early. A timer that rounds deadlines or counts a wrong clock is early in every length.
 */
static bool
is_source_early_on_core(const struct report *report, const char *source, uint32_t core)
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

struct irq_totals
irq_sum_up_source(const struct report *report, const char *source)
{
	struct irq_totals totals = { .source = source };

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (!text_equal(row->source, source))
			continue;
		totals.kind = row->route_kind;
		totals.pin = row->pin;
		totals.came |= row->delivered != 0;
		totals.doubled += row->doubled;
		totals.over += row->over;
		totals.stale += row->stale;
		totals.storms |= row->state == CLOCK_BROKEN && !irq_is_source_polled(&totals);
		totals.came |= totals.storms;
		if (row->periodic) {
			add_periods_of_row(&totals, row);
			continue;
		}
		add_one_shots(&totals, row);
		add_early_one_shots(&totals, row, is_source_early_on_core(report, source, row->core));
	}
	return totals;
}

struct behaviour *
irq_add_behaviour_row(struct report *report, const char *rule, const struct irq_totals *totals)
{
	struct behaviour *row = behaviour_add_row(&report->behaviours, rule, totals->source);

	if (row)
		row->checked = true;
	return row;
}

static uint64_t
zero_unless_above(uint64_t figure, uint64_t limit)
{
	return figure > limit ? figure : 0;
}

static uint64_t
proven_lateness_ns(const struct report_interval *row)
{
	int64_t least = row->lateness.p50_ns - (int64_t)row->lateness.error_ns;

	return row->asked_ns == IRQ_LATE_SHOT_NS && least > 0 ? (uint64_t)least : 0;
}

static uint64_t
proven_earliness_ns(const struct report_interval *row)
{
	const struct interval_ns *by = &row->lateness.earliest;

	return by->known && by->low > 0 ? (uint64_t)by->low : 0;
}

/*
 * Returns how badly the test ROW breaks RULE: a number of deadlines, or a figure that is above the limit. Returns 0 if
 * it does not break RULE.
 */
static uint64_t
size_of_rule_breach(const struct report *report, const char *rule, const struct report_interval *row)
{
	uint64_t limit = rules_get_limit_by_id(report, rule);

	if (text_equal(rule, "irq-doubled"))
		return row->doubled;
	if (text_equal(rule, "irq-lost"))
		return row->periodic ? row->empty : 0;
	if (text_equal(rule, "irq-rate"))
		return row->periodic ? zero_unless_above(rate_min_abs(&row->rate), limit * PPB_PER_PPM) : 0;
	if (row->periodic)
		return 0;
	if (text_equal(rule, "irq-missing"))
		return row->expired;
	if (text_equal(rule, "irq-early"))
		return is_source_early_on_core(report, row->source, row->core) ?
		       zero_unless_above(proven_earliness_ns(row), limit) : 0;
	return text_equal(rule, "irq-late") ? zero_unless_above(proven_lateness_ns(row), limit) : 0;
}

/*
 * Sets BREACHES to the sum of size_of_rule_breach() over all tests of BEHAVIOUR's source on the core of row I. Returns
 * false unless row I is the first of these tests, so that each core counts once.
 */
static bool
sum_breaches_if_first_row_of_core(const struct report *report, const struct behaviour *behaviour, size_t i,
				  uint64_t *breaches)
{
	const struct report_interval *rows = report->intervals;

	*breaches = 0;
	for (size_t other = 0; other < report->interval_count; other++) {
		if (!text_equal(rows[other].source, behaviour->clock) || rows[other].core != rows[i].core)
			continue;
		if (other < i)
			return false;
		*breaches += size_of_rule_breach(report, behaviour->rule, &rows[other]);
	}
	return text_equal(rows[i].source, behaviour->clock);
}

void
irq_count_cores_that_breach_rules(struct report *report)
{
	for (size_t n = 0; n < report->behaviours.count; n++) {
		struct behaviour *row = &report->behaviours.rows[n];
		uint64_t most = 0, breaches;

		if (!text_begins_with(row->rule, "irq-"))
			continue;
		for (size_t i = 0; i < report->interval_count; i++) {
			if (!sum_breaches_if_first_row_of_core(report, row, i, &breaches))
				continue;
			row->cores_asked++;
			row->cores += breaches != 0;
			if (breaches > most)
				row->core = report->intervals[i].core;
			most = breaches > most ? breaches : most;
		}
	}
}
