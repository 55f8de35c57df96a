/* Judges a clock's state, steps back and jumps. See judge_internal.h. */
#include "judge/judge_internal.h"

#include "base/text.h"
#include "judge/cores/judge_cores.h"
#include "report/phrase.h"

/* Returns how often ENTRY stepped back on the boot core. */
static uint64_t
count_steps_back(const struct report *report, const struct report_clock *entry)
{
	return text_equal(entry->clock.id, "tsc") ? judge_count_steps_back_on_core(report, 0).backward :
	       entry->monotonic.backward;
}

/* Returns how many steps back of ENTRY are no fault, because the limit allows them or discontinuities explain them. */
static uint64_t
count_allowed_steps_back(const struct report *report, const struct report_clock *entry)
{
	uint64_t explained = entry->latency_discontinuities, jumps = judge_count_jumps_of_clock(report, "tsc");

	if (text_equal(entry->clock.id, "tsc") && jumps > explained)
		explained = jumps;
	return rules_get_limit_by_id(report, "clock-backward") + explained;
}

/* Returns true if RULE is about a step back or a jump. */
static bool
is_rule_on_steps_or_jumps(const struct rule *rule)
{
	return rule == rules_find("clock-backward") || rule == rules_find("clock-jumped");
}

bool
judge_has_tsc_stepped(const struct report *report)
{
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (text_equal(entry->clock.main, "tsc") && is_rule_on_steps_or_jumps(judge_find_broken_rule(report, entry)))
			return true;
	}
	return false;
}

bool
judge_has_tsc_stepped_or_jumped(const struct report *report)
{
	return judge_has_tsc_stepped(report) || judge_count_jumps_of_clock(report, "tsc");
}

/*
 * Ignores a step back or a jump of a clock if the TSC itself stepped back or jumped. The TSC limits how far a clock
 * may advance between two readings, and shows whether a narrow counter wrapped. A 64-bit counter never wraps, so
 * its steps back are found without the TSC and are not ignored. A discontinuity may also appear as a step or a jump in
 * the clock's readings. That is no further fault.
 */
const struct rule *
judge_find_broken_rule(const struct report *report, const struct report_clock *entry)
{
	bool is_tsc = text_equal(entry->clock.main, "tsc");

	if (rules_has_failed_check(report, entry->clock.main))
		return NULL;
	if (entry->clock.state == CLOCK_STUCK)
		return rules_find("clock-stuck");
	if (entry->clock.state == CLOCK_BROKEN)
		return rules_find("clock-broken");
	if (entry->clock.state != CLOCK_PRESENT)
		return NULL; /* it was not read, although a damaged record may contain steps back */
	if (count_steps_back(report, entry) > count_allowed_steps_back(report, entry) &&
	    (is_tsc || entry->clock.wrap_ticks == UINT64_MAX || !judge_has_tsc_stepped_or_jumped(report)))
		return rules_find("clock-backward");
	if (entry->monotonic.leaps > rules_get_limit_by_id(report, "clock-jumped") + entry->latency_discontinuities &&
	    judge_count_jumps_of_clock(report, entry->clock.main) &&
	    (is_tsc || !judge_has_tsc_stepped_or_jumped(report)))
		return rules_find("clock-jumped");
	return NULL;
}

/* Returns true if the main clock of ENTRY's device breaks RULE, too. One finding on the main clock is enough then. */
static bool
does_main_clock_break_rule(const struct report *report, const struct report_clock *entry, const struct rule *rule)
{
	const struct report_clock *main = report_find_clock(report, entry->clock.main);

	return main && main != entry && judge_find_broken_rule(report, main) == rule;
}

static void
add_state_finding(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry,
		  const struct rule *rule)
{
	const struct clock *clock = &entry->clock;
	struct phrase when = { "" };

	if (report_get_failure_tsc(report, entry))
		when = phrase(" since %s into the run",
			      phrase_tsc_time(report, report_get_failure_tsc(report, entry)).bytes);
	rules_add_finding(report, outcomes, rule->id, clock->id, REPORT_NO_CORE, "%s is %s%s%s%s%s", clock->id,
			  clock_state_words[clock->state], when.bytes, clock->reason[0] ? ": " : "", clock->reason,
			  rules_get_missing_full_stop(clock->reason));
}

static void
add_step_back_finding(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry,
		      const struct rule *rule)
{
	const char *id = entry->clock.id;
	uint64_t steps = entry->monotonic.backward;
	struct finding *finding;

	finding = rules_add_finding(report, outcomes, rule->id, id, REPORT_NO_CORE,
				    "%s stepped back %lu time%s in %lu reads, at worst by %lu ticks.", id, steps,
				    steps == 1 ? "" : "s", entry->monotonic.reads, entry->monotonic.worst_ticks);
	rules_set_count(finding, steps);
}

/*
 * Adds the finding on the state of ENTRY's clock. ANY_CORE is true if the TSC of any core steps back. A step back on
 * another core than the boot core does not affect other clocks, because the boot core's TSC times them.
 */
static void
judge_clock_state(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry,
		  bool any_core)
{
	const struct rule *rule = judge_find_broken_rule(report, entry);
	bool by_core = any_core && text_equal(entry->clock.id, "tsc") && (!rule || is_rule_on_steps_or_jumps(rule));

	if (by_core)
		rule = rules_find("clock-backward");
	if (!rule || does_main_clock_break_rule(report, entry, rule))
		return;
	if (by_core)
		judge_add_step_back_findings(report, outcomes);
	else if (entry->clock.state != CLOCK_PRESENT)
		add_state_finding(report, outcomes, entry, rule);
	else if (rule != rules_find("clock-jumped")) /* a jump has its finding already: see discontinuities.c */
		add_step_back_finding(report, outcomes, entry, rule);
}

void
judge_clock_states(const struct report *report, struct outcomes *outcomes)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	bool any_core = tsc && judge_mark_cores_that_step_back(report, outcomes, count_allowed_steps_back(report, tsc));

	for (size_t i = 0; i < report->facts.clock_count; i++)
		judge_clock_state(report, outcomes, &report->facts.clocks[i], any_core);
}
