/*
 * Judges the cores' TSCs against each other: warps, offsets, drifts and contradictions. One fault gives one finding. A
 * core that drifts has no finding on its offset. A warp has no finding if an offset, a drift or a step back of one of
 * its two cores explains it. Contradictions have no finding if any core drifts.
 */
#include "judge/cores/judge_cores.h"
#include "judge/cores/tsc_sync.h"

#define SUBJECT_SIZE 64 /* bytes for "of cores 4294967295, 4294967295 and 4294967295" */
#define NS_PER_MS 1000000
#define AT_MS     100 /* a longer measurement is reported as "between" two times */

void
skew_set_distance(struct finding *finding, struct distance distance, uint64_t limit)
{
	int64_t near = distance.near > INT64_MAX ? INT64_MAX : (int64_t)distance.near;

	rules_set_figure(finding, near, near,
			 distance.far > INT64_MAX ? INT64_MAX : (int64_t)distance.far, limit);
}

const char *
skew_put_rest(char rest[SKEW_REST_SIZE], size_t count, size_t off)
{
	struct text text;

	text_init(&text, rest, SKEW_REST_SIZE);
	if (count == SKEW_NAMED_MAX && off > count)
		text_printf(&text, " %zu more core%s: the same.", off - count,
			    off - count == 1 ? "" : "s");
	return rest;
}

/* The time of a measurement in ns since the run's start: the earliest possible start and the latest possible end. */
struct stretch {
	uint64_t begin_ns, end_ns;
};

static struct stretch
stretch_ns(const struct view *view, struct moment moment)
{
	return (struct stretch){ report_run_time_ns(view->report, moment.begin_tsc),
				 report_run_time_ns_max(view->report, moment.end_tsc) };
}

static bool
is_long(struct stretch stretch)
{
	return stretch.end_ns / NS_PER_MS >= stretch.begin_ns / NS_PER_MS + AT_MS;
}

void
skew_put_time(struct text *text, const struct view *view, struct moment moment)
{
	struct stretch stretch = stretch_ns(view, moment);

	if (is_long(stretch)) {
		report_put_run_time(text, stretch.begin_ns);
		text_put(text, " to ");
	}
	report_put_run_time(text, stretch.end_ns);
}

const char *
skew_put_moment(const struct view *view, struct moment moment, char moments[SKEW_MOMENTS_SIZE])
{
	struct stretch stretch = stretch_ns(view, moment);
	struct text text;

	text_init(&text, moments, SKEW_MOMENTS_SIZE);
	if (is_long(stretch)) {
		text_put(&text, "between ");
		report_put_run_time(&text, stretch.begin_ns);
		text_put(&text, " and ");
	} else {
		text_put(&text, "at ");
	}
	report_put_run_time(&text, stretch.end_ns);
	return moments;
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
	if (view->skew->drift_measured && view_drift_ppb(view, a, b).near > view->drift_limit_ppb)
		return true;
	return view_core(view, a)->drifts || view_core(view, b)->drifts || view_core(view, a)->off_majority ||
	       view_core(view, b)->off_majority || view_pair_ns(view, a, b).near > view->offset_limit_ns;
}

/* Returns true if the check found warps, and nothing explains the worst one. */
static bool
has_unexplained_warps(const struct view *view, const struct report_contended *contended)
{
	return contended->measured && contended->warps && !steps_back(view->report, contended->worst_a) &&
	       !steps_back(view->report, contended->worst_b) &&
	       !is_warp_explained(view, find_rank(view, contended->worst_a), find_rank(view, contended->worst_b));
}

static uint64_t
saturating_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

struct warps {
	uint64_t count, iterations;
	const struct report_contended *worst; /* NULL if there are none */
};

/* Adds up the warps of both warp checks: the explained ones if EXPLAINED, otherwise the others. */
static struct warps
warps_of(const struct report *report, const struct view *view, bool explained)
{
	const struct report_contended *checks[] = { &report->skew.locked, &report->skew.lock_free };
	struct warps found = { 0, 0, NULL };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!checks[i]->measured || !checks[i]->warps || has_unexplained_warps(view, checks[i]) == explained)
			continue;
		found.count = saturating_sum(found.count, checks[i]->warps);
		found.iterations = saturating_sum(found.iterations, checks[i]->iterations);
		if (!found.worst || checks[i]->worst_ticks > found.worst->worst_ticks)
			found.worst = checks[i];
	}
	return found;
}

static void
judge_warps(struct report *report, const struct view *view)
{
	const struct warps warps = warps_of(report, view, false);
	const struct report_contended *worst = warps.worst;
	uint64_t limit = rules_limit_of(report, "tsc-warp");
	struct finding *finding;

	if (!worst || warps.count <= limit)
		return;
	finding = rules_add_finding(report, "tsc-warp", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC read up to %lu ns (%lu ticks) more than core %u's did "
				    "after it; %lu warp%s in %lu iterations.",
				    worst->worst_a, worst->worst_ns, worst->worst_ticks, worst->worst_b,
				    warps.count, warps.count == 1 ? "" : "s", warps.iterations);
	rules_set_count(finding, warps.count, limit);
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
mention_warps(struct report *report, const struct view *view)
{
	const struct report_contended *checks[] = { &report->skew.locked, &report->skew.lock_free };
	const struct warps warps = warps_of(report, view, true);
	const struct report_contended *worst = warps.worst;
	uint64_t iterations = 0;
	bool starved = false;
	struct finding *finding;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!checks[i]->measured)
			continue;
		iterations = saturating_sum(iterations, checks[i]->iterations);
		starved |= checks[i]->starved;
	}
	finding = find_cause(report, worst);
	if (!finding || (!worst && warps_of(report, view, false).worst))
		return;
	if (worst && worst->worst_a == worst->worst_b)
		rules_add_text(finding, " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the worst "
			       "%lu ns: core %u read less than it had before. These steps are their likely cause.",
			       warps.count, warps.iterations, worst->worst_ns, worst->worst_a);
	else if (worst)
		rules_add_text(finding, " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the worst "
			       "%lu ns, core %u ahead of core %u%s.",
			       warps.count, warps.iterations, worst->worst_ns, worst->worst_a, worst->worst_b,
			       finding == find_steps_back(report) ? "; these steps are their likely cause" : "");
	else if (!iterations)
		rules_add_text(finding, " Whether there are warps (tsc-warp) was not measured.");
	else
		rules_add_text(finding, " No warp was seen (tsc-warp) in %lu iterations under contention%s.", iterations,
			       starved ? ", of which a core got too few" : "");
}

/* Writes "core 1 and core 2", or "of cores 0, 1 and 2" if nothing shows which pair of the three is wrong. */
static const char *
put_contradicting(const struct view *view, const struct offsets_summary *summary, char subject[SUBJECT_SIZE])
{
	uint32_t a = view_core(view, summary->contradiction_a)->apic_id,
		 b = view_core(view, summary->contradiction_b)->apic_id;
	struct text text;

	text_init(&text, subject, SUBJECT_SIZE);
	if (summary->contradiction_c == summary->contradiction_b)
		text_printf(&text, "core %u and core %u", a, b);
	else
		text_printf(&text, "of cores %u, %u and %u", view_core(view, summary->contradiction_c)->apic_id, a, b);
	return subject;
}

/* Returns the time from the first to the last measurement of the pairs that the finding names. */
static struct moment
moment_of_contradiction(const struct view *view, const struct offsets_summary *summary)
{
	size_t a = summary->contradiction_a, b = summary->contradiction_b, c = summary->contradiction_c;
	struct moment all = view_pass_time(view, a, b);

	for (size_t i = 0; i < 2 && c != b; i++) {
		struct moment other = view_pass_time(view, c, i ? b : a);

		all.begin_tsc = other.begin_tsc < all.begin_tsc ? other.begin_tsc : all.begin_tsc;
		all.end_tsc = other.end_tsc > all.end_tsc ? other.end_tsc : all.end_tsc;
	}
	return all;
}

static bool
any_steps_back(const struct view *view, const struct offsets_summary *summary)
{
	return view_core(view, summary->contradiction_a)->steps_back ||
	       view_core(view, summary->contradiction_b)->steps_back ||
	       view_core(view, summary->contradiction_c)->steps_back;
}

static const char *
put_contradictions(const struct view *view, const struct offsets_summary *summary, char clause[REPORT_SENTENCE])
{
	bool many = summary->contradictions != 1;
	char moments[SKEW_MOMENTS_SIZE], subject[SUBJECT_SIZE];
	struct text text;

	text_init(&text, clause, REPORT_SENTENCE);
	text_printf(&text, "%zu pair%s of cores contradict%s the other pairs, or an earlier measurement, the worst %s, "
		    "by %lu ns %s", summary->contradictions, many ? "s" : "", many ? "" : "s",
		    put_contradicting(view, summary, subject), view_ns_floor(view, summary->contradiction_ticks),
		    skew_put_moment(view, moment_of_contradiction(view, summary), moments));
	return clause;
}

/*
 * Adds a finding if there are more contradictions than the limit allows. If a core that steps back explains them, adds
 * a sentence to its finding instead. Returns true in both cases.
 */
static bool
judge_contradictions(struct report *report, const struct view *view, const struct offsets_summary *summary)
{
	uint64_t limit = rules_limit_of(report, "tsc-contradiction");
	size_t a = summary->contradiction_a, b = summary->contradiction_b, c = summary->contradiction_c;
	struct finding *finding, *cause = find_steps_back(report);
	char clause[REPORT_SENTENCE];

	if (summary->contradictions <= limit)
		return false;
	put_contradictions(view, summary, clause);
	if (cause && any_steps_back(view, summary)) {
		rules_add_text(cause, " Likely for this reason, %s (tsc-contradiction).", clause);
		return true;
	}
	finding = rules_add_finding(report, "tsc-contradiction", "tsc", REPORT_NO_CORE,
				    "%s: likely a TSC moved while it was measured.", clause);
	rules_set_count(finding, summary->contradictions, limit);
	rules_set_pair(finding, view_core(view, a)->apic_id, view_core(view, b)->apic_id);
	if (c != b)
		rules_add_core(finding, view_core(view, c)->apic_id);
	return true;
}

static void
judge_passes(struct report *report, const struct view *view)
{
	size_t said = report->finding_count;
	struct view latest;
	bool contradicted = false;

	skew_judge_offsets(report, view);
	skew_judge_drifts(report, view);
	if (!report->skew.any_moved)
		contradicted = judge_contradictions(report, view, &report->skew.summary);
	skew_judge_latest(report, view, report->finding_count > said);
	latest = view_last_pass(view);
	if (report->finding_count == said && !contradicted)
		judge_contradictions(report, &latest, &report->skew.latest_summary);
}

void
judge_skew(struct report *report)
{
	struct view view = view_analyse(report);

	judge_warps(report, &view);
	if (report->skew.measured)
		judge_passes(report, &view);
	mention_warps(report, &view);
}
