/* Asserts about the findings, the rows of behaviours and the notes of a report. */
#ifndef BARETICK_FINDINGS_H
#define BARETICK_FINDINGS_H

#include "test.h"
#include "report/report.h"
#include "rules/rules.h"

static inline void
print_findings(const struct report *report)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		print_message("%s, %s: %s\n", finding->rule, finding->clock ? finding->clock : "no clock", finding->text);
	}
}

static inline void
assert_no_finding(const struct report *report)
{
	print_findings(report);
	assert_int_equal(report->outcomes.finding_count, 0);
}

/* Asserts that the only finding is by RULE and about CLOCK, or about no clock if CLOCK is NULL. Returns the finding. */
static inline const struct finding *
assert_only_finding(const struct report *report, const char *rule, const char *clock)
{
	const struct finding *finding = &report->outcomes.findings[0];

	if (report->outcomes.finding_count != 1)
		print_findings(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(finding->rule, rule);
	if (clock)
		assert_string_equal(finding->clock, clock);
	else
		assert_null(finding->clock);
	return finding;
}

/* Returns the row of RULE about CLOCK. Fails if there is none. */
static inline const struct behaviour *
find_row(const struct report *report, const char *rule, const char *clock)
{
	const struct behaviour *row = rules_find_row(report, rule, clock);

	if (!row)
		fail_msg("no row %s of %s", rule, clock);
	return row;
}

static inline enum outcome
find_outcome(const struct report *report, const char *rule, const char *clock)
{
	return rules_get_outcome(find_row(report, rule, clock), &report->facts.options);
}

/* Returns true if a note of the report contains WORDS. */
static inline bool
has_note(const struct report *report, const char *words)
{
	for (size_t i = 0; i < report->notes.count; i++)
		if (strstr(report->notes.sentences[i], words))
			return true;
	return false;
}

#endif
