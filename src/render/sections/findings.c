/* Sections with the findings, the notes, and drivers' remarks on clocks. See table_sections.h. */
#include "render/sections/table_sections.h"

#include "rules/rules.h"

#define FINDING_INDENT 6

/* Writes LABEL and SENTENCE below a finding, or nothing if SENTENCE is NULL. */
static void
put_indented_sentence(struct text *out, const char *label, const char *sentence)
{
	size_t line_start = out->length;

	if (!sentence)
		return;
	text_printf(out, "%*s%s", FINDING_INDENT, "", label);
	table_put_wrapped(out, line_start, FINDING_INDENT, sentence);
}

static void
put_finding(struct text *out, const struct finding *finding, bool detailed)
{
	const struct rule *rule = rules_find(finding->rule);
	size_t line_start = out->length;

	text_printf_coloured(out, table_colour_of_verdict(finding->severity), "%-*s", FINDING_INDENT,
			     verdict_words[finding->severity]);
	text_printf(out, "%s: ", finding->rule);
	table_put_wrapped(out, line_start, FINDING_INDENT, finding->text);
	if (!detailed || !rule)
		return;
	put_indented_sentence(out, "", rule->sentence);
	put_indented_sentence(out, "Known causes: ", rule->cause);
	put_indented_sentence(out, "What to do: ", rules_get_advice(finding));
	put_indented_sentence(out, "Known from: ", finding->source);
}

static void
put_note(struct text *out, const char *about, const char *sentence)
{
	size_t line_start = out->length;

	text_printf(out, "note  %s%s", about, about[0] ? ": " : "");
	table_put_wrapped(out, line_start, FINDING_INDENT, sentence);
}

/* Returns true if clock I - 1 is another read method of the same counter and has the same remark. */
static bool
is_remark_repeated(const struct report *report, size_t i)
{
	const struct clock *clock = &report->facts.clocks[i].clock;

	return i > 0 && text_equal(report->facts.clocks[i - 1].clock.main, clock->main) &&
	       text_equal(report->facts.clocks[i - 1].clock.reason, clock->reason);
}

bool
table_has_findings(const struct report *report, const struct report_clock *entry)
{
	bool any = false;

	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		any |= rules_does_finding_apply_to_clock(report, entry, report->outcomes.findings[i].clock,
							report->outcomes.findings[i].one_way);
	return any;
}

void
table_put_findings(struct text *out, const struct report *report, const struct report_clock *entry, bool detailed)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (!entry || rules_does_finding_apply_to_clock(report, entry, finding->clock, finding->one_way))
			put_finding(out, finding, detailed);
	}
	if (!report->outcomes.finding_count)
		text_put(out, "No findings.\n");
}

void
table_put_notes(struct text *out, const struct report *report)
{
	for (size_t i = 0; i < report->notes.count; i++)
		put_note(out, "", report->notes.sentences[i]);
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock *clock = &report->facts.clocks[i].clock;

		if (clock->state == CLOCK_PRESENT && clock->reason[0] && !is_remark_repeated(report, i))
			put_note(out, clock->id, clock->reason);
	}
}
