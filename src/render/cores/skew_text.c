/* Sentences on the synchronisation of the cores' TSCs. See table_cores.h. */
#include "render/cores/table_cores.h"

#include "base/scale.h"

static size_t
count_drifting_cores(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->core_count; i++)
		count += report->cores[i].drifts;
	return count;
}

static int64_t
ticks_to_ns_floor(const struct report *report, uint64_t ticks)
{
	struct scale scale = report_get_tsc_scale(report);

	return scale_ticks_to_ns_down(&scale, (int64_t)ticks);
}

static int64_t
ticks_to_ns_ceil(const struct report *report, uint64_t ticks)
{
	struct scale scale = report_get_tsc_scale(report);

	return scale_ticks_to_ns_up(&scale, (int64_t)ticks);
}

static void
put_number_of_pairs(struct text *text, const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	size_t cores = skew->first.offsets.cores, all = pair_schedule_count_pairs(skew->kind, cores);
	size_t pairs = report_get_shown_summary(report)->pairs;

	if (pairs < all)
		text_printf(text, "%zu of %zu pairs of %zu cores", pairs, all, cores);
	else if (skew->kind == PAIR_SCHEDULE_ALL)
		text_printf(text, cores == 2 ? "both cores" : "all pairs of %zu cores", cores);
	else
		text_printf(text, "the boot core with %zu other%s", cores - 1, table_plural_ending(cores - 1));
}

/* Writes which cores were compared: "all 8 cores", or a longer text if some pairs of cores were not compared. */
static void
put_compared_cores(struct text *text, const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	size_t cores = skew->first.offsets.cores;

	if (cores > 2 && skew->kind == PAIR_SCHEDULE_ALL &&
	    report_get_shown_summary(report)->pairs == pair_schedule_count_pairs(skew->kind, cores))
		text_printf(text, "all %zu cores", cores);
	else
		put_number_of_pairs(text, report);
	text_put(text, " compared");
}

/*
 * Starts the sentences on the shown measurement pass with its time. Writes nothing unless the largest possible TSC
 * difference is smaller in this pass than in the other pass.
 */
static void
put_time_of_pass(struct text *text, const struct report *report)
{
	uint64_t bound_ticks = report_get_shown_summary(report)->bound_ticks;

	if (!report->skew.last.measured || !report->skew.within_known || bound_ticks == UINT64_MAX ||
	    (uint64_t)ticks_to_ns_ceil(report, bound_ticks) >= report->skew.within_ns)
		return;
	text_put(text, " At ");
	report_put_tsc_time(text, report, report_get_shown_pass(report)->end_tsc);
	text_put_char(text, ':');
}

/*
 * Writes the offset of the worst pair of cores, the cores whose measured offsets contradict each other the most, and
 * the largest possible TSC difference of any two cores.
 */
static void
put_worst_pair_and_offset_bound(struct text *text, const struct report *report)
{
	const struct offsets_summary *summary = report_get_shown_summary(report);

	if (offset_is_known(summary->worst))
		text_printf(text, " Cores %u and %u differed by %ld to %ld ns.",
			    report_get_apic_id_of_rank(report, summary->worst_a),
			    report_get_apic_id_of_rank(report, summary->worst_b),
			    ticks_to_ns_floor(report, offset_min_abs(summary->worst)),
			    ticks_to_ns_ceil(report, offset_max_abs(summary->worst)));
	if (summary->contradictions && summary->contradiction_c == summary->contradiction_b)
		text_printf(text, " The offset of cores %u and %u contradicts other pairs or an earlier measurement by %ld ns, "
			    "the most of all.",
			    report_get_apic_id_of_rank(report, summary->contradiction_a),
			    report_get_apic_id_of_rank(report, summary->contradiction_b),
			    ticks_to_ns_ceil(report, summary->contradiction_ticks));
	else if (summary->contradictions)
		text_printf(text, " The offsets of cores %u, %u and %u from each other contradict by %ld ns, the most of all.",
			    report_get_apic_id_of_rank(report, summary->contradiction_c),
			    report_get_apic_id_of_rank(report, summary->contradiction_a),
			    report_get_apic_id_of_rank(report, summary->contradiction_b),
			    ticks_to_ns_ceil(report, summary->contradiction_ticks));
	if (summary->bound_ticks != UINT64_MAX)
		text_printf(text, " No two cores' TSCs differed by more than %ld ns.",
			    ticks_to_ns_ceil(report, summary->bound_ticks));
}

/*
 * Writes the largest possible TSC difference in each measurement pass. The larger of the two is the bound of the whole
 * run, and the table below shows only the first pass.
 */
static void
put_offset_bound_of_each_pass(struct text *text, const struct report *report)
{
	const struct report_skew *skew = &report->skew;

	text_printf(text, " Each pass has its own bound: %ld ns in the first (its offsets are below), "
		    "%ld ns in the last. The larger counts.",
		    ticks_to_ns_ceil(report, skew->first.summary.bound_ticks),
		    ticks_to_ns_ceil(report, skew->last.summary.bound_ticks));
}

static void
put_synchrony_sentences(struct text *out, const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	text_put(text, skew->text);
	if (skew->first.measured) {
		text_put(text, ": ping-pongs of ");
		put_number_of_pairs(text, report);
		text_printf(text, " (%lu in %zu round%s", skew->pingpongs, skew->rounds, table_plural_ending(skew->rounds));
		if (skew->again)
			text_printf(text, ", %lu repeated", skew->again);
		text_printf(text, ", %zu at a time), best round trip %lu ns", skew->concurrency, skew->best_trip_ns);
	}
	text_put_char(text, '.');
	if (skew->first.measured && !skew->proven) {
		put_time_of_pass(text, report);
		put_worst_pair_and_offset_bound(text, report);
	}
	if (skew->proven)
		put_offset_bound_of_each_pass(text, report);
	if (skew->first.measured && skew->kind_reason[0])
		text_printf(text, " %s", skew->kind_reason);
	table_end_sentence(out, &sentence);
}

void
table_put_synchrony(struct text *out, const struct report *report)
{
	text_put_coloured(out, INK_HEADING, "\nTSC synchronisation of the cores\n\n");
	put_synchrony_sentences(out, report);
	table_put_skew_checks(out, report);
}

void
table_put_skew_section(struct text *out, const struct report *report)
{
	table_put_synchrony(out, report);
	if (report->core_count > 1)
		table_put_skew_rows(out, report);
	if (report->skew.first.measured)
		table_put_pair_map(out, report);
}

void
table_put_skew_in_short(struct text *out, const struct report *report)
{
	size_t count = count_drifting_cores(report);

	text_put(out, report->skew.text);
	if (report->skew.proven) {
		text_put(out, ": ");
		put_compared_cores(out, report);
	}
	if (count)
		text_printf(out, "; %zu drift%s", count, table_singular_verb_ending(count));
}
