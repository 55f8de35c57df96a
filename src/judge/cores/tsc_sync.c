/*
 * Judges the cores' TSCs against each other: warps, offsets, drifts and contradictions. One fault gives one finding. A
 * core that drifts has no finding on its offset. A warp has no finding if an offset, a drift or a step back of one of
 * its two cores explains it. Contradictions have no finding if any core drifts.
 */
#include "judge/cores/judge_cores.h"
#include "judge/cores/tsc_sync.h"

void
skew_set_size(struct finding *finding, struct offset offset, uint64_t limit)
{
	int64_t low = (int64_t)offset_min_size(offset), high = (int64_t)offset_max_size(offset);

	rules_set_figure(finding, low, low, high, limit);
}

struct phrase
skew_rest(size_t count, size_t off)
{
	if (count < SKEW_NAMED_MAX || off <= count)
		return (struct phrase){ "" };
	return phrase(" %zu more core%s: the same.", off - count, off - count == 1 ? "" : "s");
}

/* Returns the rank of the core with APIC_ID; the number of ranks if there is none. */
static size_t
find_rank(const struct view *view, uint32_t apic_id)
{
	size_t i = 0;

	while (i < view->skew->offsets.cores && view_core(view, i)->apic_id != apic_id)
		i++;
	return i;
}

/* Returns true if the TSC of the core of APIC_ID steps back by its own readings. */
static bool
steps_back(const struct report *report, uint32_t apic_id)
{
	for (size_t i = 0; i < report->core_count; i++)
		if (report->cores[i].apic_id == apic_id)
			return report->cores[i].steps_back;
	return false;
}

/*
 * Returns true if a finding on core A or B explains a warp between them. A proven offset or drift between the two also
 * explains it, although the finding may be on a pair that is worse.
 */
static bool
is_warp_explained(const struct view *view, size_t a, size_t b)
{
	size_t cores = view->skew->offsets.cores;

	if (a >= cores || b >= cores)
		return false;
	if (view->skew->drift_measured && offset_min_size(view_drift(view, a, b)) > view->drift_limit_ppb)
		return true;
	return view_core(view, a)->drifts || view_core(view, b)->drifts || view_core(view, a)->off_majority ||
	       view_core(view, b)->off_majority || offset_min_size(view_offset(view, a, b)) > view->offset_limit_ns;
}

/* Returns true if the judged offsets, drifts and steps back explain the worst warp that the check found. */
static bool
are_warps_explained(const struct view *view, const struct report_contended *check)
{
	return steps_back(view->report, check->worst_a) || steps_back(view->report, check->worst_b) ||
	       is_warp_explained(view, find_rank(view, check->worst_a), find_rank(view, check->worst_b));
}

struct warps {
	uint64_t count, iterations;
	const struct report_contended *worst; /* NULL if there are none */
};

/* The results of both warp checks. */
struct warp_checks {
	struct warps unexplained, explained;
	uint64_t iterations;
	bool starved; /* true if a core got too few turns in one of them */
};

static struct warp_checks
sum_up_warps(const struct report *report, const struct view *view)
{
	const struct report_contended *checks[] = { &report->skew.locked, &report->skew.lock_free };
	struct warp_checks all = { .iterations = 0 };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const struct report_contended *check = checks[i];
		struct warps *warps;

		if (!check->measured)
			continue;
		all.iterations += check->iterations;
		all.starved |= check->starved;
		if (!check->warps)
			continue;
		warps = are_warps_explained(view, check) ? &all.explained : &all.unexplained;
		warps->count += check->warps;
		warps->iterations += check->iterations;
		if (!warps->worst || check->worst_ticks > warps->worst->worst_ticks)
			warps->worst = check;
	}
	return all;
}

static void
judge_warps(struct report *report, const struct warps *warps)
{
	const struct report_contended *worst = warps->worst;
	uint64_t limit = rules_limit_of(report, "tsc-warp");
	struct finding *finding;

	if (!worst || warps->count <= limit)
		return;
	finding = rules_add_finding(report, "tsc-warp", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC read up to %lu ns (%lu ticks) more than core %u's did "
				    "after it; %lu warp%s in %lu iterations.",
				    worst->worst_a, worst->worst_ns, worst->worst_ticks, worst->worst_b,
				    warps->count, warps->count == 1 ? "" : "s", warps->iterations);
	rules_set_count(finding, warps->count, limit);
	rules_set_pair(finding, worst->worst_a, worst->worst_b);
}

/* Returns the finding of the cores whose TSC steps back, NULL if there is none. */
static struct finding *
find_steps_back(struct report *report)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		struct finding *finding = &report->findings[i];

		if (text_equal(finding->rule, "clock-backward") && text_equal(finding->clock, "tsc") &&
		    (finding->core != REPORT_NO_CORE || finding->core_count))
			return finding;
	}
	return NULL;
}

/*
 * Returns the finding that explains a warp of WORST, or NULL. The steps back of one of the two cores come first. Next
 * is the first offset or drift that names one of them, then any offset or drift. WORST may be NULL.
 */
static struct finding *
find_cause(struct report *report, const struct report_contended *worst)
{
	struct finding *first = NULL;

	if (worst && (steps_back(report, worst->worst_a) || steps_back(report, worst->worst_b)))
		return find_steps_back(report);
	for (size_t i = 0; i < report->finding_count; i++) {
		struct finding *finding = &report->findings[i];

		if (!text_equal(finding->rule, "tsc-offset") && !text_equal(finding->rule, "tsc-drift"))
			continue;
		if (worst && (rules_has_core(finding, worst->worst_a) || rules_has_core(finding, worst->worst_b)))
			return finding;
		first = first ? first : finding;
	}
	return first;
}

/*
 * Adds a sentence on warps to the finding that explains them: how many there were, that there were none, or that the
 * checks were not made.
 */
static void
mention_warps(struct report *report, const struct warp_checks *checks)
{
	const struct warps *warps = &checks->explained;
	const struct report_contended *worst = warps->worst;
	struct finding *finding = find_cause(report, worst);

	if (!finding || (!worst && checks->unexplained.worst))
		return;
	if (worst && worst->worst_a == worst->worst_b)
		rules_add_text(finding, " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the worst "
			       "%lu ns: core %u read less than it had before. These steps are their likely cause.",
			       warps->count, warps->iterations, worst->worst_ns, worst->worst_a);
	else if (worst)
		rules_add_text(finding, " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the worst "
			       "%lu ns, core %u ahead of core %u%s.",
			       warps->count, warps->iterations, worst->worst_ns, worst->worst_a, worst->worst_b,
			       finding == find_steps_back(report) ? "; these steps are their likely cause" : "");
	else if (!checks->iterations)
		rules_add_text(finding, " Whether there are warps (tsc-warp) was not measured.");
	else
		rules_add_text(finding, " No warp was seen (tsc-warp) in %lu iterations under contention%s.", checks->iterations,
			       checks->starved ? ", of which a core got too few" : "");
}

/* The worst contradiction of a pass. C is equal to B unless a pair of C may be wrong instead. */
struct contradiction {
	const struct report_core *a, *b, *c;
	struct moment moment; /* from the first to the last measurement of the pairs among these cores */
};

static struct contradiction
find_contradiction(const struct view *view, const struct offsets_summary *summary)
{
	size_t a = summary->contradiction_a, b = summary->contradiction_b, c = summary->contradiction_c;
	struct moment moment = view_pass_time(view, a, b);

	if (c != b)
		moment = moment_hull(moment, moment_hull(view_pass_time(view, c, a), view_pass_time(view, c, b)));
	return (struct contradiction){ view_core(view, a), view_core(view, b), view_core(view, c), moment };
}

static struct phrase
contradictions_phrase(const struct view *view, const struct offsets_summary *summary, const struct contradiction *worst)
{
	bool many = summary->contradictions != 1;
	struct phrase subject = phrase("core %u and core %u", worst->a->apic_id, worst->b->apic_id);

	if (worst->c != worst->b)
		subject = phrase("of cores %u, %u and %u", worst->c->apic_id, worst->a->apic_id, worst->b->apic_id);
	return phrase("%zu pair%s of cores contradict%s the other pairs, or an earlier measurement, the worst %s, "
		      "by %lu ns %s",
		      summary->contradictions, many ? "s" : "", many ? "" : "s", subject.bytes,
		      (uint64_t)view_size_ns(view, summary->contradiction_ticks).low,
		      phrase_moment(view->report, worst->moment).bytes);
}

/*
 * Adds a finding if there are more contradictions than the limit allows. If a core that steps back explains them, adds
 * a sentence to its finding instead. Returns true in both cases.
 */
static bool
judge_contradictions(struct report *report, const struct view *view, const struct offsets_summary *summary)
{
	uint64_t limit = rules_limit_of(report, "tsc-contradiction");
	struct finding *finding, *cause = find_steps_back(report);
	struct contradiction worst;
	struct phrase clause;

	if (summary->contradictions <= limit)
		return false;
	worst = find_contradiction(view, summary);
	clause = contradictions_phrase(view, summary, &worst);
	if (cause && (worst.a->steps_back || worst.b->steps_back || worst.c->steps_back)) {
		rules_add_text(cause, " Likely for this reason, %s (tsc-contradiction).", clause.bytes);
		return true;
	}
	finding = rules_add_finding(report, "tsc-contradiction", "tsc", REPORT_NO_CORE,
				    "%s: likely a TSC moved while it was measured.", clause.bytes);
	rules_set_count(finding, summary->contradictions, limit);
	rules_set_pair(finding, worst.a->apic_id, worst.b->apic_id);
	if (worst.c != worst.b)
		rules_add_core(finding, worst.c->apic_id);
	return true;
}

static void
judge_passes(struct report *report, const struct view *first, const struct view *last)
{
	size_t before = report->finding_count;
	bool contradicted = false;

	skew_judge_offsets(report, first);
	skew_judge_drifts(report, first);
	if (!report->skew.any_moved)
		contradicted = judge_contradictions(report, first, &report->skew.summary);
	if (report->finding_count > before)
		skew_judge_moved(report, first, last);
	else
		skew_judge_offsets(report, last);
	if (report->finding_count == before && !contradicted)
		judge_contradictions(report, last, &report->skew.latest_summary);
}

void
judge_skew(struct report *report)
{
	struct view first, last;
	struct warp_checks warps;

	view_analyse(report, &first, &last);
	warps = sum_up_warps(report, &first);
	judge_warps(report, &warps.unexplained);
	if (report->skew.measured)
		judge_passes(report, &first, &last);
	mention_warps(report, &warps);
}
