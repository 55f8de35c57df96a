/* Judges the report's figures by the rule catalogue. See judge.h. */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/cores/judge_cores.h"

/*
 * A core must start within 1 s and finish a job within 2 s. A healthy core needs a small part of that time. A host that
 * steals half of all time (LATE_STOLEN_SHARE), or a second at once (LATE_GAP_NS), can make it miss these limits.
 */
#define LATE_STOLEN_SHARE 2
#define LATE_GAP_NS       UINT64_C(1000000000)

/* Returns true if the host stole enough time from the observed cores to explain why a core answered too late. */
static bool
can_host_delay_cores(const struct report_interference *all)
{
	return all->measured &&
	       (all->worst_ns >= LATE_GAP_NS || all->total_ns >= all->observed_ns / LATE_STOLEN_SHARE);
}

/*
 * Adds a row with the result "not determined" for LATE cores that a busy host may have delayed. FIRST is the first of
 * these cores.
 */
static void
add_row_on_late_cores(const struct report *report, struct outcomes *outcomes, uint64_t late,
		      const struct report_core *first)
{
	const struct report_interference *all = &report->figures.interference;
	struct behaviour *row = late ? behaviour_add_row(&outcomes->behaviours, "core-missing",
							 BEHAVIOUR_OF_MACHINE) : NULL;

	if (!row)
		return;
	row->checked = row->open = true;
	behaviour_set_text(row,
			   "%lu of %zu cores did not answer in time, the first is core %u. %s %% of the observed time was "
			   "stolen, up to %lu ms at once, so the host may have run them too late. Run again on an idle "
			   "host.",
			   late, report->facts.core_count, first->apic_id,
			   number_as_percent(all->total_ns, all->observed_ns, 1).text, all->worst_ns / NS_PER_MS);
}

/* Judges cores that did not start or stopped answering. A core that the options exclude is not missing. */
static void
judge_missing_cores(const struct report *report, struct outcomes *outcomes)
{
	uint64_t limit = rules_get_limit_by_id(report, "core-missing");
	const struct report_core *first[2] = { NULL, NULL };
	uint64_t missing[2] = { 0, 0 }; /* number of missing cores, and of cores that the host may have delayed */

	if (report->facts.options.cores.method == CORES_OFF)
		return;
	for (size_t i = 0; i < report->facts.core_count && i < report->facts.options.cores.max; i++) {
		const struct report_core *core = &report->facts.cores[i];
		bool delayed = core->timed_out && can_host_delay_cores(&report->figures.interference);

		if (core->started && !core->reason[0])
			continue;
		if (!missing[delayed]++)
			first[delayed] = core;
	}
	add_row_on_late_cores(report, outcomes, missing[1], first[1]);
	if (missing[0] <= limit)
		return;
	rules_set_count(rules_add_finding(report, outcomes, "core-missing", NULL, first[0]->apic_id,
					  "%lu of %zu cores %s missing; the first is core %u%s%s%s", missing[0],
					  report->facts.core_count, missing[0] == 1 ? "is" : "are", first[0]->apic_id,
					  first[0]->reason[0] ? ": " : "", first[0]->reason,
					  rules_get_missing_full_stop(first[0]->reason)),
			missing[0]);
}

/* Sorts the findings: failures first, then warnings. Findings of equal severity keep their order. */
static void
sort_findings(struct outcomes *outcomes)
{
	struct finding *findings = outcomes->findings;

	for (size_t i = 1; i < outcomes->finding_count; i++) {
		struct finding finding = findings[i];
		size_t at = i;

		for (; at && finding.severity == VERDICT_FAIL && findings[at - 1].severity != VERDICT_FAIL; at--)
			findings[at] = findings[at - 1];
		findings[at] = finding;
	}
}

/*
 * Returns the verdict of ENTRY's clock. A stuck or broken clock fails, whichever rule it breaks. A finding on a counter
 * counts for all read methods of this counter, but not for a clock that is absent or was never read.
 */
static enum verdict
find_verdict_of_clock(const struct report *report, const struct report_clock *entry)
{
	bool was_read = entry->monotonic.reads || (entry->latency && entry->latency->count);

	if (entry->clock.state == CLOCK_STUCK || entry->clock.state == CLOCK_BROKEN || judge_find_broken_rule(report, entry))
		return VERDICT_FAIL;
	if (entry->clock.state != CLOCK_PRESENT)
		return VERDICT_ABSENT;
	if (!was_read)
		return VERDICT_INCOMPLETE;
	for (size_t i = 0; i < report->outcomes.finding_count; i++) { /* failures come first */
		const struct finding *finding = &report->outcomes.findings[i];

		if (rules_does_finding_apply_to_clock(report, entry, finding->clock, finding->one_way))
			return finding->severity;
	}
	return VERDICT_PASS;
}

/*
 * The run's verdict is the first that applies of fail, incomplete, warn and pass. A proven fault counts even if little
 * else was measured, so fail comes first. An incomplete run can neither pass nor warn, because a missing measurement
 * might have failed.
 */
void
judge_set_verdicts(const struct report *report, struct outcomes *outcomes)
{
	sort_findings(outcomes);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		outcomes->clocks[i].verdict = find_verdict_of_clock(report, &report->facts.clocks[i]);
	outcomes->verdict = outcomes->finding_count ? outcomes->findings[0].severity : VERDICT_PASS;
	if (report->facts.run.incomplete && outcomes->verdict != VERDICT_FAIL)
		outcomes->verdict = VERDICT_INCOMPLETE;
}

/* Clears OUTCOMES, except the addresses of its arrays. */
static void
clear_outcomes(const struct report *report, struct outcomes *outcomes)
{
	struct sync_outcome sync = { .cores = outcomes->sync.cores, .moved = outcomes->sync.moved };

	for (size_t i = 0; i < REPORT_PASSES; i++)
		sync.passes[i].off = outcomes->sync.passes[i].off;
	__builtin_memset(outcomes, 0, sizeof(*outcomes));
	outcomes->sync = sync;
	for (size_t i = 0; i < report->facts.core_count; i++)
		sync.cores[i] = (struct core_outcome){ .off_majority = false };
}

void
judge_report(const struct report *report, struct outcomes *outcomes)
{
	clear_outcomes(report, outcomes);
	outcomes->behaviours = report->facts.checks;
	for (size_t i = 0; i < report->facts.table_problems.count; i++)
		rules_add_finding(report, outcomes, "acpi-table", NULL, REPORT_NO_CORE, "%s",
				  report->facts.table_problems.sentences[i]);
	judge_discontinuities(report, outcomes);
	judge_announcements_of_disruptions(report, outcomes);
	judge_reported_stolen_time(report, outcomes);
	if (judge_has_tsc_stepped_or_jumped(report))
		notes_add(&outcomes->notes, "The TSC stepped back or jumped, so no other clock is judged by figures that the "
			  "TSC timed.");
	judge_clock_states(report, outcomes);
	judge_slow_clocks(report, outcomes);
	judge_contended_reads(report, outcomes);
	judge_tsc_fitness(report, outcomes);
	judge_claims(report, outcomes);
	if (!judge_has_tsc_stepped_or_jumped(report))
		judge_rates(report, outcomes);
	judge_add_claim_findings(report, outcomes);
	judge_checks(report, outcomes);
	judge_offsets_and_warps(report, outcomes);
	judge_tsc_adjust(report, outcomes);
	judge_missing_cores(report, outcomes);
	judge_complete_behaviour_rows(report, outcomes);
	judge_set_verdicts(report, outcomes);
	judge_note_reads_with_vm_exit(report, outcomes);
	judge_timing_quality(report, outcomes);
	judge_note_stolen_time(report, outcomes);
}
