/* What is asked of the rule catalogue. See rules.h. */
#include "rules.h"

#include "text.h"

const struct rule *
rules_find(const char *id)
{
	for (const struct rule *rule = rules; rule->id; rule++)
		if (text_equal(rule->id, id))
			return rule;
	return NULL;
}

void
rules_limit_ids(const char *ids[RULES_MAX + 1])
{
	size_t count = 0;

	for (const struct rule *rule = rules; rule->id && count < RULES_MAX; rule++)
		if (rule->what)
			ids[count++] = rule->id;
	ids[count] = NULL;
}

uint64_t
rules_limit(const struct rule *rule, const struct options *options)
{
	for (size_t i = 0; i < options->limit_count; i++)
		if (text_equal(options->limits[i].rule, rule->id))
			return options->limits[i].value;
	return rule->limit;
}

const char *
rules_outcome(const struct behaviour *row, const struct options *options)
{
	const struct rule *rule = rules_find(row->rule);

	if (!row->seen)
		return "not seen";
	return behaviour_is_broken(row, rule ? rules_limit(rule, options) : UINT64_MAX) ? "broken" : "kept";
}

static void
note_lost_finding(struct report *report)
{
	static const char sentence[] = "There were more findings than the report has room for.";

	if (report->note_count && text_equal(report->notes[report->note_count - 1], sentence))
		return;
	report_note(report, "%s", sentence);
}

struct finding *
rules_add_finding(struct report *report, const char *rule_id, const char *clock, uint32_t core,
		  const char *format, ...)
{
	const struct rule *rule = rules_find(rule_id);
	struct finding *finding;
	struct text text;
	va_list arguments;

	if (!rule)
		return NULL;
	if (rule->severity == VERDICT_FAIL || report->verdict == VERDICT_PASS)
		report->verdict = rule->severity;
	if (report->finding_count >= REPORT_FINDINGS_MAX) {
		note_lost_finding(report);
		return NULL;
	}
	finding = &report->findings[report->finding_count++];
	*finding = (struct finding){ .rule = rule->id, .severity = rule->severity, .clock = clock,
				     .core = core, .unit = rule->unit, .source = rule->source };
	text_init(&text, finding->text, sizeof(finding->text));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	return finding;
}
