/*
 * Writes one clause on whether the cores' TSCs agree, and chooses the measurement pass that reports show. See
 * judge_cores.h.
 */
#include "judge/cores/judge_cores.h"

#include "base/text.h"
#include "report/phrase.h"

/*
 * Returns the index of the pass that reports show. It is the last pass if only the last pass shows cores that differ
 * from the majority, or if only the last pass is not conclusive.
 */
static size_t
choose_shown_pass(const struct report *report)
{
	const struct report_pass *first = report->figures.skew.passes, *last = report_get_last_pass(report);

	if (report_get_pass_outcome(report, first)->marks_cores)
		return 0;
	if (report_get_pass_outcome(report, last)->marks_cores ||
	    (offsets_are_conclusive(&first->summary) && !report->outcomes.sync.any_moved &&
	     !offsets_are_conclusive(&last->summary)))
		return (size_t)(last - first);
	return 0;
}

static void
put_bound_of_offsets(struct text *text, const struct report *report, const char *before, const char *after)
{
	text_printf(text, "%swithin %s%s %s", before, phrase_bound_ns(report->outcomes.sync.within_ns).bytes, after,
		    phrase_pass_times(report).bytes);
}

/*
 * Writes a clause on the pass that is shown, if it proves that the cores differ or does not show whether they do. OFF
 * is the number of cores that differ from the majority.
 */
static void
put_clause_on_shown_pass(struct text *text, const struct report *report, size_t off)
{
	const struct offsets_summary *summary = &report_get_shown_pass(report)->summary;
	const struct offsets *offsets = &report_get_shown_pass(report)->offsets;
	struct phrase when = phrase_at_or_between(report, (struct moment){ offsets->begin_tsc, offsets->end_tsc });
	size_t cores = offsets->cores;

	if (off)
		text_printf(text, "not synchronised %s, %zu of %zu cores differ%s from the majority", when.bytes, off,
			    cores, off == 1 ? "s" : "");
	else if (summary->no_majority)
		text_printf(text, "not synchronised %s, and no majority of the %zu cores shows which are right", when.bytes,
			    cores);
	else if (summary->contradictions)
		text_printf(text, "synchronisation not determined %s, as %zu pair%s the other pairs", when.bytes,
			    summary->contradictions, summary->contradictions == 1 ? " contradicts" : "s contradict");
	else
		text_printf(text, "synchronisation not determined %s, as not every core's offset is known", when.bytes);
}

/*
 * Writes the first clause on synchronisation that applies. Returns true if the TSCs are synchronised and none is proven
 * to differ.
 */
static bool
put_synchrony_clause(struct text *text, const struct report *report)
{
	const struct report_skew *skew = &report->figures.skew;
	const struct offsets_summary *summary = &report_get_shown_pass(report)->summary;
	struct core_faults faults = report_count_core_faults(report);
	uint64_t warps = report_count_warps(report);

	if (!skew->pass_count && report->facts.machine.cores_started > 1) {
		text_put(text, "the cores' offsets were not measured");
	} else if (!skew->pass_count) {
		text_put(text, "one core ran: there is no other TSC to compare with");
	} else if (faults.off_majority || !offsets_are_conclusive(summary)) {
		put_clause_on_shown_pass(text, report, faults.off_majority);
	} else if (report->outcomes.sync.any_moved) {
		text_put(text, "not synchronised throughout the run");
	} else if (warps) {
		text_printf(text, "not synchronised: %lu warp%s", warps, warps == 1 ? "" : "s");
	} else if (faults.stepping_back) {
		text_printf(text, "synchronisation not determined, as %zu of %zu TSCs step back", faults.stepping_back,
			    skew->passes[0].offsets.cores);
	} else if (!report->outcomes.sync.synchronised) {
		put_bound_of_offsets(text, report, "synchronisation not determined: only ", "");
		text_put(text, skew->pass_count > 1 ? "" : ", and not measured again");
	} else if (offset_excludes_zero(summary->worst)) {
		put_bound_of_offsets(text, report, "", ", but not equal,");
	} else {
		put_bound_of_offsets(text, report, "synchronised ", "");
		return true;
	}
	return false;
}

void
judge_summarize_synchrony(const struct report *report, struct outcomes *outcomes)
{
	outcomes->sync.shown = choose_shown_pass(report);
	struct text text = text_start(outcomes->sync.text, sizeof(outcomes->sync.text));
	outcomes->sync.proven = put_synchrony_clause(&text, report);
}
