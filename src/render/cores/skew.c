/* The cores' TSCs against one another, in sentences. See table_cores.h. */
#include "table_cores.h"

#include "scale.h"

/* What the tournaments say as a whole; the first that holds. */
enum synchrony {
	SYNC_ALONE,        /* no second core ran */
	SYNC_UNMEASURED,
	SYNC_OFF_MAJORITY, /* some are off it */
	SYNC_UNDECIDED,    /* not equal, and there is no majority */
	SYNC_CONTRADICTED, /* by pairs that don't fit the rest */
	SYNC_UNKNOWN,      /* the offset of some is not known */
	SYNC_MOVED,        /* some pair drifted or stepped from the first to the last */
	SYNC_WARPED,       /* a core read less than another one had before */
	SYNC_OPEN,         /* nothing is proven against it, and too little for it */
	SYNC_UNEQUAL,      /* bounded, and yet two are proven unequal */
	SYNC_PROVEN,
};

static size_t
off_majority(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->core_count; i++)
		count += report->cores[i].off_majority;
	return count;
}

static size_t
drifting(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->core_count; i++)
		count += report->cores[i].drifts;
	return count;
}

static enum synchrony
synchrony(const struct report *report)
{
	const struct offsets_summary *summary = &report->skew.summary;

	if (!report->skew.measured)
		return report->cores_started > 1 ? SYNC_UNMEASURED : SYNC_ALONE;
	if (off_majority(report)) /* whichever tournament shows it */
		return SYNC_OFF_MAJORITY;
	if (summary->no_majority)
		return SYNC_UNDECIDED;
	if (summary->contradictions)
		return SYNC_CONTRADICTED;
	if (summary->bound_ticks == UINT64_MAX)
		return SYNC_UNKNOWN;
	if (report->skew.any_moved || report->skew.latest_summary.no_majority || report->skew.latest_summary.contradictions)
		return SYNC_MOVED;
	if (report_warps(&report->skew))
		return SYNC_WARPED;
	if (!report->skew.synchronised)
		return SYNC_OPEN;
	return offset_excludes_zero(summary->worst) ? SYNC_UNEQUAL : SYNC_PROVEN;
}

static uint32_t
apic_id(const struct report *report, size_t rank)
{
	return report->cores[report->skew.core_of[rank]].apic_id;
}

static int64_t
ns_down(const struct report *report, uint64_t ticks)
{
	struct scale scale = report_scale(report);

	return scale_ns_down(&scale, (int64_t)ticks);
}

static int64_t
ns_up(const struct report *report, uint64_t ticks)
{
	struct scale scale = report_scale(report);

	return scale_ns_up(&scale, (int64_t)ticks);
}

/* What holds at the first tournament. */
static void
put_first(struct text *text, const struct report *report)
{
	text_put(text, " at ");
	report_put_moment(text, report, report->skew.offsets.end_tsc);
}

static void
put_open(struct text *text, const struct report *report)
{
	text_put(text, "synchronisation not determined: at best ");
	if (report->skew.within_known)
		text_printf(text, "within %lu ns ", report->skew.within_ns);
	report_put_tournaments(text, report);
	if (!report->skew.drift_measured)
		text_put(text, ", and not measured again");
}

static void
put_clause(struct text *text, const struct report *report)
{
	const struct offsets_summary *summary = &report->skew.summary;
	size_t cores = report->skew.offsets.cores;

	switch (synchrony(report)) {
	case SYNC_ALONE:
		text_put(text, "one core ran: there is no other TSC to compare with");
		break;
	case SYNC_UNMEASURED:
		text_put(text, "the cores' offsets were not measured");
		break;
	case SYNC_UNDECIDED:
		text_put(text, "not synchronised");
		put_first(text, report);
		text_printf(text, ", and no majority of the %zu cores shows which are right", cores);
		break;
	case SYNC_OFF_MAJORITY:
		text_put(text, "not synchronised at ");
		report_put_moment(text, report, report->skew.off_tsc);
		text_printf(text, ", %zu of %zu cores off the majority", off_majority(report), cores);
		break;
	case SYNC_CONTRADICTED:
		text_put(text, "synchronisation not determined");
		put_first(text, report);
		text_printf(text, ", as %zu pair%s contradict%s the rest", summary->contradictions,
			    table_plural(summary->contradictions), table_singular(summary->contradictions));
		break;
	case SYNC_UNKNOWN:
		text_put(text, "synchronisation not determined");
		put_first(text, report);
		text_put(text, ", as not every core's offset is known");
		break;
	case SYNC_MOVED:
		text_put(text, "not synchronised throughout the run");
		break;
	case SYNC_WARPED:
		text_printf(text, "not synchronised: %lu warp%s", report_warps(&report->skew),
			    table_plural(report_warps(&report->skew)));
		break;
	case SYNC_OPEN:
		put_open(text, report);
		break;
	case SYNC_UNEQUAL:
		text_printf(text, "within %lu ns, but not equal, ", report->skew.within_ns);
		report_put_tournaments(text, report);
		break;
	case SYNC_PROVEN:
		text_printf(text, "synchronised within %lu ns ", report->skew.within_ns);
		report_put_tournaments(text, report);
		break;
	}
}

static void
put_pairs(struct text *text, const struct report_skew *skew)
{
	size_t cores = skew->offsets.cores, all = tournament_pairs(skew->kind, cores);

	if (skew->summary.pairs < all)
		text_printf(text, "%zu of %zu pairs of %zu cores", skew->summary.pairs, all, cores);
	else if (skew->kind == TOURNAMENT_ALL)
		text_printf(text, "all pairs of %zu cores", cores);
	else
		text_printf(text, "the boot core with %zu other%s", cores - 1, table_plural(cores - 1));
}

/* By how much the worst pair differs, what contradicts, and what all of it leaves open. */
static void
put_distances(struct text *text, const struct report *report)
{
	const struct offsets_summary *summary = &report->skew.summary;

	if (offset_is_known(summary->worst))
		text_printf(text, " Cores %u and %u differed by %ld to %ld ns.", apic_id(report, summary->worst_a),
			    apic_id(report, summary->worst_b), ns_down(report, offset_nearest(summary->worst)),
			    ns_up(report, offset_farthest(summary->worst)));
	if (summary->contradictions && summary->contradiction_c == summary->contradiction_b)
		text_printf(text, " Cores %u and %u contradicted the rest the most, by %ld ns.",
			    apic_id(report, summary->contradiction_a), apic_id(report, summary->contradiction_b),
			    ns_up(report, summary->contradiction_ticks));
	else if (summary->contradictions)
		text_printf(text, " Cores %u, %u and %u contradicted each other the most, by %ld ns.",
			    apic_id(report, summary->contradiction_c), apic_id(report, summary->contradiction_a),
			    apic_id(report, summary->contradiction_b), ns_up(report, summary->contradiction_ticks));
	if (summary->bound_ticks != UINT64_MAX)
		text_printf(text, " No two differed by more than %ld ns.", ns_up(report, summary->bound_ticks));
}

static void
put_synchrony(struct text *out, const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	struct table_sentence sentence;
	struct text *text = table_sentence(&sentence);

	put_clause(text, report);
	if (skew->measured) {
		text_put(text, ": ping-pongs of ");
		put_pairs(text, skew);
		text_printf(text, " (%lu in %zu round%s", skew->pingpongs, skew->rounds, table_plural(skew->rounds));
		if (skew->again)
			text_printf(text, ", %lu repeated", skew->again);
		text_printf(text, ", %zu at a time), best round trip %lu ns", skew->concurrency, skew->best_trip_ns);
	}
	text_put_char(text, '.');
	if (skew->measured && synchrony(report) != SYNC_PROVEN)
		put_distances(text, report);
	if (skew->measured && skew->kind_reason[0])
		text_printf(text, " %s", skew->kind_reason);
	table_sentence_end(out, &sentence);
}

void
table_synchrony(struct text *out, const struct report *report)
{
	text_put_inked(out, INK_HEADING, "\nTSC synchronisation of the cores\n\n");
	put_synchrony(out, report);
	table_skew_checks(out, report);
}

void
table_skew(struct text *out, const struct report *report)
{
	table_synchrony(out, report);
	if (report->core_count > 1)
		table_skew_rows(out, report);
	if (report->skew.measured)
		table_map(out, report);
}

void
table_skew_in_short(struct text *out, const struct report *report)
{
	size_t count = drifting(report);

	put_clause(out, report);
	if (report->skew.measured && synchrony(report) == SYNC_PROVEN) {
		text_put(out, ": ");
		put_pairs(out, &report->skew);
	}
	if (count)
		text_printf(out, "; %zu drift%s", count, table_singular(count));
}
