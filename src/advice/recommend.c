/* Recommends clocks. See recommend.h. */
#include "advice/recommend.h"

#include "base/number.h"
#include "base/text.h"
#include "advice/systems.h"
#include "rules/rules.h"

/*
 * Width of Linux's classes of ratings: from 0 unfit, from 100 usable, from 200 good, from 300 desired, from 400 perfect
 * (clocksource.h).
 */
#define RATING_CLASS 100u

const char *
recommend_find_first_rule_against(const struct report *report, const char *clock, enum verdict severity)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (finding->severity == severity && finding->clock && text_equal(finding->clock, clock))
			return finding->rule;
	}
	return NULL;
}

/*
 * Returns true if Linux switches the clock off although it has not failed: if its rate changed, or if the sleep state
 * PC10 stops it.
 */
static bool
does_linux_switch_clock_off(const struct report *report, const struct report_clock *entry)
{
	return rules_find_finding(report, "rate-changed", entry->clock.id) ||
	       rules_find_finding(report, "hpet-pc10", entry->clock.id);
}

/*
 * The groups of clocks, in the order in which they are recommended. Clocks of the last group get no row. A clock that
 * diverged alone from all others may be right, but its time is doubtful.
 */
enum group { HEALTHY, SWITCHED_OFF_BY_LINUX, DIVERGED, FAILED, WITHOUT_ADVICE };

static enum group
find_group_of_clock(const struct report *report, const struct report_clock *entry)
{
	if (!entry->clock.rating)
		return WITHOUT_ADVICE;
	if (report_get_clock_outcome(report, entry)->verdict == VERDICT_FAIL)
		return recommend_find_first_rule_against(report, entry->clock.id, VERDICT_FAIL) ? FAILED : WITHOUT_ADVICE;
	if (entry->clock.state != CLOCK_PRESENT || !entry->latency || !entry->latency->count)
		return WITHOUT_ADVICE;
	if (rules_find_finding(report, "clocks-parted", entry->clock.id))
		return DIVERGED;
	return does_linux_switch_clock_off(report, entry) ? SWITCHED_OFF_BY_LINUX : HEALTHY;
}

/* Clocks are in the order of their groups, within a group of their classes, and within a class of their cost. */
static bool
does_clock_rank_before(const struct report *report, const struct report_clock *a, const struct report_clock *b)
{
	enum group group_a = find_group_of_clock(report, a), group_b = find_group_of_clock(report, b);
	unsigned class_a = a->clock.rating / RATING_CLASS, class_b = b->clock.rating / RATING_CLASS;
	struct interval_ns cost_a = recommend_get_read_cost_ps(report, recommend_get_kernel_read_row(report, a->clock.id));
	struct interval_ns cost_b = recommend_get_read_cost_ps(report, recommend_get_kernel_read_row(report, b->clock.id));

	if (group_a != group_b)
		return group_a < group_b;
	if (class_a != class_b)
		return class_a > class_b;
	if (cost_a.value && cost_b.value)
		return cost_a.value < cost_b.value;
	return a->clock.rating > b->clock.rating;
}

static void
rank_clocks(const struct report *report, const struct report_clock *ranking[REPORT_CLOCKS_MAX])
{
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];
		size_t at = i;

		for (; at && does_clock_rank_before(report, entry, ranking[at - 1]); at--)
			ranking[at] = ranking[at - 1];
		ranking[at] = entry;
	}
}

/* Adds a row for CLOCK, which has no row yet. Returns an empty text, into which the caller writes the reason. */
static struct text
add_advice_row(struct report_ranking *ranking, const char *clock, bool avoid)
{
	ranking->rows[ranking->count].clock = clock;
	ranking->rows[ranking->count].avoid = avoid;
	struct text reason = text_start(ranking->rows[ranking->count++].reason, REPORT_SENTENCE);
	return reason;
}

static void
put_tsc_properties(const struct report *report, struct text *reason)
{
	const struct report_skew *skew = &report->figures.skew;

	if (report->facts.machine.cores_started > 1 && report->outcomes.sync.synchronised) {
		text_printf(reason, ", synchronised on %zu cores within %s %s", skew->passes[0].offsets.cores,
			    phrase_bound_ns(report->outcomes.sync.within_ns).bytes, phrase_pass_times(report).bytes);
	} else if (report->facts.machine.cores_started > 1 && report->outcomes.sync.one_is_exact) {
		text_printf(reason, ", synchronised on %zu cores at %s, but one of the two passes was too inexact to confirm it",
			    skew->passes[0].offsets.cores,
			    phrase_tsc_time(report, skew->passes[report->outcomes.sync.exact].offsets.end_tsc).bytes);
	} else if (report->facts.machine.cores_started > 1) {
		text_put(reason, ", not proven synchronised on all cores");
	}
	text_put(reason, report->facts.machine.tsc_is_invariant ? ", invariant" : ", not reported as invariant");
}

struct interval_ns
recommend_get_read_cost_ps(const struct report *report, const char *id)
{
	const struct report_clock *entry = report_find_clock(report, id);

	return entry ? report_get_figures(report, entry)->cost.read_ps : (struct interval_ns){ .known = false };
}

const char *
recommend_get_kernel_read_row(const struct report *report, const char *id)
{
	return text_equal(id, "hpet") ? systems_get_linux_read_row(report, id) : id;
}

static void
add_advice_for_healthy_clock(const struct report *report, struct advice *advice, const struct report_clock *entry)
{
	const char *row = recommend_get_kernel_read_row(report, entry->clock.id);
	struct interval_ns read_ps = recommend_get_read_cost_ps(report, row);
	uint64_t tsc_ps = (uint64_t)recommend_get_read_cost_ps(report, "tsc").value;
	uint64_t times = tsc_ps ? scale_mul_div_nearest((uint64_t)read_ps.value, 1, tsc_ps) : 0;
	const char *warning = recommend_find_first_rule_against(report, entry->clock.id, VERDICT_WARN);
	struct text reason = add_advice_row(&advice->ranking, entry->clock.id, false);

	if (read_ps.known)
		text_printf(&reason, "%s a read", phrase_read_cost(report, row).bytes);
	else
		text_put(&reason, "its cost is not known");
	if (text_equal(entry->clock.id, "tsc"))
		put_tsc_properties(report, &reason);
	else if (times > 1)
		text_printf(&reason, ", %lu times the TSC's", times);
	if (entry->clock.caveat)
		text_printf(&reason, "; %s", entry->clock.caveat);
	if (warning)
		text_printf(&reason, "; see the warning %s", warning);
	text_put_char(&reason, '.');
}

static void
add_advice_against_failed_clock(const struct report *report, struct advice *advice, const struct report_clock *entry)
{
	const char *rule = recommend_find_first_rule_against(report, entry->clock.id, VERDICT_FAIL);
	struct text reason = add_advice_row(&advice->ranking, entry->clock.id, true);
	size_t more = 0;

	text_printf(&reason, "%s: %s", rule, rules_find(rule)->sentence);
	if (text_equal(rule, "rate-wrong") && text_equal(entry->clock.id, "tsc"))
		text_put(&reason, " A kernel that measures the TSC's rate may still use the TSC.");
	for (const struct rule *other = rules; other->id; other++) {
		const struct finding *finding = rules_find_finding(report, other->id, entry->clock.id);

		if (finding && finding->severity == VERDICT_FAIL && !text_equal(other->id, rule))
			text_printf(&reason, "%s%s", more++ ? ", " : " Also ", other->id);
	}
	text_put(&reason, more ? "." : "");
}

void
recommend_clocks(const struct report *report, struct advice *advice)
{
	const struct report_clock *ranking[REPORT_CLOCKS_MAX];

	advice->ranking.count = 0;
	recommend_predict_clocksources(report, advice);
	recommend_describe_aftermath(report, advice);
	rank_clocks(report, ranking);
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		enum group group = find_group_of_clock(report, ranking[i]);

		if (group == FAILED)
			add_advice_against_failed_clock(report, advice, ranking[i]);
		else if (group != WITHOUT_ADVICE)
			add_advice_for_healthy_clock(report, advice, ranking[i]);
	}
	recommend_predict_tick_timer(report, advice);
	recommend_describe_calibrations(report, advice);
	recommend_write_answer(report, advice);
}
