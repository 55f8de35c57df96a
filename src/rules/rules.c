/* Searches the rule catalogue, and adds findings with their values. See rules.h. */
#include "rules/rules.h"

#include "base/set.h"
#include "base/text.h"

const struct rule *
rules_find(const char *id)
{
	for (const struct rule *rule = rules; rule->id; rule++)
		if (text_equal(rule->id, id))
			return rule;
	return NULL;
}

void
rules_list_ids_with_limit(const char *ids[RULES_MAX + 1])
{
	size_t count = 0;

	for (const struct rule *rule = rules; rule->id && count < RULES_MAX; rule++)
		if (rule->what)
			ids[count++] = rule->id;
	ids[count] = NULL;
}

uint64_t
rules_get_limit(const struct rule *rule, const struct options *options)
{
	for (size_t i = 0; i < options->limit_count; i++)
		if (text_equal(options->limits[i].rule, rule->id))
			return options->limits[i].value;
	return rule->limit;
}

uint64_t
rules_get_limit_by_id(const struct report *report, const char *rule_id)
{
	return rules_get_limit(rules_find(rule_id), &report->facts.options);
}

enum verdict
rules_get_severity(const struct rule *rule, const struct report *report)
{
	return rule->warns_in_guest && report_is_guest(report) ? VERDICT_WARN : rule->severity;
}

bool
rules_does_finding_apply_to_clock(const struct report *report, const struct report_clock *entry, const char *named,
				  bool one_way)
{
	const struct report_clock *main;

	if (!named || text_equal(entry->clock.id, named))
		return named != NULL;
	main = one_way || !text_equal(entry->clock.main, named) ? NULL : report_find_clock(report, named);
	return main && entry->clock.claimed.num == main->clock.claimed.num &&
	       entry->clock.claimed.den == main->clock.claimed.den;
}

bool
rules_has_check_failed(const struct report *report, const struct behaviour *row)
{
	return rules_get_outcome(row, &report->facts.options) == OUTCOME_FAILED;
}

enum outcome
rules_get_outcome(const struct behaviour *row, const struct options *options)
{
	const struct rule *rule = rules_find(row->rule);

	return behaviour_get_outcome(row, rule ? rules_get_limit(rule, options) : UINT64_MAX);
}

uint32_t
rules_get_failed_core(const struct behaviour *row)
{
	return row->cores == 1 && row->cores_asked != 1 ? row->core : REPORT_NO_CORE;
}

struct rule_fault
rules_get_fault(const struct finding *finding)
{
	return finding ? (struct rule_fault){ finding->rule, finding->clock, finding->core, { finding->low, finding->high } } :
			 (struct rule_fault){ .rule = NULL };
}

size_t
rules_count_outcomes(const struct report *report, const char *clock, enum outcome outcome)
{
	size_t count = 0;

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		count += (!clock || text_equal(clock, row->clock)) &&
			 rules_get_outcome(row, &report->facts.options) == outcome;
	}
	return count;
}

static void
add_note_on_lost_finding(struct notes *notes)
{
	static const char sentence[] = "There were more findings than the report has space for.";

	if (notes->count && text_equal(notes->sentences[notes->count - 1], sentence))
		return;
	notes_add(notes, "%s", sentence);
}

/* Removes the last finding that is a warning. Returns false if all findings are failures. */
static bool
remove_last_warning(struct outcomes *outcomes)
{
	size_t i = outcomes->finding_count;

	while (i && outcomes->findings[i - 1].severity == VERDICT_FAIL)
		i--;
	if (!i)
		return false;
	for (; i < outcomes->finding_count; i++)
		outcomes->findings[i - 1] = outcomes->findings[i];
	outcomes->finding_count--;
	return true;
}

struct finding *
rules_begin_finding(const struct report *report, struct outcomes *outcomes, const struct rule *rule,
		    enum verdict severity, const char *clock, uint32_t core)
{
	if (outcomes->finding_count == REPORT_FINDINGS_MAX) {
		add_note_on_lost_finding(&outcomes->notes);
		if (severity != VERDICT_FAIL || !remove_last_warning(outcomes))
			return NULL;
	}
	struct finding *finding = &outcomes->findings[outcomes->finding_count++];
	*finding = (struct finding){ .rule = rule->id, .severity = severity, .clock = clock,
				     .core = core, .against = REPORT_NO_CORE,
				     .unit = rule->unit, .one_way = rule->one_way, .source = rule->source,
				     .limit = offset_clamp(rules_get_limit(rule, &report->facts.options)) };
	return finding;
}

static void
append_formatted(struct finding *finding, const char *format, va_list arguments)
{
	if (!finding)
		return;
	struct text text = text_continue(finding->text, sizeof(finding->text));
	text_vprintf(&text, format, arguments);
}

struct finding *
rules_add_finding(const struct report *report, struct outcomes *outcomes, const char *rule_id, const char *clock,
		  uint32_t core, const char *format, ...)
{
	const struct rule *rule = rules_find(rule_id);
	struct finding *finding = rule ? rules_begin_finding(report, outcomes, rule, rules_get_severity(rule, report), clock,
							     core) : NULL;
	va_list arguments;

	va_start(arguments, format);
	append_formatted(finding, format, arguments);
	va_end(arguments);
	return finding;
}

void
rules_add_text_to_finding(struct finding *finding, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append_formatted(finding, format, arguments);
	va_end(arguments);
}

const struct finding *
rules_find_finding(const struct report *report, const char *rule, const char *clock)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (text_equal(finding->rule, rule) && (!clock || (finding->clock && text_equal(finding->clock, clock))))
			return finding;
	}
	return NULL;
}

const struct behaviour *
rules_find_row(const struct report *report, const char *rule, const char *clock)
{
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		if (text_equal(row->rule, rule) && text_equal(row->clock, clock))
			return row;
	}
	return NULL;
}

const char *
rules_get_advice(const struct finding *finding)
{
	return finding->advice[0] ? finding->advice : rules_find(finding->rule)->advice;
}

void
rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high)
{
	if (!finding)
		return;
	finding->has_measured = true;
	finding->measured = measured;
	finding->low = low;
	finding->high = high;
}

void
rules_set_count(struct finding *finding, uint64_t count)
{
	rules_set_figure(finding, offset_clamp(count), offset_clamp(count), offset_clamp(count));
}

void
rules_add_core_to_finding(struct finding *finding, uint32_t apic_id)
{
	if (finding && finding->core_count < REPORT_FINDING_CORES)
		finding->cores[finding->core_count++] = apic_id;
}

void
rules_set_pair_of_cores(struct finding *finding, uint32_t a, uint32_t b)
{
	rules_add_core_to_finding(finding, a);
	rules_add_core_to_finding(finding, b);
}

void
rules_set_difference(struct finding *finding, enum tsc_difference difference, uint32_t against, struct moment seen)
{
	if (!finding)
		return;
	finding->difference = difference;
	finding->against = against;
	finding->seen = seen;
}

static struct clock_list
list_clocks_of_set(uint32_t set)
{
	struct clock_list list = { .count = 0 };

	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		if (set_has(set, i))
			list.at[list.count++] = (uint8_t)i;
	return list;
}

void
rules_set_clocks(struct finding *finding, uint32_t clocks, uint32_t others)
{
	if (!finding)
		return;
	finding->clocks = list_clocks_of_set(clocks);
	finding->others = list_clocks_of_set(others);
}

bool
rules_does_finding_name_core(const struct finding *finding, uint32_t apic_id)
{
	for (size_t i = 0; i < finding->core_count; i++)
		if (finding->cores[i] == apic_id)
			return true;
	return finding->core == apic_id && apic_id != REPORT_NO_CORE;
}

bool
rules_has_failed_check(const struct report *report, const char *clock)
{
	for (size_t i = 0; i < report->facts.checks.count; i++) {
		const struct behaviour *row = &report->facts.checks.rows[i];

		if (text_equal(row->clock, clock) && rules_has_check_failed(report, row) &&
		    rules_get_severity(rules_find(row->rule), report) == VERDICT_FAIL)
			return true;
	}
	return false;
}

const char *
rules_get_missing_full_stop(const char *sentence)
{
	size_t length = text_length(sentence);

	return length && sentence[length - 1] == '.' ? "" : ".";
}
