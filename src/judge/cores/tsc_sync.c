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

static uint32_t
get_apic_id(const struct pass_analysis *pass, size_t rank)
{
	return pass_get_measured_core(pass, rank)->apic_id;
}

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
describe_cause_of_offset(const struct pass_analysis *pass, size_t other)
{
	if (pass->no_majority)
		return phrase("%s", UNDECIDED_WORDS);
	return phrase("unlike the majority, which includes core %u: likely the %s", get_apic_id(pass, other),
		      pass->report->hypervisor[0] ? "hypervisor set a different TSC offset." :
		      "firmware wrote the TSC, or a later reset cleared it.");
}

/*
 * Adds a finding on SUBJECT, whose distance from the core OTHER was measured in MOMENT. NAMED is the core that the
 * finding names, or REPORT_NO_CORE.
 */
static struct finding *
add_offset_finding(const struct pass_analysis *pass, uint32_t named, const char *subject,
		   struct offset distance, size_t other, struct moment moment, const char *end)
{
	const char *name = pass->result == &pass->skew->last ? " (last pass)" : " (first pass)";
	struct finding *finding;

	finding = rules_add_finding(pass->report, "tsc-offset", "tsc", named, "%s %lu to %lu ns %s core %u's %s%s, %s",
				    subject, offset_min_abs(distance), offset_max_abs(distance),
				    distance.low > 0 ? "ahead of" : "behind", get_apic_id(pass, other),
				    phrase_at_or_between(pass->report, moment).bytes,
				    pass->skew->last.measured ? name : "", end);
	set_figure_to_offset_size(finding, distance);
	return finding;
}

/* Returns true if the cores that differ from the majority are exactly the cores of PACKAGE. */
static bool
do_cores_off_majority_form_package(const struct pass_analysis *pass, uint32_t package)
{
	for (size_t i = 0; i < pass->result->offsets.cores; i++) {
		const struct report_core *core = pass_get_measured_core(pass, i);

		if (!core->facts_known || !core->facts.has_topology ||
		    (core->facts.package == package) != pass_is_core_off_majority(pass, i))
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
find_cores_off_majority(const struct pass_analysis *pass)
{
	struct group group = { .moment = MOMENT_NEVER, .one_way = true };

	for (size_t i = 0; i < pass->result->offsets.cores; i++) {
		struct offset offset;

		if (!pass_is_core_off_majority(pass, i))
			continue;
		if (!group.count++) {
			group.first = i;
			group.other = pass_find_core_furthest_from(pass, i);
			group.distance = pass_offset_ns(pass, group.other, i);
		}
		offset = pass_offset_ns(pass, group.other, i);
		group.one_way &= offset_min_abs(offset) > pass->offset_limit_ns && (offset.low > 0) == (group.distance.low > 0);
		group.distance.low = offset.low < group.distance.low ? offset.low : group.distance.low;
		group.distance.high = offset.high > group.distance.high ? offset.high : group.distance.high;
		group.moment = moment_union(group.moment, pass_measuring_time_of_pair(pass, group.other, i));
	}
	return group;
}

/*
 * Adds one finding on a whole group of cores, if these are all cores of a package, or if there is no majority.
 * Otherwise returns false.
 */
static bool
add_group_offset_finding(const struct pass_analysis *pass, const struct group *group)
{
	const struct report_core *first = pass_get_measured_core(pass, group->first);
	struct phrase subject;

	if (group->count < 2 || !group->one_way)
		return false;
	if (do_cores_off_majority_form_package(pass, first->facts.package))
		subject = phrase("The TSCs of all %zu cores of package %u are", group->count, first->facts.package);
	else if (pass->no_majority)
		subject = phrase("The TSCs of %zu cores (core %u among them) are", group->count, first->apic_id);
	else
		return false;
	add_offset_finding(pass, REPORT_NO_CORE, subject.bytes, group->distance, group->other, group->moment,
			   describe_cause_of_offset(pass, group->other).bytes);
	return true;
}

/*
 * Adds a finding on the distance of core RANK from core OTHER, with END as the end of its text. The finding names both
 * cores if IS_PAIR, otherwise RANK only.
 */
static void
add_core_offset_finding(const struct pass_analysis *pass, size_t rank, size_t other, bool is_pair,
			const char *end)
{
	uint32_t a = get_apic_id(pass, other), b = get_apic_id(pass, rank);
	struct finding *finding;

	finding = add_offset_finding(pass, is_pair ? REPORT_NO_CORE : b, phrase("Core %u's TSC is", b).bytes,
				     pass_offset_ns(pass, other, rank), other,
				     pass_measuring_time_of_pair(pass, other, rank), end);
	if (is_pair)
		rules_set_pair_of_cores(finding, a, b);
}

/*
 * Adds findings for at most NAMED_MAX of OFF cores that differ from the majority. Leaves out cores that also differed
 * in the pass EARLIER, which may be NULL.
 */
static void
add_findings_for_cores_off_majority(const struct pass_analysis *pass, const struct pass_analysis *earlier, size_t off)
{
	size_t count = 0;

	for (size_t i = 0; i < pass->result->offsets.cores && count < NAMED_MAX; i++) {
		size_t other;

		if (!pass_is_core_off_majority(pass, i) || (earlier && pass_is_core_off_majority(earlier, i)))
			continue;
		other = pass_find_core_furthest_from(pass, i);
		/* A step back of one of the two TSCs explains the offset, and has a finding. */
		if (pass->no_majority &&
		    (pass_get_measured_core(pass, i)->steps_back || pass_get_measured_core(pass, other)->steps_back))
			continue;
		add_core_offset_finding(pass, i, other, pass->no_majority,
					phrase("%s%s", describe_cause_of_offset(pass, other).bytes,
					       describe_other_faulty_cores(++count, off).bytes).bytes);
	}
}

static void
judge_offsets(const struct pass_analysis *pass)
{
	struct pair worst_pair = pass_find_worst_pair(pass, pass_proven_offset_ticks);
	struct group off = find_cores_off_majority(pass);

	if (!add_group_offset_finding(pass, &off))
		add_findings_for_cores_off_majority(pass, NULL, off.count);
	if (worst_pair.b)
		add_core_offset_finding(pass, worst_pair.b, worst_pair.a, true, UNDECIDED_WORDS);
}

/* ---- drifts ---- */

/*
 * Returns the probable cause of a drift. The first and the last pass over the cores show that a TSC gained or lost
 * time. Only a middle pass can show whether it did so at once (a step) or steadily (drift).
 */
static const char *
describe_cause_of_drift(const struct pass_analysis *pass, enum motion motion)
{
	bool stepped = motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE;

	if (pass->report->hypervisor[0])
		return stepped ? "likely the hypervisor wrote the TSC" :
				 "likely the hypervisor scales the TSC, or runs the core on CPUs with different TSCs";
	if (motion == MOTION_STEADY)
		return "likely a broken oscillator or a separate clock source";
	return stepped ? "likely something wrote to the TSC" :
			 "likely a broken oscillator, a separate clock source, or a write to the TSC";
}

static struct phrase
describe_core_motion(const struct pass_analysis *pass, enum motion motion, struct moment moment)
{
	static const char *const words[] = {
		[MOTION_UNKNOWN] = "steadily or by a step", [MOTION_STEADY] = "steadily", [MOTION_UNEVEN] = "unevenly",
	};

	if (motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE)
		return phrase("by a step %s", phrase_at_or_between(pass->report, moment).bytes);
	return phrase("%s", words[motion]);
}

static void
add_pair_drift_finding(const struct pass_analysis *pass, struct pair worst_pair)
{
	struct offset drift = pass_drift_ppb(pass, worst_pair.a, worst_pair.b);
	struct moment first = offsets_get_time_of_pair(&pass->skew->first.offsets, worst_pair.a, worst_pair.b);
	struct moment last = offsets_get_time_of_pair(&pass->skew->last.offsets, worst_pair.a, worst_pair.b);
	uint32_t a = get_apic_id(pass, worst_pair.a), b = get_apic_id(pass, worst_pair.b);
	struct finding *finding;

	finding = rules_add_finding(pass->report, "tsc-drift", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC ran %lu to %lu ppb %s than core %u's between %s and %s, and "
				    "nothing shows which of the two changed.", b, offset_min_abs(drift), offset_max_abs(drift),
				    drift.high > 0 ? "faster" : "slower", a, phrase_time_span(pass->report, first).bytes,
				    phrase_time_span(pass->report, last).bytes);
	set_figure_to_offset_size(finding, drift);
	rules_set_pair_of_cores(finding, a, b);
}

static void
add_drift_finding(const struct pass_analysis *pass, size_t rank, struct phrase rest)
{
	uint32_t core = get_apic_id(pass, rank);
	struct moment moment, stepped;
	struct offset drift = pass_drift_from_majority_ppb(pass, rank, &moment);
	enum motion motion = pass_find_motion_of_core(pass, rank, drift.high > 0, &stepped);
	struct finding *finding;

	finding = rules_add_finding(pass->report, "tsc-drift", "tsc", core,
				    "Core %u's TSC ran %lu to %lu ppb %s than most %s, %s: %s.%s", core,
				    offset_min_abs(drift), offset_max_abs(drift),
				    drift.high > 0 ? "faster" : "slower",
				    phrase_at_or_between(pass->report, moment).bytes,
				    describe_core_motion(pass, motion, stepped).bytes, describe_cause_of_drift(pass, motion), rest.bytes);
	set_figure_to_offset_size(finding, drift);
}

static void
judge_drifts(const struct pass_analysis *pass)
{
	struct pair worst_pair = { 0, 0 };
	size_t count = 0;

	for (size_t i = 0; i < pass->result->offsets.cores && count < NAMED_MAX; i++)
		if (pass_get_measured_core(pass, i)->drifts)
			add_drift_finding(pass, i, describe_other_faulty_cores(++count, pass->drifting));
	if (pass->skew->any_moved)
		worst_pair = pass_find_worst_pair(pass, pass_proven_drift_ppb);
	if (worst_pair.b)
		add_pair_drift_finding(pass, worst_pair);
}

/* ---- warps ---- */

/* Returns the rank of the core with APIC_ID; the number of ranks if there is none. */
static size_t
find_rank_of_core(const struct pass_analysis *pass, uint32_t apic_id)
{
	size_t i = 0;

	while (i < pass->skew->first.offsets.cores && get_apic_id(pass, i) != apic_id)
		i++;
	return i;
}

/* Returns true if two readings on the core with APIC_ID prove that its TSC steps back. */
static bool
does_core_step_back(const struct report *report, uint32_t apic_id)
{
	for (size_t i = 0; i < report->core_count; i++)
		if (report->cores[i].apic_id == apic_id)
			return report->cores[i].steps_back;
	return false;
}

/*
 * Returns true if a finding on one of the two cores explains the worst warp that the check found. A proven offset or
 * drift between the two also explains it, even if the finding is on another pair with a larger offset.
 */
static bool
are_warps_explained(const struct pass_analysis *pass, const struct report_contended *check)
{
	size_t a = find_rank_of_core(pass, check->worst_a), b = find_rank_of_core(pass, check->worst_b);
	size_t cores = pass->skew->first.offsets.cores;

	if (does_core_step_back(pass->report, check->worst_a) || does_core_step_back(pass->report, check->worst_b))
		return true;
	if (a >= cores || b >= cores)
		return false;
	if (pass->skew->last.measured && pass_proven_drift_ppb(pass, a, b))
		return true;
	return pass_get_measured_core(pass, a)->drifts || pass_get_measured_core(pass, b)->drifts ||
	       pass_get_measured_core(pass, a)->off_majority ||
	       pass_get_measured_core(pass, b)->off_majority ||
	       offset_min_abs(pass_offset_ns(pass, a, b)) > pass->offset_limit_ns;
}

struct warps {
	uint64_t count, iterations;
	const struct report_contended *worst; /* the check with the worst warp; NULL if there were no warps */
};

/* The results of both warp checks. */
struct warp_checks {
	struct warps unexplained, explained;
	uint64_t iterations;
	bool starved; /* true if some core executed too few iterations in one of the checks */
};

static struct warp_checks
sum_up_warps(const struct report *report, const struct pass_analysis *pass)
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
		warps = are_warps_explained(pass, check) ? &all.explained : &all.unexplained;
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
	struct finding *finding;

	if (!worst || warps->count <= rules_get_limit_by_id(report, "tsc-warp"))
		return;
	finding = rules_add_finding(report, "tsc-warp", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC read up to %lu ns (%lu ticks) more than core %u's did later; "
				    "%lu warp%s in %lu iterations.",
				    worst->worst_a, worst->worst_ns, worst->worst_ticks, worst->worst_b,
				    warps->count, warps->count == 1 ? "" : "s", warps->iterations);
	rules_set_count(finding, warps->count);
	rules_set_pair_of_cores(finding, worst->worst_a, worst->worst_b);
}

/* Returns the finding of the cores whose TSC steps back, NULL if there is none. */
static struct finding *
find_step_back_finding(struct report *report)
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
 * Returns the finding that explains a warp of WORST, or NULL. Prefers a step back of one of the two cores, then the
 * first offset or drift that names one of them, then any offset or drift. WORST may be NULL.
 */
static struct finding *
find_finding_that_explains_warp(struct report *report, const struct report_contended *worst)
{
	struct finding *first = NULL;

	if (worst && (does_core_step_back(report, worst->worst_a) || does_core_step_back(report, worst->worst_b)))
		return find_step_back_finding(report);
	for (size_t i = 0; i < report->finding_count; i++) {
		struct finding *finding = &report->findings[i];

		if (!text_equal(finding->rule, "tsc-offset") && !text_equal(finding->rule, "tsc-drift"))
			continue;
		if (worst && (rules_does_finding_name_core(finding, worst->worst_a) ||
			      rules_does_finding_name_core(finding, worst->worst_b)))
			return finding;
		first = first ? first : finding;
	}
	return first;
}

/*
 * Adds a sentence on the warp checks to the finding that explains warps. The sentence states how many warps the finding
 * explains, or that there were none, or that the checks were not made. Adds nothing if all warps are unexplained.
 */
static void
add_warps_to_finding(struct report *report, const struct warp_checks *checks)
{
	const struct warps *warps = &checks->explained;
	const struct report_contended *worst = warps->worst;
	struct finding *finding = find_finding_that_explains_warp(report, worst);

	if (!finding || (!worst && checks->unexplained.worst))
		return;
	if (worst && worst->worst_a == worst->worst_b)
		rules_add_text_to_finding(finding,
					  " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the worst "
					  "%lu ns: core %u read less than it had before. The steps back are the likely cause.",
					  warps->count, warps->iterations, worst->worst_ns, worst->worst_a);
	else if (worst)
		rules_add_text_to_finding(finding,
					  " Warps were seen, too (tsc-warp): %lu in %lu iterations under contention, the worst "
					  "%lu ns, core %u ahead of core %u%s.",
					  warps->count, warps->iterations, worst->worst_ns, worst->worst_a, worst->worst_b,
					  finding == find_step_back_finding(report) ? "; the steps back are the likely cause" : "");
	else if (!checks->iterations)
		rules_add_text_to_finding(finding, " Whether there are warps (tsc-warp) was not measured.");
	else
		rules_add_text_to_finding(finding, " No warp was seen (tsc-warp) in %lu iterations under contention%s.",
					  checks->iterations,
					  checks->starved ? ", but some core ran too few of them" : "");
}

/*
 * Adds a finding if there are more contradictions than the limit allows. If a core that steps back explains them, adds
 * a sentence to its finding instead. Returns true in both cases. The finding names the worst contradiction: the offset
 * between A and B contradicts their offsets to C. If only the pair of A and B can be wrong, C is equal to B.
 */
static bool
add_contradiction_finding(const struct pass_analysis *pass)
{
	const struct offsets_summary *summary = &pass->result->summary;
	size_t count = summary->contradictions;
	size_t rank_a = summary->contradiction_a, rank_b = summary->contradiction_b, rank_c = summary->contradiction_c;
	const struct report_core *a = pass_get_measured_core(pass, rank_a), *b = pass_get_measured_core(pass, rank_b);
	const struct report_core *c = pass_get_measured_core(pass, rank_c);
	struct finding *finding, *cause = find_step_back_finding(pass->report);
	struct phrase cores = phrase("between core %u and core %u", a->apic_id, b->apic_id), clause;
	struct moment moment;

	if (count <= rules_get_limit_by_id(pass->report, "tsc-contradiction"))
		return false;
	moment = pass_measuring_time_of_pair(pass, rank_a, rank_b);
	if (c != b) {
		moment = moment_union(moment, moment_union(pass_measuring_time_of_pair(pass, rank_c, rank_a),
							   pass_measuring_time_of_pair(pass, rank_c, rank_b)));
		cores = phrase("among cores %u, %u and %u", c->apic_id, a->apic_id, b->apic_id);
	}
	clause = phrase("%zu pair%s the other pairs, or an earlier measurement; the worst is %s, by %lu ns %s", count,
			count == 1 ? " of cores contradicts" : "s of cores contradict", cores.bytes,
			(uint64_t)pass_ticks_to_ns(pass, summary->contradiction_ticks).low,
			phrase_at_or_between(pass->report, moment).bytes);
	if (cause && (a->steps_back || b->steps_back || c->steps_back)) {
		rules_add_text_to_finding(cause, " Likely for this reason, %s (tsc-contradiction).", clause.bytes);
		return true;
	}
	finding = rules_add_finding(pass->report, "tsc-contradiction", "tsc", REPORT_NO_CORE,
				    "%s: likely a TSC was changed while it was measured.", clause.bytes);
	rules_set_count(finding, count);
	rules_set_pair_of_cores(finding, a->apic_id, b->apic_id);
	if (c != b)
		rules_add_core_to_finding(finding, c->apic_id);
	return true;
}

static void
judge_both_passes(const struct pass_analysis *first, const struct pass_analysis *last)
{
	size_t before = first->report->finding_count;
	bool contradicted = false;

	judge_offsets(first);
	judge_drifts(first);
	if (!first->report->skew.any_moved)
		contradicted = add_contradiction_finding(first);
	if (first->report->finding_count == before)
		judge_offsets(last);
	else if (!last->no_majority)
		add_findings_for_cores_off_majority(last, first, 0);
	if (first->report->finding_count == before && !contradicted)
		add_contradiction_finding(last);
}

void
judge_offsets_and_warps(struct report *report)
{
	struct pass_analysis first, last;
	struct warp_checks warps;

	analyse_offsets(report, &first, &last);
	warps = sum_up_warps(report, &first);
	judge_warps(report, &warps.unexplained);
	if (report->skew.first.measured)
		judge_both_passes(&first, &last);
	add_warps_to_finding(report, &warps);
}
