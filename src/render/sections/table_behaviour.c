/* The device checks, which compare clocks and timers with their data sheets, and the recommended clocks. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "report/phrase.h"
#include "rules/rules.h"

#define OUTCOME_COLUMNS 15
#define RULE_COLUMNS    15
#define TEXT_COLUMN     (OUTCOME_COLUMNS + RULE_COLUMNS)
#define ADVICE_INDENT   7
#define TIMER_COLUMNS   15
#define TIMER_RULES     (sizeof(timer_rules) / sizeof(timer_rules[0]))
/* size of a text that lists all checks, with the names of a rule and a clock for each */
#define UNCHECKED_SIZE  (BEHAVIOURS_MAX * 36)

/* Words and marks of outcomes. A cell with several outcomes shows the worst outcome, which has the highest badness. */
static const struct outcome_look {
	const char *word;
	char mark;
	unsigned badness;
} looks[] = {
	[OUTCOME_PASSED] = { "passed", '+', 1 },
	[OUTCOME_NOT_CHECKED] = { "not checked", '-', 2 },
	[OUTCOME_NOT_DETERMINED] = { "not determined", '?', 3 },
	[OUTCOME_FAILED] = { "failed", '!', 4 },
};

static const char *const timer_rules[] = {
	"irq-missing", "irq-early", "irq-lost", "irq-doubled", "irq-rate", "irq-late",
};

static enum text_ink
choose_colour_of_outcome(enum outcome outcome, const char *rule_id)
{
	const struct rule *rule = rules_find(rule_id);

	if (outcome == OUTCOME_NOT_CHECKED || outcome == OUTCOME_NOT_DETERMINED)
		return INK_DIM;
	return rule && outcome == OUTCOME_FAILED ? table_colour_of_verdict(rule->severity) : INK_PASS;
}

/* Returns true if ROW is a check of a timer's interrupts. */
static bool
is_timer_check(const struct behaviour *row)
{
	return text_begins_with(row->rule, "irq-");
}

static void
put_behaviour_row(struct text *out, const struct behaviour *row, const struct options *options)
{
	enum outcome outcome = rules_get_outcome(row, options);
	size_t line_start = out->length;

	text_printf_coloured(out, choose_colour_of_outcome(outcome, row->rule), "%-*s", OUTCOME_COLUMNS, looks[outcome].word);
	text_printf(out, "%-*s", RULE_COLUMNS, row->rule);
	if (is_timer_check(row))
		text_printf(out, "%s: ", row->clock);
	table_put_wrapped(out, line_start, TEXT_COLUMN, row->text);
}

static const char *
skip_irq_prefix(const char *rule)
{
	return rule + sizeof("irq-") - 1;
}

static void
put_outcome_mark(struct text *out, const struct report *report, const char *timer, const char *rule)
{
	const struct outcome_look *worst = NULL;

	text_printf(out, "%*s", (int)text_length(skip_irq_prefix(rule)), "");
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];
		enum outcome outcome = rules_get_outcome(row, &report->facts.options);

		if (!text_equal(row->clock, timer) || !text_equal(row->rule, rule))
			continue;
		if (worst && worst->badness >= looks[outcome].badness)
			continue;
		worst = &looks[outcome];
		out->ink = choose_colour_of_outcome(outcome, rule);
	}
	text_put_char(out, worst ? worst->mark : ' ');
	out->ink = INK_PLAIN;
}

static bool
is_first_check_of_timer(const struct report *report, size_t index)
{
	const struct behaviour *row = &report->outcomes.behaviours.rows[index];

	for (size_t i = 0; i < index; i++)
		if (is_timer_check(&report->outcomes.behaviours.rows[i]) &&
		    text_equal(report->outcomes.behaviours.rows[i].clock, row->clock))
			return false;
	return is_timer_check(row);
}

/* Writes a matrix of the checks of timers' interrupts. It has a row for each timer, and a column for each rule. */
static void
put_outcomes_of_timers(struct text *out, const struct report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		if (!is_first_check_of_timer(report, i))
			continue;
		if (!any) {
			text_printf(out, "%-*s", TIMER_COLUMNS, "timer, irq-");
			for (size_t rule = 0; rule < TIMER_RULES; rule++)
				text_printf(out, " %s", skip_irq_prefix(timer_rules[rule]));
			text_put_char(out, '\n');
		}
		any = true;
		text_printf(out, "%-*s", TIMER_COLUMNS, report->outcomes.behaviours.rows[i].clock);
		for (size_t rule = 0; rule < TIMER_RULES; rule++)
			put_outcome_mark(out, report, report->outcomes.behaviours.rows[i].clock, timer_rules[rule]);
		table_end_line(out);
	}
	if (!any)
		return;
	text_put_char(out, '\n');
	table_put_paragraph(out, 0, "Each column is a rule: \"missing\" is irq-missing. \"+\" passed, \"!\" failed, "
				"\"?\" not determined, \"-\" not checked, blank: no such test.");
	text_put_char(out, '\n');
}

static bool
is_rule_unchecked_for(const struct report *report, size_t index, enum unchecked reason)
{
	const struct behaviour *row = &report->outcomes.behaviours.rows[index];

	return row->unchecked == reason && rules_get_outcome(row, &report->facts.options) == OUTCOME_NOT_CHECKED;
}

/*
 * Writes a paragraph on the checks that REASON prevented: WORDS, which explain the reason, and each rule with the
 * clocks that were not checked.
 */
static void
put_unchecked_rules(struct text *out, const struct report *report, enum unchecked reason, const char *words)
{
	size_t line_start = out->length, count = report->outcomes.behaviours.count;
	char bytes[UNCHECKED_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	for (size_t i = 0; i < count; i++) {
		const char *rule = report->outcomes.behaviours.rows[i].rule, *comma = "";
		bool is_first = is_rule_unchecked_for(report, i, reason);

		for (size_t before = 0; before < i; before++)
			is_first &= !is_rule_unchecked_for(report, before, reason) ||
				    !text_equal(report->outcomes.behaviours.rows[before].rule, rule);
		if (!is_first)
			continue;
		text_printf(&text, "%s%s (", text.length ? ", " : words, rule);
		for (size_t other = i; other < count; other++) {
			if (!is_rule_unchecked_for(report, other, reason) ||
			    !text_equal(report->outcomes.behaviours.rows[other].rule, rule))
				continue;
			text_printf(&text, "%s%s", comma, report->outcomes.behaviours.rows[other].clock);
			comma = ", ";
		}
		text_put(&text, ")");
	}
	if (!text.length)
		return;
	text_put(&text, ".");
	text_printf_coloured(out, INK_DIM, "%-*s", OUTCOME_COLUMNS, looks[OUTCOME_NOT_CHECKED].word);
	table_put_wrapped(out, line_start, OUTCOME_COLUMNS, bytes);
}

void
table_put_behaviours_of_clock(struct text *out, const struct report *report, const char *clock)
{
	bool any = false;

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		if (!text_equal(clock, row->clock))
			continue;
		if (!any)
			text_printf_coloured(out, INK_HEADING, "\nSpecified behaviour\n\n");
		any = true;
		put_behaviour_row(out, row, &report->facts.options);
	}
}

void
table_put_behaviours(struct text *out, const struct report *report)
{
	size_t count = report->outcomes.behaviours.count, passed = rules_count_outcomes(report, NULL, OUTCOME_PASSED);

	if (!count)
		return;
	text_printf_coloured(out, INK_HEADING, "\nSpecified behaviour\n\n");
	put_outcomes_of_timers(out, report);
	text_printf(out, "%zu of %zu tests passed%s\n", passed, count, passed == count ? "." : ". The others:");
	for (size_t i = 0; i < count; i++)
		if (rules_get_outcome(&report->outcomes.behaviours.rows[i], &report->facts.options) != OUTCOME_PASSED &&
		    !is_rule_unchecked_for(report, i, UNCHECKED_GUEST) &&
		    !is_rule_unchecked_for(report, i, UNCHECKED_NO_REFERENCE))
			put_behaviour_row(out, &report->outcomes.behaviours.rows[i], &report->facts.options);
	put_unchecked_rules(out, report, UNCHECKED_GUEST, "Cannot be judged in a guest or an emulator: ");
	put_unchecked_rules(out, report, UNCHECKED_NO_REFERENCE, "No independent reference: ");
}

/* Returns true if A and B are versions of Linux that do the same. */
static bool
do_versions_agree(const struct report_taken *a, const struct report_taken *b)
{
	return a->until && b->since && text_equal(a->clock, b->clock) && text_equal(a->reason, b->reason);
}

/* Writes the clock of each system. Neighbouring versions of Linux that do the same share a line. */
static void
put_clocks_of_systems(struct text *out, const struct report *report)
{
	const struct report_taken *rows = report->advice.taken;

	for (size_t first = 0, last; first < report->advice.taken_count; first = last + 1) {
		size_t line_start = out->length;
		struct table_sentence sentence;
		struct text *text = table_begin_sentence(&sentence);

		for (last = first; last + 1 < report->advice.taken_count &&
		     do_versions_agree(&rows[last], &rows[last + 1]); last++)
			;
		text_put(text, phrase_linux_versions(&rows[first], &rows[last]).bytes);
		if (!rows[first].safety) /* the row of programs that read the TSC is about safety, and not about a choice */
			text_printf(text, " takes %s", rows[first].clock);
		if (rows[first].read_ps)
			text_printf(text, " (%s)", phrase_read_cost(report, rows[first].read_by).bytes);
		text_printf(text, ": %s", rows[first].reason);
		text_put(out, "    ");
		table_put_wrapped(out, line_start, ADVICE_INDENT, sentence.bytes);
	}
}

void
table_put_advice(struct text *out, const struct report *report)
{
	if (!report->advice.ranking.count)
		return;
	text_printf_coloured(out, INK_HEADING, "\nClocks by preference: by Linux's rating class, then by cost\n");
	table_put_sentence(out, "The ratings are in Linux's code. Each hundred is a class, such as 200 to 299.");
	text_put_char(out, '\n');
	for (size_t i = 0; i < report->advice.ranking.count; i++) {
		size_t line_start = out->length;

		if (report->advice.ranking.rows[i].avoid)
			text_printf_coloured(out, INK_WARN, "%-*s", ADVICE_INDENT, "avoid");
		else
			text_printf(out, "%5zu. ", i + 1);
		text_printf(out, "%s: ", report->advice.ranking.rows[i].clock);
		table_put_wrapped(out, line_start, ADVICE_INDENT, report->advice.ranking.rows[i].reason);
	}
	put_clocks_of_systems(out, report);
	if (!report->advice.taken_count && report->facts.options.clocks.count)
		table_put_sentence(out, "Which clock a system takes is predicted only without the option clocks=, because "
				   "each may take a clock that the option excludes.");
	if (report->advice.tick.reason[0]) {
		size_t line_start = out->length;

		text_printf(out, "%-*s%s%s", ADVICE_INDENT, "tick",
			    report->advice.tick.source ? report->advice.tick.source : "",
			    report->advice.tick.source ? ": " : "");
		table_put_wrapped(out, line_start, ADVICE_INDENT, report->advice.tick.reason);
	}
}
