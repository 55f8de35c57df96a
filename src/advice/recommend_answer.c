/* The answer: the report in two short lines, for readers who read nothing else. See recommend.h. */
#include "advice/recommend.h"

#include "base/number.h"
#include "base/text.h"
#include "rules/rules.h"

/* maximum number of failed clocks that the answer's text names; advice.answer.wrong has all of them */
#define NAMED_MAX 3

/* Lists the clocks that failed. A failed counter is listed once, by its main clock. */
static void
list_failed_clocks(const struct report *report, struct advice *advice)
{
	struct report_answer *answer = &advice->answer;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i],
						   *main = report_find_clock(report, entry->clock.main);

		if (report->outcomes.clocks[i].verdict == VERDICT_FAIL &&
		    (!main || main == entry || report_get_clock_outcome(report, main)->verdict != VERDICT_FAIL))
			answer->wrong[answer->wrong_count++] = entry->clock.id;
	}
}

/* Finds the best clock. A clock with a caveat is not suited for everything, so it does not count. */
static void
set_best_clock_of_answer(const struct report *report, struct advice *advice)
{
	for (size_t i = 0; i < advice->ranking.count && !advice->answer.clock; i++) {
		const struct report_ranked *row = &advice->ranking.rows[i];
		const struct report_clock *entry = report_find_clock(report, row->clock);

		if (row->avoid || !entry || entry->clock.caveat)
			continue;
		advice->answer.clock = row->clock;
		advice->answer.read_ps = (uint64_t)recommend_get_read_cost_ps(report,
					recommend_get_kernel_read_row(report, row->clock)).value;
	}
}

static bool
have_cores_failed(const struct report *report)
{
	return rules_find_finding(report, "tsc-warp", NULL) || rules_find_finding(report, "tsc-offset", NULL) ||
	       rules_find_finding(report, "tsc-drift", NULL);
}

/*
 * Returns true if the recommended clock is the TSC, the machine has several cores, and it is not proven that their TSCs
 * agree.
 */
static bool
is_clock_good_for_one_core_only(const struct report *report)
{
	const struct report_answer *answer = &report->advice.answer;

	return report->facts.machine.cores_listed > 1 && answer->clock && text_equal(answer->clock, "tsc") &&
	       !answer->within_known;
}

static bool
is_linux_row(const struct report_taken *row)
{
	return row->since || row->until;
}

/* Returns why Linux takes the clock of ROW instead of the recommended clock, as the end of a sentence. */
static const char *
explain_other_choice_of_linux(const struct report *report, const struct report_taken *row)
{
	const struct report_clock *taken = report_find_clock(report, row->clock);

	if (taken && report_get_clock_outcome(report, taken)->verdict == VERDICT_FAIL)
		return ", although it failed";
	if (!report->advice.answer.clock)
		return "";
	if (!text_equal(report->advice.answer.clock, "tsc"))
		return ", by its ratings";
	if (row->blamed)
		return row->blames == TAKEN_BLAMES_WRONG ? ": it marks the TSC unstable, but another clock is wrong" :
		       ": it marks the TSC unstable";
	return report->facts.machine.linux_distrusts_tsc ? ": CPUID reports no invariant TSC" : ", by its ratings";
}

/* Writes the versions of the rows FIRST to LAST; after the first group, the word Linux is left out. */
static void
put_linux_versions(struct text *text, const struct report_taken *first, const struct report_taken *last, bool leads)
{
	if (leads)
		text_put(text, phrase_linux_versions(first, last).bytes);
	else if (!last->until)
		text_put(text, "newer ones");
	else
		text_printf(text, "%s", first->system + sizeof("Linux ") - 1);
}

/* Writes what a read costs Linux, unless it reads the recommended clock by the method whose cost is already written. */
static void
put_cost_for_linux(struct text *text, const struct report *report, const struct report_taken *row)
{
	const char *clock = report->advice.answer.clock;

	if (row->read_ps && !(clock && text_equal(row->read_by, recommend_get_kernel_read_row(report, clock))))
		text_printf(text, " (%s)", phrase_read_cost(report, row->read_by).bytes);
}

/*
 * Writes which clock Linux takes, and why, as in "Linux takes hpet (152 ns): CPUID reports no invariant TSC." Versions
 * that differ have separate parts of the sentence, as in "Linux before 6.12 takes hpet (152 ns), newer ones tsc: ..."
 */
static void
put_clocks_of_linux(struct text *text, const struct report *report)
{
	const struct report_taken *rows = report->advice.taken, *other = NULL;
	size_t count = 0;

	while (count < report->advice.taken_count && is_linux_row(&rows[count]))
		count++;
	if (!count)
		return;
	bool agree = true;
	for (size_t i = 1; i < count; i++)
		agree = agree && text_equal(rows[i].clock, rows[0].clock);
	if (agree && report->advice.answer.clock && text_equal(report->advice.answer.clock, rows[0].clock)) {
		text_put(text, is_clock_good_for_one_core_only(report) ? " Linux takes it on all cores" :
			 " Linux takes it, too");
		put_cost_for_linux(text, report, &rows[count - 1]);
		text_put_char(text, '.');
		return;
	}
	for (size_t first = 0, last; first < count; first = last + 1) {
		for (last = first; last + 1 < count && text_equal(rows[last + 1].clock, rows[first].clock); last++)
			;
		text_put(text, first ? ", " : " ");
		put_linux_versions(text, &rows[first], &rows[last], !first);
		text_put(text, first ? " " : " takes ");
		text_put(text, rows[first].clock);
		put_cost_for_linux(text, report, &rows[first]);
		if (!other &&
		    !(report->advice.answer.clock && text_equal(rows[first].clock, report->advice.answer.clock)))
			other = &rows[first];
	}
	if (other)
		text_put(text, explain_other_choice_of_linux(report, other));
	text_put_char(text, '.');
}

static void
put_recommended_clock(struct text *text, const struct report *report)
{
	const struct report_answer *answer = &report->advice.answer;
	bool one_core = is_clock_good_for_one_core_only(report);

	if (!answer->clock) {
		text_put(text, report->advice.ranking.count ? "No clock is fit for timing." : "No clock was measured.");
	} else {
		const char *warning = recommend_find_first_rule_against(report, answer->clock, VERDICT_WARN);
		const char *row = recommend_get_kernel_read_row(report, answer->clock);

		text_printf(text, "Use %s%s", answer->clock, one_core ? " within one core" : "");
		if (answer->read_ps)
			text_printf(text, ": %s a read", phrase_read_cost(report, row).bytes);
		if (warning)
			text_printf(text, "; see the warning %s", warning);
		text_put_char(text, '.');
	}
	put_clocks_of_linux(text, report);
}

/*
 * Writes how many warnings there are. A clock with a warning, such as an inexact rate, still counts as healthy. The
 * only warning is not repeated if it is on the recommended clock, because put_recommended_clock() names it.
 */
static void
put_number_of_warnings(struct text *text, const struct report *report)
{
	const char *clock = report->advice.answer.clock;
	const char *rule = NULL;
	size_t count = 0;

	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		if (report->outcomes.findings[i].severity != VERDICT_WARN)
			continue;
		rule = report->outcomes.findings[i].rule;
		count++;
	}
	if (count == 1 && !(clock && rules_find_finding(report, rule, clock)))
		text_printf(text, " There is a warning: %s.", rule);
	else if (count > 1)
		text_printf(text, " There are %zu warnings.", count);
}

/*
 * Returns true if clocks have no clock of another source to compare their rates with, and no other rate was decided. In
 * a guest, all clocks may be fast or slow together (WSL issue 11790: by 7 %).
 */
static bool
do_all_rates_lack_reference(const struct report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		if (!text_equal(row->rule, "rate-off") && !text_equal(row->rule, "rate-wrong") &&
		    !text_equal(row->rule, "pv-rate"))
			continue;
		if (row->checked && rules_get_outcome(row, &report->facts.options) != OUTCOME_NOT_DETERMINED)
			return false;
		any |= !row->checked && row->unchecked == UNCHECKED_NO_REFERENCE;
	}
	return any;
}

static void
put_failed_clocks(struct text *text, const struct report *report)
{
	const struct report_answer *answer = &report->advice.answer;

	if (!answer->wrong_count) {
		text_put(text, report->facts.run.incomplete ? " No clock failed, but not everything was measured." :
			 rules_find_finding(report, "clocks-parted", NULL) ? " No clock is proven wrong, but the clocks diverged." :
			 answer->no_reference ? " No clock failed, but nothing independent confirms their rates." :
			 " No clock failed.");
		put_number_of_warnings(text, report);
		return;
	}
	text_put(text, " Failed: ");
	for (size_t i = 0; i < answer->wrong_count && i < NAMED_MAX; i++)
		text_printf(text, "%s%s", i ? ", " : "", answer->wrong[i]);
	if (answer->wrong_count > NAMED_MAX)
		text_printf(text, " and %zu more", answer->wrong_count - NAMED_MAX);
	text_put_char(text, '.');
}

/* Writes the bound within which the cores' TSCs agree. If only one pass is exact, writes the bound of each pass. */
static void
put_bound_of_cores(struct text *text, const struct report *report)
{
	const struct report_skew *skew = &report->figures.skew;
	const struct report_pass *exact = &skew->passes[report->outcomes.sync.exact];
	const struct report_pass *other = report->outcomes.sync.exact ? skew->passes : report_get_last_pass(report);
	bool all = report->facts.machine.cores_started == report->facts.machine.cores_listed;

	if (all)
		text_put(text, " The cores' TSCs");
	else
		text_printf(text, " The TSCs of %u of %u cores", report->facts.machine.cores_started,
			    report->facts.machine.cores_listed);
	text_printf(text, " agree within %s", phrase_bound_ns(report->advice.answer.within_ns).bytes);
	if (report->outcomes.sync.one_is_exact)
		text_printf(text, " at %s, and within %s at %s", phrase_tsc_time(report, exact->offsets.end_tsc).bytes,
			    phrase_bound_ns(report_get_bound_of_pass_ns(report, other)).bytes,
			    phrase_tsc_time(report, other->offsets.end_tsc).bytes);
	text_put(text, all ? "." : "; the other cores were not started.");
}

static void
put_agreement_of_cores(struct text *text, const struct report *report)
{
	if (report->facts.machine.cores_listed < 2 ||
	    (report->facts.machine.cores_started < 2 && !report->advice.answer.clock))
		return;
	if (have_cores_failed(report))
		text_put(text, " The cores' TSCs do not agree.");
	else if (report->facts.machine.cores_started < 2)
		text_printf(text, " The cores' TSCs were not compared: only one of %u cores was started.",
			    report->facts.machine.cores_listed);
	else if (!report->figures.skew.pass_count)
		text_put(text, " The cores' TSCs were not compared.");
	else if (report->advice.answer.within_known)
		put_bound_of_cores(text, report);
	else
		text_printf(text, " Whether the cores' TSCs agree is not determined: see their synchronisation. %s",
			    report->facts.run.incomplete ? "Let the run end." : "Run again on an idle machine.");
}

void
recommend_write_answer(const struct report *report, struct advice *advice)
{
	const struct sync_outcome *sync = &report->outcomes.sync;
	struct report_answer *answer = &advice->answer;

	*answer = (struct report_answer){ .linux_takes = answer->linux_takes };
	list_failed_clocks(report, advice);
	set_best_clock_of_answer(report, advice);
	answer->no_reference = do_all_rates_lack_reference(report);
	if (!have_cores_failed(report) && sync->within_known && (sync->synchronised || sync->one_is_exact)) {
		answer->within_known = true;
		answer->within_ns = sync->one_is_exact ?
				    report_get_bound_of_pass_ns(report, &report->figures.skew.passes[sync->exact]) :
				    sync->within_ns;
	}
	struct text text = text_start(answer->text, sizeof(answer->text));
	put_recommended_clock(&text, report);
	put_failed_clocks(&text, report);
	put_agreement_of_cores(&text, report);
}
