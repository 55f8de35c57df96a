/*
 * Writes one clause on whether the cores' TSCs agree, and chooses the measurement pass that reports show. See
 * judge_cores.h.
 */
#include "judge/cores/judge_cores.h"

#include "base/text.h"
#include "report/phrase.h"

/* Returns true if all offsets of a pass are known and consistent, and show which cores are right. */
static bool
are_offsets_conclusive(const struct offsets_summary *summary)
{
	return !summary->no_majority && !summary->contradictions && summary->bound_ticks != UINT64_MAX;
}

/*
 * Returns true if reports show the last pass instead of the first. This is so if only the last pass shows cores that
 * differ from the majority, or if only the last pass is not conclusive.
 */
static bool
is_last_pass_shown(const struct report *report)
{
	const struct report_skew *skew = &report->skew;

	if (!skew->first.measured || !skew->last.measured)
		return false;
	if (skew->off_tsc)
		return skew->off_tsc != skew->first.offsets.end_tsc;
	return are_offsets_conclusive(&skew->first.summary) && !skew->any_moved &&
	       !are_offsets_conclusive(&skew->last.summary);
}

static void
put_bound_of_offsets(struct text *text, const struct report *report, const char *before, const char *after)
{
	text_printf(text, "%swithin %lu ns%s ", before, report->skew.within_ns, after);
	report_put_pass_times(text, report);
}

/*
 * Writes a clause on the pass that is shown, if it proves that the cores differ or does not show whether they do. OFF
 * is the number of cores that differ from the majority.
 */
static void
put_clause_on_shown_pass(struct text *text, const struct report *report, size_t off)
{
	const struct offsets_summary *summary = report_get_shown_summary(report);
	const struct offsets *shown = report_get_shown_pass(report);
	struct phrase when = phrase_at_or_between(report, (struct moment){ shown->begin_tsc, shown->end_tsc });
	size_t cores = shown->cores;

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
	const struct report_skew *skew = &report->skew;
	const struct offsets_summary *summary = report_get_shown_summary(report);
	uint64_t warps = report_count_warps(skew);
	size_t off = 0, stepping_back = 0;

	for (size_t i = 0; i < report->core_count; i++) {
		off += report->cores[i].off_majority;
		stepping_back += report->cores[i].steps_back;
	}
	if (!skew->first.measured && report->cores_started > 1) {
		text_put(text, "the cores' offsets were not measured");
	} else if (!skew->first.measured) {
		text_put(text, "one core ran: there is no other TSC to compare with");
	} else if (off || !are_offsets_conclusive(summary)) {
		put_clause_on_shown_pass(text, report, off);
	} else if (skew->any_moved) {
		text_put(text, "not synchronised throughout the run");
	} else if (warps) {
		text_printf(text, "not synchronised: %lu warp%s", warps, warps == 1 ? "" : "s");
	} else if (stepping_back) {
		text_printf(text, "synchronisation not determined, as %zu of %zu TSCs step back", stepping_back,
			    skew->first.offsets.cores);
	} else if (!skew->synchronised) {
		put_bound_of_offsets(text, report, "synchronisation not determined: only ", "");
		text_put(text, skew->last.measured ? "" : ", and not measured again");
	} else if (offset_excludes_zero(summary->worst)) {
		put_bound_of_offsets(text, report, "", ", but not equal,");
	} else {
		put_bound_of_offsets(text, report, "synchronised ", "");
		return true;
	}
	return false;
}

void
judge_summarize_synchrony(struct report *report)
{
	struct report_skew *skew = &report->skew;
	struct text text;

	skew->last_shown = is_last_pass_shown(report);
	text_init(&text, skew->text, sizeof(skew->text));
	skew->proven = put_synchrony_clause(&text, report);
}
