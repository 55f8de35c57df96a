/* The judge: the report's figures against the catalogue. See rules.h. */
#include "rules_internal.h"

#include "text.h"

static int64_t
figure(uint64_t count)
{
	return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

void
rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high, uint64_t limit)
{
	if (!finding)
		return;
	finding->has_measured = true;
	finding->measured = measured;
	finding->low = low;
	finding->high = high;
	finding->limit = figure(limit);
}

void
rules_set_count(struct finding *finding, uint64_t count, uint64_t limit)
{
	rules_set_figure(finding, figure(count), figure(count), figure(count), limit);
}

uint64_t
rules_limit_of(const struct report *report, const char *rule_id)
{
	return rules_limit(rules_find(rule_id), &report->options);
}

/*
 * A step back of the TSC shows in its own readings, in the brackets around any clock's readings, or in
 * both: its own rows count the larger of the two, so that no step counts twice.
 */
static uint64_t
steps_back(const struct report *report, const struct report_clock *entry)
{
	const struct monotonic *own = &entry->monotonic;
	uint64_t steps = own->backward;

	if (text_equal(entry->clock.main, "tsc") && own->bracket_backward > steps)
		steps = own->bracket_backward;
	if (!text_equal(entry->clock.id, "tsc"))
		return steps;
	for (size_t i = 0; i < report->clock_count; i++)
		if (!text_equal(report->clocks[i].clock.main, "tsc"))
			steps += report->clocks[i].monotonic.bracket_backward;
	return steps;
}

const struct rule *
rules_broken_by(const struct report *report, const struct report_clock *entry)
{
	if (rules_misbehaves(report, &entry->clock))
		return NULL;
	if (entry->clock.state == CLOCK_STUCK)
		return rules_find("clock-stuck");
	if (entry->clock.state == CLOCK_BROKEN)
		return rules_find("clock-broken");
	if (steps_back(report, entry) > rules_limit_of(report, "clock-backward"))
		return rules_find("clock-backward");
	if (entry->monotonic.leaps > rules_limit_of(report, "clock-jumped"))
		return rules_find("clock-jumped");
	return NULL;
}

/* One device, one accusation: a further way of reading it adds none that its main one has already. */
static bool
main_breaks(const struct report *report, const struct report_clock *entry, const struct rule *rule)
{
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *other = &report->clocks[i];

		if (other != entry && text_equal(other->clock.id, entry->clock.main))
			return rules_broken_by(report, other) == rule;
	}
	return false;
}

/* What ends SENTENCE, which may have its full stop already. */
static const char *
full_stop(const char *sentence)
{
	size_t length = text_length(sentence);

	return length && sentence[length - 1] == '.' ? "" : ".";
}

static void
accuse_state(struct report *report, const struct report_clock *entry, const struct rule *rule)
{
	const struct clock *clock = &entry->clock;
	char when[48] = "";
	struct text text;

	text_init(&text, when, sizeof(when));
	if (entry->turned_sick) {
		text_put(&text, " since ");
		text_put_decimal(&text, entry->turned_sick_ms, 3, 1);
		text_put(&text, " s into the run");
	}
	rules_add_finding(report, rule->id, clock->id, REPORT_NO_CORE, "%s is %s%s%s%s%s", clock->id,
			  clock_state_word(clock->state), when, clock->reason[0] ? ": " : "", clock->reason,
			  full_stop(clock->reason));
}

static void
accuse_leaps(struct report *report, const struct report_clock *entry, const struct rule *rule)
{
	const struct monotonic *own = &entry->monotonic;

	rules_set_count(rules_add_finding(report, rule->id, entry->clock.id, REPORT_NO_CORE,
					  "%s leapt ahead %lu time%s in %lu reads, at most by %lu ticks.",
					  entry->clock.id, own->leaps, own->leaps == 1 ? "" : "s", own->reads,
					  own->worst_leap_ticks),
			own->leaps, rules_limit(rule, &report->options));
}

static void
accuse_steps(struct report *report, const struct report_clock *entry, const struct rule *rule)
{
	const char *id = entry->clock.id;
	uint64_t steps = steps_back(report, entry);
	const char *plural = steps == 1 ? "" : "s";
	struct finding *finding;

	if (entry->monotonic.backward)
		finding = rules_add_finding(report, rule->id, id, REPORT_NO_CORE,
					    "%s stepped back %lu time%s in %lu reads, at worst by %lu ticks.", id,
					    steps, plural, entry->monotonic.reads, entry->monotonic.worst_ticks);
	else
		finding = rules_add_finding(report, rule->id, id, REPORT_NO_CORE,
					    "%s stepped back %lu time%s in the brackets around other readings.",
					    id, steps, plural);
	rules_set_count(finding, steps, rules_limit(rule, &report->options));
}

/*
 * Before any rule. A clock that is stuck or broken fails whichever rule accuses it; one that was never read has
 * not passed: its verdict is open, which is what incomplete says of it.
 */
static enum verdict
verdict_by_itself(const struct report_clock *entry)
{
	bool was_read = entry->monotonic.reads || (entry->latency && entry->latency->count);

	if (entry->clock.state == CLOCK_STUCK || entry->clock.state == CLOCK_BROKEN)
		return VERDICT_FAIL;
	if (entry->clock.state != CLOCK_PRESENT)
		return VERDICT_ABSENT;
	return was_read ? VERDICT_PASS : VERDICT_INCOMPLETE;
}

static void
judge_clock(struct report *report, struct report_clock *entry)
{
	const struct rule *rule = rules_broken_by(report, entry);

	entry->verdict = verdict_by_itself(entry);
	if (!rule)
		return;
	entry->verdict = rule->severity;
	if (main_breaks(report, entry, rule))
		return;
	if (entry->clock.state != CLOCK_PRESENT)
		accuse_state(report, entry, rule);
	else if (rule == rules_find("clock-jumped"))
		accuse_leaps(report, entry, rule);
	else
		accuse_steps(report, entry, rule);
}

/* A core that the options leave alone is not missing. */
static void
judge_cores(struct report *report)
{
	uint64_t limit = rules_limit_of(report, "core-missing");
	const struct report_core *first = NULL;
	uint64_t missing = 0;

	if (report->options.cores == CORES_OFF)
		return;
	for (size_t i = 0; i < report->core_count && i < report->options.cores_max; i++) {
		if (report->cores[i].started && !report->cores[i].reason[0])
			continue;
		if (!missing++)
			first = &report->cores[i];
	}
	if (missing <= limit)
		return;
	rules_set_count(rules_add_finding(report, "core-missing", NULL, first->apic_id,
					  "%lu of %zu cores %s missing; the first is core %u%s%s%s", missing,
					  report->core_count, missing == 1 ? "is" : "are", first->apic_id,
					  first->reason[0] ? ": " : "", first->reason,
					  full_stop(first->reason)),
			missing, limit);
}

/* A finding of the caller's own that names a clock lowers that clock's verdict too. */
static void
apply_findings(struct report *report)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		for (size_t c = 0; finding->clock && c < report->clock_count; c++) {
			struct report_clock *entry = &report->clocks[c];

			if (!text_equal(entry->clock.id, finding->clock))
				continue;
			if (entry->verdict == VERDICT_PASS ||
			    (entry->verdict == VERDICT_WARN && finding->severity == VERDICT_FAIL))
				entry->verdict = finding->severity;
		}
	}
}

/*
 * The run's verdict: fail, incomplete, warn, pass, the first that holds. A fault that was seen is a fault
 * however little else was measured, so fail comes first; but what was not measured might have failed, so an
 * incomplete run neither passes nor only warns.
 */
void
rules_judge(struct report *report)
{
	for (size_t i = 0; i < report->clock_count; i++)
		judge_clock(report, &report->clocks[i]);
	rules_judge_fitness(report);
	rules_judge_rates(report);
	rules_judge_behaviours(report);
	rules_judge_skew(report);
	rules_judge_adjust(report);
	judge_cores(report);
	apply_findings(report);
	if (report->incomplete && report->verdict != VERDICT_FAIL)
		report->verdict = VERDICT_INCOMPLETE;
}
