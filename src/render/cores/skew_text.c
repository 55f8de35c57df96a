/* Sentences on the synchronisation of the cores' TSCs. See table_cores.h. */
#include "render/cores/table_cores.h"

#include "report/phrase.h"

static void
put_number_of_pairs(struct text *text, const struct report *report)
{
	const struct report_skew *skew = &report->figures.skew;
	enum pair_schedule kind = skew->passes[0].offsets.kind;
	size_t cores = skew->passes[0].offsets.cores, all = pair_schedule_count_pairs(kind, cores);
	size_t pairs = report_get_shown_pass(report)->summary.pairs;

	if (pairs < all)
		text_printf(text, "%zu of %zu pairs of %zu cores", pairs, all, cores);
	else if (kind == PAIR_SCHEDULE_ALL)
		text_printf(text, cores == 2 ? "both cores" : "all pairs of %zu cores", cores);
	else
		text_printf(text, "the boot core with %zu other%s", cores - 1, table_plural_ending(cores - 1));
}

/* Writes which cores were compared: "all 8 cores", or a longer text if some pairs of cores were not compared. */
static void
put_compared_cores(struct text *text, const struct report *report)
{
	const struct report_pass *shown = report_get_shown_pass(report);
	size_t cores = shown->offsets.cores;

	if (cores > 2 && shown->offsets.kind == PAIR_SCHEDULE_ALL &&
	    shown->summary.pairs == pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, cores))
		text_printf(text, "all %zu cores", cores);
	else
		put_number_of_pairs(text, report);
	text_put(text, " compared");
}

/*
 * Returns true if the first clause on synchronisation is on the shown pass and names its time. Otherwise the shown pass
 * is the first.
 */
static bool
does_clause_name_time_of_pass(const struct report *report)
{
	return report_count_core_faults(report).off_majority ||
	       !offsets_are_conclusive(&report_get_shown_pass(report)->summary);
}

/* Returns true if the first clause on synchronisation names the bound for all passes. */
static bool
does_clause_name_bound(const struct report *report)
{
	return report->outcomes.sync.within_known && !does_clause_name_time_of_pass(report);
}

/*
 * Returns true if the offsets of the shown pass bound the difference of any two TSCs in this pass. A warp or a step
 * back proves that TSCs once differed by more than the ping-pongs show.
 */
static bool
is_bound_of_pass_valid(const struct report *report)
{
	return report_get_shown_pass(report)->summary.bound_ticks != UINT64_MAX &&
	       !report_count_warps(report) &&
	       !report_count_core_faults(report).stepping_back;
}

/*
 * Writes the offset of the worst pair of cores, the cores whose measured offsets contradict each other the most, and
 * the largest possible TSC difference of any two cores. The last is left out if the text has the bound already, or if
 * the bound is not valid. All are figures of the shown pass, so they name the pass if the first clause does not.
 */
static void
put_worst_pair_and_offset_bound(struct text *text, const struct report *report)
{
	const struct offsets_summary *summary = &report_get_shown_pass(report)->summary;
	struct offset worst_ns = report_offset_to_ns(report, summary->worst);
	bool must_name_pass = report->figures.skew.pass_count > 1 && !does_clause_name_time_of_pass(report);
	uint64_t contradiction_ns = (uint64_t)report_ticks_to_ns(report, summary->contradiction_ticks).low;
	uint32_t a = report_get_apic_id_of_rank(report, summary->contradiction_a);
	uint32_t b = report_get_apic_id_of_rank(report, summary->contradiction_b);
	uint32_t c = report_get_apic_id_of_rank(report, summary->contradiction_c);

	if (offset_is_known(worst_ns))
		text_printf(text, " %s %u and %u differed by %s.",
			    must_name_pass ? "In the first pass, cores" : "Cores",
			    report_get_apic_id_of_rank(report, summary->worst_a),
			    report_get_apic_id_of_rank(report, summary->worst_b),
			    phrase_duration_range(offset_min_abs(worst_ns), offset_max_abs(worst_ns)).bytes);
	if (summary->contradictions && b == c)
		text_printf(text, " The offset of cores %u and %u contradicts other pairs or an earlier measurement by %lu ns, "
			    "the most of all.", a, b, contradiction_ns);
	else if (summary->contradictions)
		text_printf(text, " The offsets of cores %u, %u and %u from each other contradict by %lu ns, the most of all.",
			    c, a, b, contradiction_ns);
	if (is_bound_of_pass_valid(report) && !does_clause_name_bound(report))
		text_printf(text, " %s two cores' TSCs differed by more than %lu ns.",
			    must_name_pass ? "In the first pass, no" : "No",
			    report_get_bound_of_pass_ns(report, report_get_shown_pass(report)));
}

/*
 * Writes the largest possible TSC difference in each measurement pass. The larger of the two is the bound of the whole
 * run, and the table below shows only the first pass.
 */
static void
put_offset_bound_of_each_pass(struct text *text, const struct report *report)
{
	text_printf(text, " Each pass has its own bound: %s in the first (its offsets are below), %s in the last. The "
		    "larger counts.",
		    phrase_bound_ns(report_get_bound_of_pass_ns(report, report->figures.skew.passes)).bytes,
		    phrase_bound_ns(report_get_bound_of_pass_ns(report, report_get_last_pass(report))).bytes);
}

static void
put_synchrony_sentences(struct text *out, const struct report *report)
{
	const struct report_skew *skew = &report->figures.skew;
	const struct report_pass *first = skew->passes;
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	text_put(text, report->outcomes.sync.text);
	if (skew->pass_count) {
		text_put(text, ": ping-pongs of ");
		put_number_of_pairs(text, report);
		if (first->rounds > 1)
			text_printf(text, " in %zu rounds, %zu pair%s at a time", first->rounds, first->concurrency,
				    table_plural_ending(first->concurrency));
		if (first->again)
			text_printf(text, ", %lu ping-pong%s repeated", first->again, table_plural_ending(first->again));
		text_printf(text, "; best round trip: %lu ns", skew->best_trip_ns);
	}
	text_put_char(text, '.');
	if (skew->pass_count > 1 && does_clause_name_bound(report))
		put_offset_bound_of_each_pass(text, report);
	if (skew->pass_count && !report->outcomes.sync.proven)
		put_worst_pair_and_offset_bound(text, report);
	if (skew->pass_count && skew->kind_reason[0])
		text_printf(text, " %s", skew->kind_reason);
	table_end_sentence(out, &sentence);
}

void
table_put_synchrony(struct text *out, const struct report *report)
{
	text_printf_coloured(out, INK_HEADING, "\nTSC synchronisation of the cores\n\n");
	put_synchrony_sentences(out, report);
	table_put_skew_checks(out, report);
}

void
table_put_skew_section(struct text *out, const struct report *report)
{
	table_put_synchrony(out, report);
	if (report->facts.core_count > 1)
		table_put_skew_rows(out, report);
	if (report->figures.skew.pass_count)
		table_put_pair_map(out, report);
}

void
table_put_skew_in_short(struct text *out, const struct report *report)
{
	struct core_faults faults = report_count_core_faults(report);
	size_t drifting = faults.drifting - faults.stepped;

	text_put(out, report->outcomes.sync.text);
	if (report->outcomes.sync.proven) {
		text_put(out, ": ");
		put_compared_cores(out, report);
	}
	if (drifting)
		text_printf(out, "; %zu drift%s", drifting, table_singular_verb_ending(drifting));
	if (faults.stepped)
		text_printf(out, "; %zu stepped", faults.stepped);
}
