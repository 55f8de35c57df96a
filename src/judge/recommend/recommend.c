/* Recommends clocks. See recommend.h. */
#include "judge/recommend/recommend.h"

#include "base/number.h"
#include "base/text.h"
#include "rules/rules.h"

/*
 * Width of Linux's classes of ratings: from 0 unfit, from 100 usable, from 200 good, from 300 desired, from 400 perfect
 * (clocksource.h).
 */
#define RATING_CLASS 100u

/* The clocks that a kernel could use, sorted by class from the highest, and within a class by cost. */
struct ranking {
	size_t count;
	const struct report_clock *clocks[REPORT_CLOCKS_MAX];
};

static bool
does_clock_rank_before(const struct report_clock *a, const struct report_clock *b)
{
	unsigned class_a = a->clock.rating / RATING_CLASS, class_b = b->clock.rating / RATING_CLASS;

	if (class_a != class_b)
		return class_a > class_b;
	if (a->cost.read_ps.known && b->cost.read_ps.known)
		return a->cost.read_ps.value < b->cost.read_ps.value;
	return a->clock.rating > b->clock.rating;
}

static struct ranking
rank_clocks(const struct report *report)
{
	struct ranking ranking = { .count = 0 };

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *entry = &report->clocks[i];
		size_t at = ranking.count;

		if (!entry->clock.rating)
			continue;
		for (; at && does_clock_rank_before(entry, ranking.clocks[at - 1]); at--)
			ranking.clocks[at] = ranking.clocks[at - 1];
		ranking.clocks[at] = entry;
		ranking.count++;
	}
	return ranking;
}

/* Adds a row for CLOCK, which has no row yet. Returns an empty text, into which the caller writes the reason. */
static struct text
add_advice_row(struct report_advice *advice, const char *clock, bool avoid)
{
	struct text reason;

	advice->rows[advice->count].clock = clock;
	advice->rows[advice->count].avoid = avoid;
	text_init(&reason, advice->rows[advice->count++].reason, REPORT_SENTENCE);
	return reason;
}

const char *
recommend_find_clock_of_linux(const struct report *report)
{
	for (size_t i = 0; i < report->taken_count; i++)
		if (text_equal(report->taken[i].system, "Linux"))
			return report->taken[i].clock;
	return NULL;
}

/*
 * If Linux takes another clock than the best clock, adds this to the reasons for the best clock. Linux chooses by other
 * criteria.
 */
static void
put_clock_linux_takes_instead(const struct report *report, const struct report_clock *entry, struct text *reason)
{
	const char *taken = recommend_find_clock_of_linux(report);

	if (report->advice.count != 1 || !taken || text_equal(taken, entry->clock.id))
		return;
	text_printf(reason, "; Linux takes %s instead%s: see below", taken,
		    text_equal(entry->clock.id, "tsc") && recommend_explain_unstable_tsc(report).bytes[0] ?
		    ", as it marks the TSC unstable" : "");
}

static void
put_tsc_properties(const struct report *report, struct text *reason)
{
	const struct report_skew *skew = &report->skew;

	if (report->cores_started > 1 && skew->synchronised) {
		text_printf(reason, ", synchronised on %zu cores within %s %s", skew->passes[0].offsets.cores,
			    phrase_bound_ns(skew->within_ns).bytes, phrase_pass_times(report).bytes);
	} else if (report->cores_started > 1) {
		text_put(reason, ", not proven synchronised on all cores");
	}
	if (report->tsc_is_invariant)
		text_put(reason, ", invariant");
	else if (report->linux_distrusts_tsc && recommend_find_clock_of_linux(report))
		text_put(reason, ", not reported as invariant");
	else if (report->linux_distrusts_tsc)
		text_put(reason, ", not reported as invariant: on a CPU that is not Intel's and has several cores, "
			 "Linux takes the next clock of this list instead, or the hypervisor's own clock");
	else if (report->hypervisor[0])
		text_put(reason, ", not reported as invariant: if the hypervisor has its own clock, use that");
	else
		text_put(reason, ", not reported as invariant: it may follow the core's frequency, or stop when the core sleeps");
}

const char *
recommend_find_first_rule_against(const struct report *report, const char *clock, enum verdict severity)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		if (finding->severity == severity && rules_is_finding_of(finding, NULL, clock))
			return finding->rule;
	}
	return NULL;
}

static bool
is_finding_on_core(const struct finding *finding, const char *rule)
{
	return text_equal(finding->rule, rule) && finding->core != REPORT_NO_CORE;
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

uint64_t
recommend_get_read_cost_ps(const struct report *report, const char *id)
{
	const struct report_clock *entry = report_find_clock(report, id);

	return entry && entry->cost.read_ps.known ? (uint64_t)entry->cost.read_ps.value : 0;
}

static void
add_advice_for_healthy_clock(struct report *report, const struct report_clock *entry)
{
	uint64_t read_ps = recommend_get_read_cost_ps(report, entry->clock.id);
	uint64_t tsc_ps = recommend_get_read_cost_ps(report, "tsc");
	uint64_t times = tsc_ps ? scale_mul_div_nearest(read_ps, 1, tsc_ps) : 0;
	const char *warning = recommend_find_first_rule_against(report, entry->clock.id, VERDICT_WARN);
	struct text reason = add_advice_row(&report->advice, entry->clock.id, false);

	if (entry->cost.read_ps.known)
		text_printf(&reason, "%s a read", number_from_ps(read_ps).text);
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
	put_clock_linux_takes_instead(report, entry, &reason);
	text_put_char(&reason, '.');
}

/* Returns RULE and the cores that its findings name: "tsc-offset (cores 8, 10 and 12)". */
static struct phrase
describe_failed_rule(const struct report *report, const char *rule)
{
	struct phrase cores = { "" };
	size_t count = 0, named = 0;

	for (size_t i = 0; i < report->finding_count; i++)
		count += is_finding_on_core(&report->findings[i], rule);
	for (size_t i = 0; i < report->finding_count; i++)
		if (is_finding_on_core(&report->findings[i], rule))
			phrase_add(&cores, "%s%u", phrase_list_separator(named++, count), report->findings[i].core);
	if (!count)
		return phrase("%s", rule);
	return phrase("%s (core%s %s)", rule, count > 1 ? "s" : "", cores.bytes);
}

/*
 * Returns true if finding I is a failure of ENTRY's clock, is on another rule than FIRST, and is the first on this
 * rule.
 */
static bool
is_first_finding_of_another_rule(const struct report *report, const struct report_clock *entry, size_t i,
				 const char *first)
{
	const struct finding *finding = &report->findings[i];

	if (finding->severity != VERDICT_FAIL || !rules_is_finding_of(finding, NULL, entry->clock.id) ||
	    text_equal(finding->rule, first))
		return false;
	while (i--)
		if (rules_is_finding_of(&report->findings[i], finding->rule, entry->clock.id))
			return false;
	return true;
}

static void
add_advice_against_failed_clock(struct report *report, const struct report_clock *entry)
{
	const char *rule = recommend_find_first_rule_against(report, entry->clock.id, VERDICT_FAIL);
	struct text reason;
	size_t more = 0;

	if (!rule)
		return;
	reason = add_advice_row(&report->advice, entry->clock.id, true);
	text_printf(&reason, "%s: %s", describe_failed_rule(report, rule).bytes, rules_find(rule)->sentence);
	if (text_equal(rule, "rate-wrong") && text_equal(entry->clock.id, "tsc"))
		text_put(&reason, " A kernel that measures the TSC's rate may still use the TSC.");
	for (size_t i = 0; i < report->finding_count; i++)
		if (is_first_finding_of_another_rule(report, entry, i, rule))
			text_printf(&reason, "%s%s", more++ ? ", " : " Also ",
				    describe_failed_rule(report, report->findings[i].rule).bytes);
	text_put(&reason, more ? "." : "");
}

static bool
is_latency_measured(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count;
}

/* Adds rows for the healthy clocks: if LAST_RESORTS, those that kernels switch off, otherwise all others. */
static void
add_advice_for_healthy_clocks(struct report *report, const struct ranking *ranking, bool last_resorts)
{
	for (size_t i = 0; i < ranking->count; i++) {
		const struct report_clock *entry = ranking->clocks[i];

		if (is_latency_measured(entry) && entry->verdict != VERDICT_FAIL &&
		    does_linux_switch_clock_off(report, entry) == last_resorts)
			add_advice_for_healthy_clock(report, entry);
	}
}

void
recommend_clocks(struct report *report)
{
	struct ranking ranking = rank_clocks(report);

	report->advice.count = 0;
	recommend_predict_clocksources(report);
	add_advice_for_healthy_clocks(report, &ranking, false);
	add_advice_for_healthy_clocks(report, &ranking, true);
	for (size_t i = 0; i < ranking.count; i++)
		if (ranking.clocks[i]->verdict == VERDICT_FAIL)
			add_advice_against_failed_clock(report, ranking.clocks[i]);
	recommend_predict_tick_timer(report);
	recommend_describe_calibrations(report);
	recommend_write_answer(report);
}
