/*
 * Judges the cores' TSCs against each other: warps, offsets, drifts, and contradictions (offsets of several pairs that
 * cannot all be right). One fault gives one finding. A core that drifts has no finding on its offset. A warp has no
 * finding if an offset, a drift or a step back of one of its two cores explains it. Contradictions have no finding if
 * any core drifts.
 */
#include "judge/cores/judge_cores.h"
#include "judge/cores/offset_analysis.h"

#include "base/text.h"
#include "report/phrase.h"
#include "rules/rules.h"

/* maximum number of findings of one rule; the last finding states the number of further faulty cores */
#define NAMED_MAX 4
#define UNDECIDED_WORDS "and nothing shows which of them is right."

/* Sets the figure of FINDING to the size of OFFSET. */
static void
set_figure_to_offset_size(struct finding *finding, struct offset offset)
{
	int64_t low = (int64_t)offset_min_abs(offset), high = (int64_t)offset_max_abs(offset);

	rules_set_figure(finding, low, low, high);
}

/*
 * Returns the end of the text of finding number COUNT. At most NAMED_MAX of OFF faulty cores get a finding. The last
 * finding ends with the number of the other faulty cores; the ends of the other findings are "".
 */
static struct phrase
describe_other_faulty_cores(size_t count, size_t off)
{
	if (count < NAMED_MAX || off <= count)
		return (struct phrase){ "" };
	return phrase(" %zu more core%s: the same.", off - count, off - count == 1 ? "" : "s");
}

/* ---- offsets ---- */

/* Returns the probable cause of an offset against OTHER, a core of the majority. */
static struct phrase
describe_cause_of_offset(const struct report *report, const struct report_pass *pass, size_t other)
{
	if (report_get_pass_outcome(report, pass)->no_majority)
		return phrase("%s", UNDECIDED_WORDS);
	return phrase("unlike the majority, which includes core %u: likely the %s", report_get_apic_id_of_rank(report, other),
		      report_is_guest(report) ? "hypervisor set a different TSC offset." :
		      "firmware wrote the TSC, or a later reset cleared it.");
}

/*
 * Adds a finding on SUBJECT, whose distance from the core OTHER was measured in MOMENT. NAMED is the core that the
 * finding names, or REPORT_NO_CORE.
 */
static struct finding *
add_offset_finding(const struct report *report, struct outcomes *outcomes, const struct report_pass *pass,
		   uint32_t named, const char *subject, struct offset distance, size_t other, struct moment moment,
		   const char *end)
{
	const char *name = pass == report->figures.skew.passes ? " (first pass)" : " (last pass)";
	struct finding *finding;

	finding = rules_add_finding(report, outcomes, "tsc-offset", "tsc", named, "%s %s %s core %u's %s%s, %s", subject,
				    phrase_duration_range(offset_min_abs(distance), offset_max_abs(distance)).bytes,
				    distance.low > 0 ? "ahead of" : "behind", report_get_apic_id_of_rank(report, other),
				    phrase_at_or_between(report, moment).bytes,
				    report->figures.skew.pass_count > 1 ? name : "", end);
	set_figure_to_offset_size(finding, distance);
	rules_set_difference(finding, distance.low > 0 ? DIFFERENCE_AHEAD : DIFFERENCE_BEHIND,
			     report_get_apic_id_of_rank(report, other), moment);
	return finding;
}

/* Returns true if the cores that differ from the majority are exactly the cores of PACKAGE. */
static bool
do_cores_off_majority_form_package(const struct report *report, const struct report_pass *pass, uint32_t package)
{
	for (size_t i = 0; i < pass->offsets.cores; i++) {
		const struct report_core *core = report_get_core_of_rank(report, i);

		if (!core->facts_known || !core->facts.has_topology ||
		    (core->facts.package == package) != report_get_pass_outcome(report, pass)->off[i])
			return false;
	}
	return true;
}

/* A group of cores that all differ from the majority in the same direction. */
struct group {
	size_t count, first;    /* number of its cores, and the first of them */
	size_t other;           /* the core of the majority that is furthest from FIRST */
	struct offset distance; /* the range that contains the distance of each core of the group from OTHER */
	struct moment moment;   /* the time interval in which the distances of all cores of the group were measured */
	/* true if all cores of the group are proven to differ from OTHER in the same direction */
	bool one_way;
};

static struct group
find_cores_off_majority(const struct report *report, const struct report_pass *pass)
{
	struct group group = { .distance = OFFSET_UNKNOWN, .moment = MOMENT_NEVER, .one_way = true };

	for (size_t i = 0; i < pass->offsets.cores; i++) {
		if (!report_get_pass_outcome(report, pass)->off[i])
			continue;
		if (!group.count++) {
			group.first = i;
			group.other = find_core_furthest_from(report, pass, i);
		}
		group.one_way &= pair_has_proven_offset(report, pass, group.other, i);
		group.distance = offset_hull(group.distance, pair_offset_ns(report, pass, group.other, i));
		group.moment = moment_union(group.moment, offsets_get_time_of_pair(&pass->offsets, group.other, i));
	}
	group.one_way &= offset_excludes_zero(group.distance);
	return group;
}

/*
 * Adds one finding on a whole group of cores, if these are all cores of a package, or if there is no majority.
 * Otherwise returns false.
 */
static bool
add_group_offset_finding(const struct report *report, struct outcomes *outcomes, const struct report_pass *pass,
			 const struct group *group)
{
	const struct report_core *first = report_get_core_of_rank(report, group->first);
	struct phrase subject;

	if (group->count < 2 || !group->one_way)
		return false;
	if (do_cores_off_majority_form_package(report, pass, first->facts.package))
		subject = phrase("The TSCs of all %zu cores of package %u are", group->count, first->facts.package);
	else if (report_get_pass_outcome(report, pass)->no_majority)
		subject = phrase("The TSCs of %zu cores (core %u among them) are", group->count, first->apic_id);
	else
		return false;
	add_offset_finding(report, outcomes, pass, REPORT_NO_CORE, subject.bytes, group->distance, group->other, group->moment,
			   describe_cause_of_offset(report, pass, group->other).bytes);
	return true;
}

/*
 * Adds a finding on the distance of core RANK from core OTHER, with END as the end of its text. The finding names both
 * cores if IS_PAIR, otherwise RANK only.
 */
static void
add_core_offset_finding(const struct report *report, struct outcomes *outcomes, const struct report_pass *pass,
			size_t rank, size_t other, bool is_pair, const char *end)
{
	uint32_t a = report_get_apic_id_of_rank(report, other), b = report_get_apic_id_of_rank(report, rank);
	struct finding *finding;

	finding = add_offset_finding(report, outcomes, pass, is_pair ? REPORT_NO_CORE : b, phrase("Core %u's TSC is", b).bytes,
				     pair_offset_ns(report, pass, other, rank), other,
				     offsets_get_time_of_pair(&pass->offsets, other, rank), end);
	if (is_pair)
		rules_set_pair_of_cores(finding, a, b);
}

/*
 * Adds findings for at most NAMED_MAX of OFF cores that differ from the majority. Leaves out cores that also differed
 * in the pass EARLIER, which may be NULL.
 */
static void
add_findings_for_cores_off_majority(const struct report *report, struct outcomes *outcomes,
				    const struct report_pass *pass, const struct report_pass *earlier, size_t off)
{
	size_t count = 0;

	for (size_t i = 0; i < pass->offsets.cores && count < NAMED_MAX; i++) {
		if (!report_get_pass_outcome(report, pass)->off[i] ||
		    (earlier && report_get_pass_outcome(report, earlier)->off[i]))
			continue;
		size_t other = find_core_furthest_from(report, pass, i);
		/* A step back of one of the two TSCs explains the offset, and has a finding. */
		if (report_get_pass_outcome(report, pass)->no_majority &&
		    (report_get_outcome_of_rank(report, i)->steps_back || report_get_outcome_of_rank(report, other)->steps_back))
			continue;
		add_core_offset_finding(report, outcomes, pass, i, other, report_get_pass_outcome(report, pass)->no_majority,
					phrase("%s%s", describe_cause_of_offset(report, pass, other).bytes,
					       describe_other_faulty_cores(++count, off).bytes).bytes);
	}
}

static void
judge_offsets(const struct report *report, struct outcomes *outcomes, const struct report_pass *pass)
{
	struct pair worst_pair = pass_find_worst_pair(report, pass, false);
	struct group off = find_cores_off_majority(report, pass);

	if (!add_group_offset_finding(report, outcomes, pass, &off))
		add_findings_for_cores_off_majority(report, outcomes, pass, NULL, off.count);
	if (worst_pair.b)
		add_core_offset_finding(report, outcomes, pass, worst_pair.b, worst_pair.a, true, UNDECIDED_WORDS);
}

/* ---- drifts ---- */

/*
 * Returns the probable cause of a drift. The first and the last pass over the cores show that a TSC gained or lost
 * time. Only a middle pass can show whether it did so at once (a step) or steadily (drift).
 */
static const char *
describe_cause_of_drift(const struct report *report, enum motion motion)
{
	bool stepped = motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE;

	if (report_is_guest(report))
		return stepped ? "likely the hypervisor wrote the TSC" :
				 "likely the hypervisor scales the TSC, or runs the core on CPUs with different TSCs";
	if (motion == MOTION_STEADY)
		return "likely a broken oscillator or a separate clock source";
	return stepped ? "likely something wrote to the TSC" :
			 "likely a broken oscillator, a separate clock source, or a write to the TSC";
}

static const char *
describe_motion(enum motion motion)
{
	static const char *const words[] = {
		[MOTION_UNKNOWN] = "steadily or by a step", [MOTION_STEADY] = "steadily", [MOTION_UNEVEN] = "unevenly",
	};

	return words[motion];
}

/* Adds a finding on core PAIR.b, whose TSC stepped in MOMENT. REST is the end of its text. */
static void
add_step_finding(const struct report *report, struct outcomes *outcomes, struct pair pair, enum motion motion,
		 struct moment moment, struct phrase rest)
{
	struct offset by = pair_step_ns(report, pair, motion);
	uint32_t core = report_get_apic_id_of_rank(report, pair.b), other = report_get_apic_id_of_rank(report, pair.a);
	struct finding *finding;

	finding = rules_add_finding(report, outcomes, "tsc-offset", "tsc", core,
				    "Core %u's TSC stepped %s by %s against core %u's %s, unlike the majority, which includes core "
				    "%u: %s.%s", core, by.low > 0 ? "ahead" : "back",
				    phrase_duration_range(offset_min_abs(by), offset_max_abs(by)).bytes, other,
				    phrase_at_or_between(report, moment).bytes, other,
				    describe_cause_of_drift(report, motion), rest.bytes);
	set_figure_to_offset_size(finding, by);
	rules_set_difference(finding, by.low > 0 ? DIFFERENCE_STEPPED_AHEAD : DIFFERENCE_STEPPED_BACK, other, moment);
}

/*
 * Adds a finding on the drift of core PAIR.b from core PAIR.a, with END as the end of its text. The finding names both
 * cores if NAMED is REPORT_NO_CORE, otherwise only NAMED.
 */
static void
add_drift_finding(const struct report *report, struct outcomes *outcomes, struct pair pair, uint32_t named,
		  const char *end)
{
	struct offset drift = report_get_pair_drift(report, pair.a, pair.b);
	struct moment first = offsets_get_time_of_pair(&report->figures.skew.passes[0].offsets, pair.a, pair.b),
		      last = offsets_get_time_of_pair(&report_get_last_pass(report)->offsets, pair.a, pair.b);
	uint32_t a = report_get_apic_id_of_rank(report, pair.a), b = report_get_apic_id_of_rank(report, pair.b);
	struct finding *finding;

	finding = rules_add_finding(report, outcomes, "tsc-drift", "tsc", named,
				    "Core %u's TSC ran %lu to %lu ppb %s than core %u's between %s and %s, %s", b,
				    offset_min_abs(drift), offset_max_abs(drift), drift.high > 0 ? "faster" : "slower", a,
				    phrase_time_span(report, first).bytes, phrase_time_span(report, last).bytes, end);
	set_figure_to_offset_size(finding, drift);
	rules_set_difference(finding, drift.high > 0 ? DIFFERENCE_FASTER : DIFFERENCE_SLOWER, a, moment_union(first, last));
	if (named == REPORT_NO_CORE)
		rules_set_pair_of_cores(finding, a, b);
}

/* Adds a finding on core RANK, which drifts from the majority. REST is the end of its text. */
static void
add_finding_for_drifting_core(const struct report *report, struct outcomes *outcomes, size_t rank, struct phrase rest)
{
	struct pair pair = { find_core_furthest_from(report, NULL, rank), rank };
	struct moment stepped;
	enum motion motion = pair_find_motion(report, pair, &stepped);

	if (report_get_outcome_of_rank(report, rank)->stepped) {
		add_step_finding(report, outcomes, pair, motion, stepped, rest);
		return;
	}
	add_drift_finding(report, outcomes, pair, report_get_apic_id_of_rank(report, rank),
			  phrase("%s, unlike the majority, which includes core %u: %s.%s",
				 describe_motion(motion), report_get_apic_id_of_rank(report, pair.a),
				 describe_cause_of_drift(report, motion), rest.bytes).bytes);
}

static void
judge_drifts(const struct report *report, struct outcomes *outcomes)
{
	struct pair worst_pair = pass_find_worst_pair(report, report->figures.skew.passes, true);
	size_t count = 0, drifting = report_count_core_faults(report).drifting;

	for (size_t i = 0; i < report->figures.skew.drifts.cores && count < NAMED_MAX; i++)
		if (report_get_outcome_of_rank(report, i)->drifts)
			add_finding_for_drifting_core(report, outcomes, i, describe_other_faulty_cores(++count, drifting));
	if (worst_pair.b)
		add_drift_finding(report, outcomes, worst_pair, REPORT_NO_CORE, "and nothing shows which of the two changed.");
}

/* ---- warps ---- */

/* Returns true if two readings on a core of the check's worst warp prove that its TSC steps back. */
static bool
does_core_of_warp_step_back(const struct report *report, const struct report_contended *check)
{
	const struct report_core *a = report_find_core(report, check->worst_a), *b = report_find_core(report, check->worst_b);

	return (a && report_get_core_outcome(report, a)->steps_back) || (b && report_get_core_outcome(report, b)->steps_back);
}

static bool
is_core_off(const struct report *report, const struct report_core *core)
{
	const struct core_outcome *outcome = report_get_core_outcome(report, core);

	return outcome->drifts || outcome->off_majority;
}

/*
 * Returns true if a finding on one of the two cores explains the worst warp that the check found. A proven offset or
 * drift between the two also explains it, even if the finding is on another pair with a larger offset.
 */
static bool
are_warps_explained(const struct report *report, const struct report_contended *check)
{
	const struct report_core *a = report_find_core(report, check->worst_a), *b = report_find_core(report, check->worst_b);
	const struct report_pass *first = report->figures.skew.passes;
	size_t rank_a = a ? report_get_core_figures(report, a)->rank : REPORT_NO_RANK;
	size_t rank_b = b ? report_get_core_figures(report, b)->rank : REPORT_NO_RANK;

	if (does_core_of_warp_step_back(report, check))
		return true;
	if (rank_a >= first->offsets.cores || rank_b >= first->offsets.cores)
		return false;
	return pair_proven_drift_ppb(report, rank_a, rank_b) || is_core_off(report, a) || is_core_off(report, b) ||
	       pair_has_proven_offset(report, first, rank_a, rank_b);
}

struct warps {
	uint64_t count, iterations;
	const struct report_contended *worst; /* the check with the worst warp; NULL if there were no warps */
};

/* Adds up the warps of both checks. Warps that a finding on one of the two cores explains go to EXPLAINED. */
static void
sum_up_warps(const struct report *report, struct warps *explained, struct warps *unexplained)
{
	const struct report_contended *checks[] = { &report->facts.warp_checks.locked, &report->facts.warp_checks.lock_free };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const struct report_contended *check = checks[i];
		struct warps *warps;

		if (!check->measured || !check->warps)
			continue;
		warps = are_warps_explained(report, check) ? explained : unexplained;
		warps->count += check->warps;
		warps->iterations += check->iterations;
		if (!warps->worst || check->worst_ticks > warps->worst->worst_ticks)
			warps->worst = check;
	}
}

static void
judge_warps(const struct report *report, struct outcomes *outcomes, const struct warps *warps)
{
	const struct report_contended *worst = warps->worst;
	struct finding *finding;

	if (!worst || warps->count <= rules_get_limit_by_id(report, "tsc-warp"))
		return;
	finding = rules_add_finding(report, outcomes, "tsc-warp", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC read up to %lu ns (%lu ticks) more than core %u's did later; "
				    "%lu warp%s in %lu iterations.",
				    worst->worst_a, report_get_worst_warp_ns(report, worst), worst->worst_ticks, worst->worst_b,
				    warps->count, warps->count == 1 ? "" : "s", warps->iterations);
	rules_set_count(finding, warps->count);
	rules_set_pair_of_cores(finding, worst->worst_a, worst->worst_b);
}

/* Returns the finding of the cores whose TSC steps back, NULL if there is none. */
static struct finding *
find_step_back_finding(const struct report *report, struct outcomes *outcomes)
{
	const struct finding *finding = rules_find_finding(report, "clock-backward", "tsc");
	bool names_core = finding && (finding->core != REPORT_NO_CORE || finding->core_count);

	return names_core ? &outcomes->findings[finding - report->outcomes.findings] : NULL;
}

/*
 * Returns the finding that explains a warp of WORST, or NULL. Prefers a step back of one of the two cores, then the
 * first offset or drift that names one of them, then any offset or drift.
 */
static struct finding *
find_finding_that_explains_warp(const struct report *report, struct outcomes *outcomes,
				const struct report_contended *worst)
{
	struct finding *first = NULL;

	if (does_core_of_warp_step_back(report, worst))
		return find_step_back_finding(report, outcomes);
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		struct finding *finding = &outcomes->findings[i];

		if (!text_equal(finding->rule, "tsc-offset") && !text_equal(finding->rule, "tsc-drift"))
			continue;
		if (rules_does_finding_name_core(finding, worst->worst_a) ||
		    rules_does_finding_name_core(finding, worst->worst_b))
			return finding;
		first = first ? first : finding;
	}
	return first;
}

/* Adds a sentence on WARPS to the finding that explains them. */
static void
add_warps_to_finding(const struct report *report, struct outcomes *outcomes, const struct warps *warps)
{
	const struct report_contended *worst = warps->worst;
	struct finding *finding = worst ? find_finding_that_explains_warp(report, outcomes, worst) : NULL;

	if (!finding)
		return;
	rules_add_text_to_finding(finding, " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the "
				  "worst %lu ns", warps->count, warps->iterations, report_get_worst_warp_ns(report, worst));
	if (worst->worst_a == worst->worst_b)
		rules_add_text_to_finding(finding, ": core %u read less than it had before. The steps back are the likely cause.",
					  worst->worst_a);
	else
		rules_add_text_to_finding(finding, ", core %u ahead of core %u%s.", worst->worst_a, worst->worst_b,
					  finding == find_step_back_finding(report, outcomes) ?
					  "; the steps back are the likely cause" : "");
}

/*
 * Adds a finding if there are more contradictions than the limit allows. If a core that steps back explains them, adds
 * a sentence to its finding instead. Returns true in both cases. The finding names the worst contradiction: the offset
 * between A and B contradicts their offsets to C. If only the pair of A and B can be wrong, C is equal to B.
 */
static bool
add_contradiction_finding(const struct report *report, struct outcomes *outcomes, const struct report_pass *pass)
{
	const struct offsets_summary *summary = &pass->summary;
	size_t a = summary->contradiction_a, b = summary->contradiction_b, c = summary->contradiction_c;
	uint32_t id_a = report_get_apic_id_of_rank(report, a), id_b = report_get_apic_id_of_rank(report, b);
	size_t count = summary->contradictions;
	struct finding *finding, *cause = find_step_back_finding(report, outcomes);
	struct phrase cores = phrase("between core %u and core %u", id_a, id_b), clause;

	if (count <= rules_get_limit_by_id(report, "tsc-contradiction"))
		return false;
	struct moment moment = offsets_get_time_of_pair(&pass->offsets, a, b);
	if (c != b) {
		moment = moment_union(moment, offsets_get_time_of_pair(&pass->offsets, c, a));
		moment = moment_union(moment, offsets_get_time_of_pair(&pass->offsets, c, b));
		cores = phrase("among cores %u, %u and %u", report_get_apic_id_of_rank(report, c), id_a, id_b);
	}
	clause = phrase("%zu pair%s the other pairs, or an earlier measurement; the worst is %s, by %lu ns %s", count,
			count == 1 ? " of cores contradicts" : "s of cores contradict", cores.bytes,
			(uint64_t)report_ticks_to_ns(report, summary->contradiction_ticks).low,
			phrase_at_or_between(report, moment).bytes);
	if (cause && (report_get_outcome_of_rank(report, a)->steps_back || report_get_outcome_of_rank(report, b)->steps_back ||
		      report_get_outcome_of_rank(report, c)->steps_back)) {
		rules_add_text_to_finding(cause, " Likely for this reason, %s (tsc-contradiction).", clause.bytes);
		return true;
	}
	finding = rules_add_finding(report, outcomes, "tsc-contradiction", "tsc", REPORT_NO_CORE,
				    "%s: likely a TSC was changed while it was measured.", clause.bytes);
	rules_set_count(finding, count);
	rules_set_difference(finding, DIFFERENCE_NONE, REPORT_NO_CORE, moment);
	rules_set_pair_of_cores(finding, id_a, id_b);
	if (c != b)
		rules_add_core_to_finding(finding, report_get_apic_id_of_rank(report, c));
	return true;
}

/*
 * A core that differs in the last pass has a finding if it did not differ in the first. If the first pass has no
 * finding at all, the last pass is judged like the first.
 */
static void
judge_passes(const struct report *report, struct outcomes *outcomes)
{
	const struct report_pass *first = report->figures.skew.passes, *last = report_get_last_pass(report);
	size_t before = report->outcomes.finding_count;
	bool contradicted = false;

	judge_offsets(report, outcomes, first);
	judge_drifts(report, outcomes);
	if (!report->outcomes.sync.any_moved)
		contradicted = add_contradiction_finding(report, outcomes, first);
	if (report->outcomes.finding_count == before)
		judge_offsets(report, outcomes, last);
	else if (!report_get_pass_outcome(report, last)->no_majority)
		add_findings_for_cores_off_majority(report, outcomes, last, first, 0);
	if (report->outcomes.finding_count == before && !contradicted)
		add_contradiction_finding(report, outcomes, last);
}

void
judge_offsets_and_warps(const struct report *report, struct outcomes *outcomes)
{
	struct warps explained = { .count = 0 }, unexplained = explained;

	analyse_offsets(report, &outcomes->sync);
	sum_up_warps(report, &explained, &unexplained);
	judge_warps(report, outcomes, &unexplained);
	if (report->figures.skew.pass_count)
		judge_passes(report, outcomes);
	add_warps_to_finding(report, outcomes, &explained);
	judge_summarize_synchrony(report, outcomes);
}
