/*
 * Writes one clause on whether the cores' TSCs agree, and chooses the measurement pass that reports show. See
 * judge_cores.h.
 */
#include "judge/cores/judge_cores.h"

#include "base/text.h"
#include "report/phrase.h"

/* Result of all passes. If several apply, the first counts. */
enum synchrony {
	SYNC_ALONE,        /* no second core ran */
	SYNC_UNMEASURED,
	SYNC_OFF_MAJORITY, /* some cores differ from the majority */
	SYNC_UNDECIDED,    /* cores differ, and there is no majority */
	SYNC_CONTRADICTED, /* some pairs contradict the others */
	SYNC_UNKNOWN,      /* some offsets are unknown */
	SYNC_MOVED,        /* some pair drifted or stepped between the passes */
	SYNC_WARPED,       /* a core read less than another core had before */
	SYNC_STEPPING,     /* the TSCs of some cores step back by their own readings */
	SYNC_OPEN,         /* nothing is proven either way */
	SYNC_UNEQUAL,      /* within the limit, but two cores are proven to differ */
	SYNC_PROVEN,
};

struct core_counts { /* numbers of cores */
	size_t off_majority, stepping_back;
};

static struct core_counts
count_cores(const struct report *report)
{
	struct core_counts counts = { 0, 0 };

	for (size_t i = 0; i < report->core_count; i++) {
		counts.off_majority += report->cores[i].off_majority;
		counts.stepping_back += report->cores[i].steps_back;
	}
	return counts;
}

/* Returns the result of one pass. */
static enum synchrony
synchrony_of_pass(const struct offsets_summary *summary)
{
	if (summary->no_majority)
		return SYNC_UNDECIDED;
	if (summary->contradictions)
		return SYNC_CONTRADICTED;
	return summary->bound_ticks == UINT64_MAX ? SYNC_UNKNOWN : SYNC_PROVEN;
}

/* Returns true if only the last pass has something to report. */
static bool
is_last_pass_shown(const struct report *report)
{
	const struct report_skew *skew = &report->skew;

	if (!skew->measured || !skew->drift_measured)
		return false;
	if (count_cores(report).off_majority)
		return skew->off_tsc != skew->offsets.end_tsc;
	return synchrony_of_pass(&skew->summary) == SYNC_PROVEN && !skew->any_moved &&
	       synchrony_of_pass(&skew->latest_summary) != SYNC_PROVEN;
}

static enum synchrony
find_synchrony(const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	const struct offsets_summary *summary = report_shown_summary(report);

	if (!skew->measured)
		return report->cores_started > 1 ? SYNC_UNMEASURED : SYNC_ALONE;
	if (count_cores(report).off_majority)
		return SYNC_OFF_MAJORITY;
	if (synchrony_of_pass(summary) != SYNC_PROVEN)
		return synchrony_of_pass(summary);
	if (skew->any_moved)
		return SYNC_MOVED;
	if (report_warps(skew))
		return SYNC_WARPED;
	if (count_cores(report).stepping_back)
		return SYNC_STEPPING;
	if (!skew->synchronised)
		return SYNC_OPEN;
	return offset_excludes_zero(summary->worst) ? SYNC_UNEQUAL : SYNC_PROVEN;
}

static void
put_bounded(struct text *text, const struct report *report, const char *before, const char *after)
{
	text_printf(text, "%swithin %lu ns%s ", before, report->skew.within_ns, after);
	report_put_pass_times(text, report);
}

static void
put_clause(struct text *text, const struct report *report, enum synchrony synchrony)
{
	const struct report_skew *skew = &report->skew;
	const struct offsets *shown = report_shown_pass(report);
	struct phrase when = phrase_moment(report, (struct moment){ shown->begin_tsc, shown->end_tsc });
	size_t cores = skew->offsets.cores, pairs = report_shown_summary(report)->contradictions;
	uint64_t warps = report_warps(skew);

	switch (synchrony) {
	case SYNC_ALONE:
		text_put(text, "one core ran: there is no other TSC to compare with");
		break;
	case SYNC_UNMEASURED:
		text_put(text, "the cores' offsets were not measured");
		break;
	case SYNC_OFF_MAJORITY:
		text_printf(text, "not synchronised %s, %zu of %zu cores off the majority", when.bytes,
			    count_cores(report).off_majority, cores);
		break;
	case SYNC_UNDECIDED:
		text_printf(text, "not synchronised %s, and no majority of the %zu cores shows which are right", when.bytes, cores);
		break;
	case SYNC_CONTRADICTED:
		text_printf(text, "synchronisation not determined %s, as %zu pair%s the rest", when.bytes, pairs,
			    pairs == 1 ? " contradicts" : "s contradict");
		break;
	case SYNC_UNKNOWN:
		text_printf(text, "synchronisation not determined %s, as not every core's offset is known", when.bytes);
		break;
	case SYNC_MOVED:
		text_put(text, "not synchronised throughout the run");
		break;
	case SYNC_WARPED:
		text_printf(text, "not synchronised: %lu warp%s", warps, warps == 1 ? "" : "s");
		break;
	case SYNC_STEPPING:
		text_printf(text, "synchronisation not determined, as %zu of %zu TSCs step back",
			    count_cores(report).stepping_back, cores);
		break;
	case SYNC_OPEN:
		put_bounded(text, report, "synchronisation not determined: only ", "");
		text_put(text, skew->drift_measured ? "" : ", and not measured again");
		break;
	case SYNC_UNEQUAL:
		put_bounded(text, report, "", ", but not equal,");
		break;
	case SYNC_PROVEN:
		put_bounded(text, report, "synchronised ", "");
		break;
	}
}

void
judge_synchrony(struct report *report)
{
	struct report_skew *skew = &report->skew;
	enum synchrony found;
	struct text text;

	skew->last_shown = is_last_pass_shown(report);
	found = find_synchrony(report);
	skew->proven = found == SYNC_PROVEN;
	text_init(&text, skew->text, sizeof(skew->text));
	put_clause(&text, report, found);
}
