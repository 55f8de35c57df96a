/*
 * The judge of the cores' TSCs against each other: warps, offsets, drifts, contradictions. One fault, one finding:
 * a core that drifts has none for the offset that it has come to, nor has a pair for a warp that the offset or the
 * drift of one of the two explains, nor any pair for a contradiction while a core drifts.
 */
#include "judge_internal.h"
#include "view.h"
#include "text.h"

#define NOBODYS_FAULT "and nothing shows which of them is right"

#define NAMED_MAX  4 /* findings of one rule; the last one says how many cores more there are */
#define MOMENTS_SIZE 80 /* "between 18446744073709551615.9 s and 18446744073709551615.9 s" */
#define MOTION_SIZE  (MOMENTS_SIZE + 16) /* "by a step " and a moment */
#define NS_PER_MS    1000000
#define STRETCH_SIZE 144 /* four such times */
#define AT_MS        100 /* what takes longer is "between" two moments */
#define REST_SIZE    48 /* " 18446744073709551615 more cores likewise." and its final 0 */
#define SUBJECT_SIZE 64 /* "18446744073709551615 cores, core 4294967295's among them" */

static void
set_distance(struct finding *finding, struct distance distance, uint64_t limit)
{
	int64_t near = distance.near > INT64_MAX ? INT64_MAX : (int64_t)distance.near;

	rules_set_figure(finding, near, near,
			 distance.far > INT64_MAX ? INT64_MAX : (int64_t)distance.far, limit);
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

/* By a finding of one of the two; or by the offset of the two, where the worst pair is named for all of them. */
static bool
is_explained(const struct view *view, size_t a, size_t b)
{
	size_t cores = view->skew->offsets.cores;

	if (a >= cores || b >= cores)
		return false;
	if (view->skew->drift_measured && view_drift_ppb(view, a, b).near > view->drift_limit_ppb)
		return true;
	return view_core(view, a)->drifts || view_core(view, b)->drifts || view_core(view, a)->off_majority ||
	       view_core(view, b)->off_majority || view_pair_ns(view, a, b).near > view->offset_limit_ns;
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
	if (view->no_majority)
		return NOBODYS_FAULT;
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

static bool
is_long(const struct view *view, struct moment moment)
{
	return report_moment_ns(view->report, moment.end_tsc) / NS_PER_MS >=
	       report_moment_ns(view->report, moment.begin_tsc) / NS_PER_MS + AT_MS;
}

/* "3.1 s", or "3.1 s to 3.4 s" where it took so long. */
static void
put_time(struct text *text, const struct view *view, struct moment moment)
{
	if (is_long(view, moment)) {
		report_put_moment(text, view->report, moment.begin_tsc);
		text_put(text, " to ");
	}
	report_put_moment(text, view->report, moment.end_tsc);
}

/* "at 3.1 s", or "between 3.1 s and 3.4 s" where it took so long. */
static const char *
put_moment(const struct view *view, struct moment moment, char moments[MOMENTS_SIZE])
{
	struct text text;

	text_init(&text, moments, MOMENTS_SIZE);
	if (is_long(view, moment)) {
		text_put(&text, "between ");
		report_put_moment(&text, view->report, moment.begin_tsc);
		text_put(&text, " and ");
	} else {
		text_put(&text, "at ");
	}
	report_put_moment(&text, view->report, moment.end_tsc);
	return moments;
}

struct group { /* that is off as a whole */
	char subject[SUBJECT_SIZE]; /* which cores these are */
	struct distance distance;   /* of all of them from OTHER, a core that is in order: what holds for each */
	size_t other;
	struct moment moment;
};

static void
name_group(struct report *report, const struct view *view, const struct group *group)
{
	struct distance distance = group->distance;
	char moments[MOMENTS_SIZE];

	set_distance(rules_add_finding(report, "tsc-offset", "tsc", REPORT_NO_CORE,
				       "The TSCs of %s, are %lu to %lu ns %s core %u's %s, %s.", group->subject,
				       distance.near, distance.far, distance.ahead ? "ahead of" : "behind",
				       view_core(view, group->other)->apic_id, put_moment(view, group->moment, moments),
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
	group->moment = (struct moment){ UINT64_MAX, 0 };
	for (size_t i = 0; i < view->offsets->cores; i++) {
		struct distance distance;
		struct moment moment;

		if (!view_is_off(view, i))
			continue;
		if (!found++)
			view_offset_ns(view, i, &group->other);
		distance = view_pair_ns(view, group->other, i);
		moment = view_moment(view, group->other, i);
		if (distance.near <= view->offset_limit_ns || (found > 1 && distance.ahead != all->ahead))
			return false;
		all->near = distance.near < all->near ? distance.near : all->near;
		all->far = distance.far > all->far ? distance.far : all->far;
		all->ahead = distance.ahead;
		if (moment.begin_tsc < group->moment.begin_tsc)
			group->moment.begin_tsc = moment.begin_tsc;
		if (moment.end_tsc > group->moment.end_tsc)
			group->moment.end_tsc = moment.end_tsc;
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
	return view->no_majority;
}

/* RANK, which is so far from OTHER; the finding names core NAMED. */
static void
name_core(struct report *report, const struct view *view, size_t rank, size_t other, uint32_t named, const char *cause,
	  const char *rest)
{
	struct distance distance = view_pair_ns(view, other, rank);
	char moments[MOMENTS_SIZE];

	set_distance(rules_add_finding(report, "tsc-offset", "tsc", named,
				       "Core %u's TSC is %lu to %lu ns %s core %u's %s, %s.%s",
				       view_core(view, rank)->apic_id, distance.near, distance.far,
				       distance.ahead ? "ahead of" : "behind", view_core(view, other)->apic_id,
				       put_moment(view, view_moment(view, other, rank), moments), cause, rest),
		     distance, view->offset_limit_ns);
}

static void
name_cores(struct report *report, const struct view *view, size_t off)
{
	size_t count = 0, other;
	char rest[REST_SIZE];

	for (size_t i = 0; i < view->offsets->cores && count < NAMED_MAX; i++) {
		if (!view_is_off(view, i))
			continue;
		count++;
		view_offset_ns(view, i, &other);
		name_core(report, view, i, other, view->no_majority ? REPORT_NO_CORE : view_core(view, i)->apic_id,
			  cause_of_offset(view), put_rest(rest, count, off));
	}
}

static void
judge_offsets(struct report *report, const struct view *view)
{
	struct odd_pair odd = view_odd_pair(view);
	struct group group;
	size_t off = 0;

	for (size_t i = 0; i < view->offsets->cores; i++)
		off += view_is_off(view, i);
	if (is_group(view, off, &group))
		name_group(report, view, &group);
	else
		name_cores(report, view, off);
	if (odd.found)
		name_core(report, view, odd.b, odd.a, REPORT_NO_CORE, NOBODYS_FAULT, "");
}

/* Two tournaments tell that a TSC moved, not how; with one between, that may be told. */
static const char *
cause_of_drift(const struct view *view, enum motion motion)
{
	bool stepped = motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE;

	if (view->report->hypervisor[0])
		return stepped ? "likely the hypervisor wrote it" :
				 "likely the hypervisor scales it, or moves the core between unequal ones";
	if (motion == MOTION_STEADY)
		return "likely a broken oscillator, or a source of its own";
	return stepped ? "likely it was written" : "likely a broken oscillator, or a source of its own, or it was written";
}

static const char *
put_motion(const struct view *view, enum motion motion, struct moment moment, char words[MOTION_SIZE])
{
	char moments[MOMENTS_SIZE];
	struct text text;

	text_init(&text, words, MOTION_SIZE);
	switch (motion) {
	case MOTION_UNTOLD:
		text_put(&text, "steadily or by a step");
		break;
	case MOTION_STEADY:
		text_put(&text, "steadily");
		break;
	case MOTION_STEP_EARLY:
	case MOTION_STEP_LATE:
		text_printf(&text, "by a step %s", put_moment(view, moment, moments));
		break;
	case MOTION_UNEVEN:
		text_put(&text, "unevenly");
		break;
	}
	return words;
}

/* From a time that took so long to another: "between 1.7 s and 17.4 s to 18.2 s". */
static const char *
put_stretch(const struct view *view, struct moment from, struct moment to, char stretch[STRETCH_SIZE])
{
	struct text text;

	text_init(&text, stretch, STRETCH_SIZE);
	text_put(&text, "between ");
	put_time(&text, view, from);
	text_put(&text, " and ");
	put_time(&text, view, to);
	return stretch;
}

static void
name_odd_drift(struct report *report, const struct view *view, struct odd_pair odd)
{
	struct distance distance = view_drift_ppb(view, odd.a, odd.b);
	char stretch[STRETCH_SIZE];

	set_distance(rules_add_finding(report, "tsc-drift", "tsc", REPORT_NO_CORE,
				       "Core %u's TSC ran %lu to %lu ppb %s than core %u's %s, and nothing shows which of "
				       "them moved.", view_core(view, odd.b)->apic_id, distance.near, distance.far,
				       distance.ahead ? "faster" : "slower", view_core(view, odd.a)->apic_id,
				       put_stretch(view, offsets_moment(&view->skew->offsets, odd.a, odd.b),
						   view_last_moment(view, odd.a, odd.b), stretch)),
		     distance, view->drift_limit_ppb);
}

static void
judge_drifts(struct report *report, const struct view *view)
{
	struct odd_pair odd = view_odd_drift(view);
	char rest[REST_SIZE], moments[MOMENTS_SIZE], how[MOTION_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < view->skew->offsets.cores && count < NAMED_MAX; i++) {
		const struct report_core *core = view_core(view, i);
		struct moment moment, stepped;
		struct distance distance;
		enum motion motion;

		if (!core->drifts)
			continue;
		count++;
		distance = view_drift_from_most(view, i, &moment);
		motion = view_motion(view, i, distance.ahead, &stepped);
		set_distance(rules_add_finding(report, "tsc-drift", "tsc", core->apic_id,
					       "Core %u's TSC ran %lu to %lu ppb %s than most %s, %s: %s.%s",
					       core->apic_id, distance.near, distance.far,
					       distance.ahead ? "faster" : "slower", put_moment(view, moment, moments),
					       put_motion(view, motion, stepped, how), cause_of_drift(view, motion),
					       put_rest(rest, count, view->drifting)),
			     distance, view->drift_limit_ppb);
	}
	if (odd.found)
		name_odd_drift(report, view, odd);
}

/* What the last tournament shows of others than those that the first one named: who came off while one was played. */
static void
judge_latest(struct report *report, const struct view *first, bool any_said)
{
	struct view view = view_latest(first);
	size_t off = 0, other;

	if (!any_said) {
		judge_offsets(report, &view);
		return;
	}
	for (size_t i = 0; i < view.offsets->cores && !view.no_majority; i++) {
		if (!view_is_off(&view, i) || view_is_off(first, i) || off++ >= NAMED_MAX)
			continue;
		view_offset_ns(&view, i, &other);
		name_core(report, &view, i, other, view_core(&view, i)->apic_id, cause_of_offset(&view), "");
	}
}

/* "core 1 and core 2", or "of cores 0, 1 and 2" where nothing shows which pair of them is wrong. */
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

/* Of all pairs of those that are named. */
static struct moment
moment_of_contradiction(const struct view *view, const struct offsets_summary *summary)
{
	size_t a = summary->contradiction_a, b = summary->contradiction_b, c = summary->contradiction_c;
	struct moment all = view_moment(view, a, b);

	for (size_t i = 0; i < 2 && c != b; i++) {
		struct moment other = view_moment(view, c, i ? b : a);

		all.begin_tsc = other.begin_tsc < all.begin_tsc ? other.begin_tsc : all.begin_tsc;
		all.end_tsc = other.end_tsc > all.end_tsc ? other.end_tsc : all.end_tsc;
	}
	return all;
}

static void
judge_contradictions(struct report *report, const struct view *view, const struct offsets_summary *summary)
{
	uint64_t limit = rules_limit_of(report, "tsc-contradiction");
	bool many = summary->contradictions != 1;
	char moments[MOMENTS_SIZE], subject[SUBJECT_SIZE];

	if (summary->contradictions <= limit)
		return;
	rules_set_count(rules_add_finding(report, "tsc-contradiction", "tsc", REPORT_NO_CORE,
					  "%zu pair%s of cores contradict%s what the others say, or what was measured "
					  "before, the worst %s, by %lu ns %s: likely a TSC moved while it was measured.",
					  summary->contradictions, many ? "s" : "", many ? "" : "s",
					  put_contradicting(view, summary, subject),
					  view_ns_down(view, summary->contradiction_ticks),
					  put_moment(view, moment_of_contradiction(view, summary), moments)),
			summary->contradictions, limit);
}

void
judge_skew(struct report *report)
{
	struct view view = view_of(report), latest;
	size_t said;

	judge_warps(report, &view);
	if (!report->skew.measured)
		return;
	said = report->finding_count;
	judge_offsets(report, &view);
	judge_drifts(report, &view);
	if (!report->skew.any_moved)
		judge_contradictions(report, &view, &report->skew.summary);
	judge_latest(report, &view, report->finding_count > said);
	latest = view_latest(&view);
	if (report->finding_count == said)
		judge_contradictions(report, &latest, &report->skew.latest_summary);
}
