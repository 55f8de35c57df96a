/* Judges the report's figures by the rule catalogue. See judge.h. */
#include "judge/judge_internal.h"

#include "base/text.h"
#include "judge/cores/judge_cores.h"
#include "judge/timers/judge_timers.h"

/* A core that the options exclude is not missing. */
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
					  rules_full_stop(first->reason)),
			missing, limit);
}

/*
 * A finding lowers the verdict of the clock that it names. If it is about the counter, it lowers all read
 * methods' verdicts.
 */
static void
apply_findings(struct report *report)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		for (size_t c = 0; finding->clock && c < report->clock_count; c++) {
			struct report_clock *entry = &report->clocks[c];

			if (!rules_is_about(report, entry, finding->clock, finding->one_way))
				continue;
			if (entry->verdict == VERDICT_PASS ||
			    (entry->verdict == VERDICT_WARN && finding->severity == VERDICT_FAIL))
				entry->verdict = finding->severity;
		}
	}
}

/*
 * Sets the run's verdict: the first that applies of fail, incomplete, warn and pass. A fault is a fault however
 * little else was measured, so fail comes first. An incomplete run neither passes nor only warns, because the
 * missing measurements might have failed.
 */
void
judge_report(struct report *report)
{
	judge_discontinuities(report);
	if (judge_tsc_moved(report))
		report_note(report, "The TSC stepped back or jumped, so no other clock is judged by figures that it timed.");
	judge_states(report);
	judge_slow(report);
	judge_fitness(report);
	if (!judge_tsc_moved(report))
		judge_rates(report);
	judge_intervals(report);
	judge_behaviours(report);
	judge_skew(report);
	judge_synchrony(report);
	judge_adjust(report);
	judge_cores(report);
	judge_outcomes(report);
	judge_order(report);
	judge_costs(report);
	judge_quality(report);
	judge_gaps(report);
	apply_findings(report);
	if (report->incomplete && report->verdict != VERDICT_FAIL)
		report->verdict = VERDICT_INCOMPLETE;
}
