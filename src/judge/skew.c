/*
 * The judge of the cores' TSCs against each other: warps, offsets, drifts, contradictions. One fault, one finding:
 * a core that drifts has none for the offset that it has come to, nor has a pair for a warp that the offset or the
 * drift of one of the two explains, nor any pair for a contradiction while a core drifts.
 */
#include "judge_internal.h"
#include "view.h"
#include "text.h"

#define NAMED_MAX  4 /* findings of one rule; the last one says how many cores more there are */
#define MOMENT_SIZE  32 /* "18446744073709551615.9 s" */
#define MOMENTS_SIZE (2 * MOMENT_SIZE + 16)
#define REST_SIZE    48 /* " 18446744073709551615 more cores likewise." and its final 0 */
#define SUBJECT_SIZE 64 /* "18446744073709551615 cores, core 4294967295's among them" */

static void
set_distance(struct finding *finding, struct distance distance, uint64_t limit)
{
	int64_t near = distance.near > INT64_MAX ? INT64_MAX : (int64_t)distance.near;

	rules_set_figure(finding, near, near,
			 distance.far > INT64_MAX ? INT64_MAX : (int64_t)distance.far, limit);
}

/* Two cores that are proven to differ, while nothing shows which of them is off: there is no majority, and no half. */
static bool
has_odd_pair(const struct view *view)
{
	const struct offsets_summary *summary = &view->skew->summary;

	return view->skew->measured && summary->no_majority && !summary->outliers &&
	       !view_core(view, summary->worst_a)->drifts && !view_core(view, summary->worst_b)->drifts &&
	       view_pair_ns(view, summary->worst_a, summary->worst_b).near > view->offset_limit_ns;
}

/* The rank of the core that has that id; as many as there are ranks where none has. */
static size_t
find_rank(const struct view *view, uint32_t apic_id)
{
	size_t i = 0;

	while (i < view->skew->offsets.cores && view_core(view, i)->apic_id != apic_id)
		i++;
	return i;
}

/* Whether the core is named by itself, or together with another one. */
static bool
has_own_finding(const struct view *view, size_t rank)
{
	const struct offsets_summary *summary = &view->skew->summary;

	return view_core(view, rank)->drifts || view_is_off(view, rank) ||
	       (has_odd_pair(view) && (rank == summary->worst_a || rank == summary->worst_b));
}

/* By a finding of one of the two; or by the offset of the two, where the worst pair is named for all of them. */
static bool
is_explained(const struct view *view, size_t a, size_t b)
{
	size_t cores = view->skew->offsets.cores;

	if (a < cores && b < cores && view->skew->drift_measured && view_drift_ppb(view, a, b).near > view->drift_limit_ppb)
		return true;
	return (a < cores && has_own_finding(view, a)) || (b < cores && has_own_finding(view, b)) ||
	       (a < cores && b < cores && has_odd_pair(view) &&
		view_pair_ns(view, a, b).near > view->offset_limit_ns);
}

static bool
has_warps_to_explain(const struct view *view, const struct report_contended *contended)
{
	return contended->measured && contended->warps &&
	       !is_explained(view, find_rank(view, contended->worst_a), find_rank(view, contended->worst_b));
}

static uint64_t
saturating_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void
judge_warps(struct report *report, const struct view *view)
{
	const struct report_contended *checks[] = { &report->skew.locked, &report->skew.lock_free };
	uint64_t limit = rules_limit_of(report, "tsc-warp"), warps = 0, iterations = 0;
	const struct report_contended *worst = NULL;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!has_warps_to_explain(view, checks[i]))
			continue;
		warps = saturating_sum(warps, checks[i]->warps);
		iterations = saturating_sum(iterations, checks[i]->iterations);
		if (!worst || checks[i]->worst_ticks > worst->worst_ticks)
			worst = checks[i];
	}
	if (!worst || warps <= limit)
		return;
	rules_set_count(rules_add_finding(report, "tsc-warp", "tsc", worst->worst_a,
					  "Core %u's TSC read up to %lu ns (%lu ticks) more than core %u's did "
					  "after it; %lu warp%s in %lu iterations.",
					  worst->worst_a, worst->worst_ns, worst->worst_ticks, worst->worst_b,
					  warps, warps == 1 ? "" : "s", iterations),
			warps, limit);
}

/* What ends the last sentence that there is space for. */
static const char *
put_rest(char rest[REST_SIZE], size_t count, size_t off)
{
	struct text text;

	text_init(&text, rest, REST_SIZE);
	if (count == NAMED_MAX && off > count)
		text_printf(&text, " %zu more core%s likewise.", off - count,
			    off - count == 1 ? "" : "s");
	return rest;
}

static const char *
cause_of_offset(const struct view *view)
{
	if (view->skew->summary.no_majority)
		return "and nothing shows which of them is right";
	if (view->report->hypervisor[0])
		return "off the majority: likely the hypervisor gives it an offset of its own";
	return "off the majority: likely the firmware wrote it, or it was reset later";
}

/* Whether those that are off are just the cores of one package. */
static bool
is_one_package(const struct view *view, uint32_t *package)
{
	bool found = false;

	*package = 0;
	for (size_t i = 0; i < view->skew->offsets.cores && !found; i++) {
		found = view_is_off(view, i);
		*package = view_core(view, i)->facts.package;
	}
	for (size_t i = 0; i < view->skew->offsets.cores; i++) {
		const struct report_core *core = view_core(view, i);

		if (!core->facts_known || !core->facts.has_topology ||
		    (core->facts.package == *package) != view_is_off(view, i))
			return false;
	}
	return true;
}


static const char *
first_moment(const struct view *view, char moment[MOMENT_SIZE])
{
	struct text text;

	text_init(&text, moment, MOMENT_SIZE);
	report_put_moment(&text, view->report, view->skew->offsets.end_tsc);
	return moment;
}

struct group { /* that is off as a whole */
	char subject[SUBJECT_SIZE]; /* which cores these are */
	struct distance distance;   /* of all of them from OTHER, a core that is in order: what holds for each */
	size_t other;
};

static void
name_group(struct report *report, const struct view *view, const struct group *group)
{
	struct distance distance = group->distance;
	char moment[MOMENT_SIZE];

	set_distance(rules_add_finding(report, "tsc-offset", "tsc", REPORT_NO_CORE,
				       "The TSCs of %s, are %lu to %lu ns %s core %u's at %s, %s.", group->subject,
				       distance.near, distance.far, distance.ahead ? "ahead of" : "behind",
				       view_core(view, group->other)->apic_id, first_moment(view, moment),
				       cause_of_offset(view)),
		     distance, view->offset_limit_ns);
}

/*
 * From the core from which the first of them is furthest. False: not all of them are proven to be off from that one,
 * and in one direction.
 */
static bool
measure_group(const struct view *view, struct group *group)
{
	struct distance *all = &group->distance;
	size_t found = 0;

	*all = (struct distance){ .near = UINT64_MAX };
	for (size_t i = 0; i < view->skew->offsets.cores; i++) {
		struct distance distance;

		if (!view_is_off(view, i))
			continue;
		if (!found++)
			view_offset_ns(view, i, &group->other);
		distance = view_pair_ns(view, group->other, i);
		if (distance.near <= view->offset_limit_ns || (found > 1 && distance.ahead != all->ahead))
			return false;
		all->near = distance.near < all->near ? distance.near : all->near;
		all->far = distance.far > all->far ? distance.far : all->far;
		all->ahead = distance.ahead;
	}
	return found > 1;
}

/* Whether they are off as a group, not one by one, and which it is: a package, or a half, of which no core is named. */
static bool
is_group(const struct view *view, size_t off, struct group *group)
{
	struct text text;
	uint32_t package;
	size_t first = 0;

	text_init(&text, group->subject, SUBJECT_SIZE);
	if (!measure_group(view, group))
		return false;
	if (is_one_package(view, &package)) {
		text_printf(&text, "package %u, of all its %zu cores", package, off);
		return true;
	}
	while (!view_is_off(view, first))
		first++;
	text_printf(&text, "%zu cores, core %u's among them", off, view_core(view, first)->apic_id);
	return view->skew->summary.no_majority;
}

/* RANK, which is so far from OTHER; the finding names core NAMED. */
static void
name_core(struct report *report, const struct view *view, size_t rank, size_t other, struct distance distance,
	  uint32_t named, const char *rest)
{
	char moment[MOMENT_SIZE];

	set_distance(rules_add_finding(report, "tsc-offset", "tsc", named,
				       "Core %u's TSC is %lu to %lu ns %s core %u's at %s, %s.%s",
				       view_core(view, rank)->apic_id, distance.near, distance.far,
				       distance.ahead ? "ahead of" : "behind", view_core(view, other)->apic_id,
				       first_moment(view, moment), cause_of_offset(view), rest),
		     distance, view->offset_limit_ns);
}

static void
name_odd_pair(struct report *report, const struct view *view)
{
	size_t a = view->skew->summary.worst_a, b = view->skew->summary.worst_b;

	name_core(report, view, b, a, view_pair_ns(view, a, b), REPORT_NO_CORE, "");
}

static void
judge_offsets(struct report *report, const struct view *view)
{
	size_t off = 0, count = 0, other;
	char rest[REST_SIZE];
	struct group group;

	for (size_t i = 0; i < view->skew->offsets.cores; i++)
		off += view_is_off(view, i);
	if (is_group(view, off, &group)) {
		name_group(report, view, &group);
		return;
	}
	if (has_odd_pair(view)) {
		name_odd_pair(report, view);
		return;
	}
	for (size_t i = 0; i < view->skew->offsets.cores && count < NAMED_MAX; i++) {
		if (!view_is_off(view, i))
			continue;
		count++;

		struct distance distance = view_offset_ns(view, i, &other);

		name_core(report, view, i, other, distance,
			  view->skew->summary.no_majority ? REPORT_NO_CORE : view_core(view, i)->apic_id,
			  put_rest(rest, count, off));
	}
}

/* Two tournaments tell that a TSC moved, not how. */
static const char *
cause_of_drift(const struct view *view)
{
	if (view->report->hypervisor[0])
		return "likely the hypervisor scales it, or moves the core between unequal ones";
	return "likely a broken oscillator, or a source of its own, or it was written";
}

static const char *
drift_moments(const struct view *view, char moments[MOMENTS_SIZE])
{
	struct text text;

	text_init(&text, moments, MOMENTS_SIZE);
	text_put(&text, "between ");
	report_put_moment(&text, view->report, view->skew->offsets.end_tsc);
	text_put(&text, " and ");
	report_put_moment(&text, view->report, view->skew->latest_end_tsc);
	return moments;
}

static void
name_drifting_pair(struct report *report, const struct view *view)
{
	struct distance distance = view_drift_ppb(view, view->drift_a, view->drift_b);
	char moments[MOMENTS_SIZE];

	set_distance(rules_add_finding(report, "tsc-drift", "tsc", REPORT_NO_CORE,
				       "Core %u's TSC ran %lu to %lu ppb %s than core %u's %s, and nothing shows which of "
				       "them moved.", view_core(view, view->drift_b)->apic_id, distance.near,
				       distance.far, distance.ahead ? "faster" : "slower",
				       view_core(view, view->drift_a)->apic_id, drift_moments(view, moments)),
		     distance, view->drift_limit_ppb);
}

static void
judge_drifts(struct report *report, const struct view *view)
{
	size_t count = 0;
	char rest[REST_SIZE], moments[MOMENTS_SIZE];

	if (view->no_drift_majority)
		name_drifting_pair(report, view);
	for (size_t i = 0; i < view->skew->offsets.cores && count < NAMED_MAX; i++) {
		const struct report_core *core = view_core(view, i);
		struct offset from_most = { core->from_most.low, core->from_most.high };
		struct distance distance = { offset_nearest(from_most), offset_farthest(from_most), from_most.low > 0 };

		if (!core->drifts)
			continue;
		count++;
		set_distance(rules_add_finding(report, "tsc-drift", "tsc", core->apic_id,
					       "Core %u's TSC ran %lu to %lu ppb %s than most %s, steadily or by a step: %s.%s",
					       core->apic_id, distance.near, distance.far,
					       distance.ahead ? "faster" : "slower", drift_moments(view, moments),
					       cause_of_drift(view), put_rest(rest, count, view->drifting)),
			     distance, view->drift_limit_ppb);
	}
}

static void
judge_contradictions(struct report *report, const struct view *view)
{
	const struct offsets_summary *summary = &report->skew.summary;
	uint64_t limit = rules_limit_of(report, "tsc-contradiction");
	bool many = summary->contradictions != 1;

	if (view->skew->any_moved || summary->contradictions <= limit)
		return;
	rules_set_count(rules_add_finding(report, "tsc-contradiction", "tsc", REPORT_NO_CORE,
					  "%zu pair%s of cores contradict%s what the others say, or what was measured "
					  "before, the worst core %u and core %u, by %lu ns: likely a TSC moved "
					  "while it was measured.",
					  summary->contradictions, many ? "s" : "", many ? "" : "s",
					  view_core(view, summary->contradiction_a)->apic_id,
					  view_core(view, summary->contradiction_b)->apic_id,
					  view_ns_down(view, summary->contradiction_ticks)),
			summary->contradictions, limit);
}

void
judge_skew(struct report *report)
{
	struct view view = view_of(report);

	judge_warps(report, &view);
	if (!report->skew.measured)
		return;
	judge_offsets(report, &view);
	judge_drifts(report, &view);
	judge_contradictions(report, &view);
}
