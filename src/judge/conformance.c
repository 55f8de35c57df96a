/*
 * Judges the failed checks of devices, timers and firmware, whether the TSC's resolution is good enough, and whether
 * other clocks can confirm the TSC's rate. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/firmware/judge_firmware.h"
#include "judge/timers/judge_timers.h"
#include "report/phrase.h"

/* Returns the fault of the first finding on RULE and a read method of the TSC, or no fault. */
static struct rule_fault
find_fault_of_tsc_reads(const struct report *report, const char *rule)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (text_equal(finding->rule, rule) && finding->clock && text_begins_with(finding->clock, "tsc"))
			return rules_get_fault(finding);
	}
	return rules_get_fault(NULL);
}

/*
 * Returns the words on a fault of the TSC that makes ROW's figure unreliable, or NULL, and sets FAULT. Steps back do
 * not explain the TSC's own loss of time in sleep: sleep_findings.c compares the two.
 */
static const char *
find_fault_of_tsc(const struct report *report, const struct behaviour *row, struct rule_fault *fault)
{
	bool is_tsc = text_equal(row->clock, "tsc"), has_jumped = judge_count_jumps_of_clock(report, "tsc");

	/* the change of a register, which needs the TSC's rate only */
	if (text_equal(row->rule, "tsc-adjust-sleeps") && report->figures.tsc.den)
		return NULL;
	if (is_tsc ? has_jumped : judge_has_tsc_stepped_or_jumped(report)) {
		*fault = find_fault_of_tsc_reads(report, has_jumped ? "clock-jumped" : "clock-backward");
		return ", but the test was timed by a TSC that stepped back or jumped";
	}
	if (!report->figures.tsc.den) {
		*fault = rules_get_fault(NULL);
		return ", but the test was timed by a TSC whose rate is not known";
	}
	*fault = rules_get_fault(rules_find_finding(report, "clocks-parted", NULL));
	return judge_has_tsc_diverged(report) ?
	       ", but the test was timed by a TSC that diverged from all other clocks in this run" : NULL;
}

/*
 * Withdraws the failure of ROW, whose figure the TSC timed, if another fault explains the figure: one of the table
 * explanations, or a fault of the TSC.
 */
static void
withdraw_explained_failure(const struct report *report, struct behaviour *row)
{
	struct rule_fault cause;
	const struct explanation *pair = rules_find_explanation(report, row, &cause);
	const char *words = pair ? pair->words : find_fault_of_tsc(report, row, &cause);
	struct phrase sentence = phrase("The result is %ld %s", row->measured, rules_find(row->rule)->unit);

	if (!words)
		return;
	row->checked = row->open = pair && !pair->unchecked;
	row->unchecked = UNCHECKED_OTHER;
	row->explained_by = cause;
	if (pair && pair->rule)
		sentence = phrase("%.*s", (int)text_length(row->text) - 1, row->text); /* without its full stop */
	phrase_add(&sentence, "%s", words);
	if (pair && pair->raises_limit)
		phrase_add(&sentence, " by up to %lu ppm", offset_max_abs(cause.figure));
	behaviour_set_text(row, "%s.", sentence.bytes);
}

/* Returns the number of rows from FROM on that failed the same rule of the same clock. A rule may have many checks. */
static size_t
count_failures_of_same_rule(const struct report *report, size_t from)
{
	const struct behaviour *rows = report->outcomes.behaviours.rows;
	size_t count = 0;

	for (size_t i = from; i < report->outcomes.behaviours.count; i++)
		count += text_equal(rows[i].rule, rows[from].rule) &&
			 text_equal(rows[i].clock, rows[from].clock) && rules_has_check_failed(report, &rows[i]);
	return count;
}

/* Returns a phrase with the cores on which ROW's rule failed, or "" if it failed on all. */
static struct phrase
describe_failed_cores(const struct behaviour *row)
{
	if (!row->cores || row->cores == row->cores_asked)
		return (struct phrase){ "" };
	if (row->cores > 1)
		return phrase(" on %u of %u cores, most often on core %u", row->cores, row->cores_asked, row->core);
	return phrase(" on core %u, one of %u cores", row->core, row->cores_asked);
}

/* Adds a finding on the failed row I, and on further rows that failed the same rule of the same clock. */
static void
add_finding_for_failed_row(const struct report *report, struct outcomes *outcomes, size_t i)
{
	const struct behaviour *row = &report->outcomes.behaviours.rows[i];
	size_t further = count_failures_of_same_rule(report, i) - 1;
	struct phrase more = { "" };
	struct finding *finding;

	if (further)
		more = phrase(" %zu more check%s of this rule failed.", further, further == 1 ? "" : "s");
	finding = rules_add_finding(report, outcomes, row->rule, row->clock, rules_get_failed_core(row),
				    "%s%s: %s%s", row->clock, describe_failed_cores(row).bytes, row->text, more.bytes);
	if (row->has_figure)
		rules_set_figure(finding, row->measured, row->low, row->high);
}

/* Adds one finding for each rule and clock that failed. */
void
judge_checks(const struct report *report, struct outcomes *outcomes)
{
	judge_timer_tests(report, outcomes);
	judge_firmware_times(report, outcomes);
	judge_sleep_states(report, outcomes);
	for (size_t i = 0; i < outcomes->behaviours.count; i++) {
		struct behaviour *row = &outcomes->behaviours.rows[i];

		if (row->has_figure && rules_has_check_failed(report, row))
			withdraw_explained_failure(report, row);
	}
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		if (rules_has_check_failed(report, row) && !rules_find_finding(report, row->rule, row->clock))
			add_finding_for_failed_row(report, outcomes, i);
	}
}

static void
judge_tsc_resolution(const struct report *report, struct outcomes *outcomes, const struct report_clock *tsc)
{
	uint64_t limit_ns = rules_get_limit_by_id(report, "tsc-step");
	uint64_t step_ps = report_clock_ticks_to_ps(report, tsc, tsc->resolution.gcd_ticks);

	if (!tsc->resolution.steps || step_ps / PS_PER_NS <= limit_ns)
		return;
	rules_set_count(rules_add_finding(report, outcomes, "tsc-step", "tsc", REPORT_NO_CORE,
					  "The TSC's resolution is %lu ticks, which are %lu ns.",
					  tsc->resolution.gcd_ticks, step_ps / PS_PER_NS),
			step_ps / PS_PER_NS);
}

/*
 * Returns true if CLOCK can confirm the TSC's rate, or could if it were present. It must have a frequency that does not
 * come from the TSC.
 */
static bool
can_clock_confirm_tsc_rate(const struct clock *clock)
{
	return !text_equal(clock->id, "tsc") && !clock->by_tsc && (clock->state != CLOCK_PRESENT || clock->claimed.den);
}

static void
judge_presence_of_reference_clocks(const struct report *report, struct outcomes *outcomes)
{
	size_t possible = 0, present = 0;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (!report_clock_is_main_of_device(entry) || !can_clock_confirm_tsc_rate(&entry->clock))
			continue;
		possible++;
		present += entry->clock.state == CLOCK_PRESENT;
	}
	if (possible && !present)
		rules_add_finding(report, outcomes, "no-reference", NULL, REPORT_NO_CORE,
				  "None of %zu clocks that could confirm the TSC's rate is present and "
				  "running.", possible);
}

void
judge_tsc_fitness(const struct report *report, struct outcomes *outcomes)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");

	if (tsc)
		judge_tsc_resolution(report, outcomes, tsc);
	/* A hypervisor that may migrate its guest hides this CPUID bit, so 0 is no fault in a guest. */
	if (tsc && tsc->monotonic.reads && !report->facts.machine.tsc_is_invariant &&
	    !report_is_guest(report))
		rules_add_finding(report, outcomes, "tsc-not-invariant", "tsc", REPORT_NO_CORE,
				  "CPUID 80000007h EDX[8] is 0: the TSC is not reported as invariant.");
	judge_presence_of_reference_clocks(report, outcomes);
}
