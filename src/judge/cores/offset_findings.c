/*
 * Findings on TSCs that are off the majority: a group of cores, single cores, or a pair of which it is unknown which
 * core is wrong. See tsc_sync.h.
 */
#include "judge/cores/tsc_sync.h"

#define UNDECIDED_WORDS "and nothing shows which of them is right"
#define CAUSE_SIZE    128 /* bytes for the longest clause of put_cause() */
#define WHEN_SIZE     (SKEW_MOMENTS_SIZE + 20)
#define SUBJECT_SIZE  64 /* bytes for "18446744073709551615 cores (core 4294967295 among them)" */

/* Writes the probable cause of an offset against OTHER, a core of the majority. */
static const char *
put_cause(const struct view *view, size_t other, char cause[CAUSE_SIZE])
{
	struct text text;

	text_init(&text, cause, CAUSE_SIZE);
	if (view->no_majority)
		text_put(&text, UNDECIDED_WORDS);
	else
		text_printf(&text, "off the majority, which includes core %u: likely the %s", view_core(view, other)->apic_id,
			    view->report->hypervisor[0] ? "hypervisor gives it an offset of its own" :
			    "firmware wrote it, or it was reset later");
	return cause;
}

/* Writes the time of a pair's measurement, and its pass if there were several. */
static const char *
put_when(const struct view *view, struct moment moment, char when[WHEN_SIZE])
{
	char moments[SKEW_MOMENTS_SIZE];
	struct text text;

	text_init(&text, when, WHEN_SIZE);
	text_put(&text, skew_put_moment(view, moment, moments));
	if (view->skew->drift_measured)
		text_printf(&text, " (%s pass)", view->offsets == &view->skew->latest ? "last" : "first");
	return when;
}

/* Returns true if the cores that are off are exactly the cores of one package. */
static bool
is_one_package(const struct view *view, uint32_t *package)
{
	bool found = false;

	*package = 0;
	for (size_t i = 0; i < view->skew->offsets.cores && !found; i++) {
		found = view_is_off_majority(view, i);
		*package = view_core(view, i)->facts.package;
	}
	for (size_t i = 0; i < view->skew->offsets.cores; i++) {
		const struct report_core *core = view_core(view, i);

		if (!core->facts_known || !core->facts.has_topology ||
		    (core->facts.package == *package) != view_is_off_majority(view, i))
			return false;
	}
	return true;
}

struct group { /* a group of cores that are all off in the same direction */
	char subject[SUBJECT_SIZE]; /* the subject of its finding, as "all 8 cores of package 1" */
	struct distance distance;   /* includes the distance of each of its cores from OTHER */
	size_t other;               /* a core of the majority */
	struct moment moment;       /* the time in which these distances were measured */
};

static void
add_group_finding(struct report *report, const struct view *view, const struct group *group)
{
	struct distance distance = group->distance;
	char when[WHEN_SIZE], cause[CAUSE_SIZE];

	skew_set_distance(rules_add_finding(report, "tsc-offset", "tsc", REPORT_NO_CORE,
				       "The TSCs of %s are %lu to %lu ns %s core %u's %s, %s.", group->subject,
				       distance.near, distance.far, distance.ahead ? "ahead of" : "behind",
				       view_core(view, group->other)->apic_id, put_when(view, group->moment, when),
				       put_cause(view, group->other, cause)),
		     distance, view->offset_limit_ns);
}

/*
 * Calculates the distance of all cores that are off from one other core, the core that is furthest from the first of
 * them. Returns false unless all are proven to be off from it in the same direction.
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

		if (!view_is_off_majority(view, i))
			continue;
		if (!found++)
			view_offset_ns(view, i, &group->other);
		distance = view_pair_ns(view, group->other, i);
		moment = view_pass_time(view, group->other, i);
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

/*
 * Returns true if the OFF cores that are off form a group: a package, or one of two halves without a majority. Sets
 * GROUP then.
 */
static bool
find_group(const struct view *view, size_t off, struct group *group)
{
	struct text text;
	uint32_t package;
	size_t first = 0;

	text_init(&text, group->subject, SUBJECT_SIZE);
	if (!measure_group(view, group))
		return false;
	if (is_one_package(view, &package)) {
		text_printf(&text, "all %zu cores of package %u", off, package);
		return true;
	}
	while (!view_is_off_majority(view, first))
		first++;
	text_printf(&text, "%zu cores (core %u among them)", off, view_core(view, first)->apic_id);
	return view->no_majority;
}

/* Adds a finding on the distance of RANK from OTHER. It names core NAMED, or the pair if that is REPORT_NO_CORE. */
static void
add_core_finding(struct report *report, const struct view *view, size_t rank, size_t other, uint32_t named,
		 const char *cause, const char *rest)
{
	struct distance distance = view_pair_ns(view, other, rank);
	uint32_t a = view_core(view, other)->apic_id, b = view_core(view, rank)->apic_id;
	struct finding *finding;
	char when[WHEN_SIZE];

	finding = rules_add_finding(report, "tsc-offset", "tsc", named,
				    "Core %u's TSC is %lu to %lu ns %s core %u's %s, %s.%s", b, distance.near,
				    distance.far, distance.ahead ? "ahead of" : "behind", a,
				    put_when(view, view_pass_time(view, other, rank), when), cause, rest);
	skew_set_distance(finding, distance, view->offset_limit_ns);
	if (named == REPORT_NO_CORE)
		rules_set_pair(finding, a, b);
}

static void
add_core_findings(struct report *report, const struct view *view, size_t off)
{
	size_t count = 0, other;
	char rest[SKEW_REST_SIZE], cause[CAUSE_SIZE];

	for (size_t i = 0; i < view->offsets->cores && count < SKEW_NAMED_MAX; i++) {
		if (!view_is_off_majority(view, i))
			continue;
		view_offset_ns(view, i, &other);
		if (view->no_majority && (view_core(view, i)->steps_back || view_core(view, other)->steps_back))
			/* The steps back explain the offset, and have a finding. */
			continue;
		count++;
		add_core_finding(report, view, i, other,
				 view->no_majority ? REPORT_NO_CORE : view_core(view, i)->apic_id,
				 put_cause(view, other, cause), skew_put_rest(rest, count, off));
	}
}

void
skew_judge_offsets(struct report *report, const struct view *view)
{
	struct odd_pair odd = view_pair_with_odd_offset(view);
	struct group group;
	size_t off = 0;

	for (size_t i = 0; i < view->offsets->cores; i++)
		off += view_is_off_majority(view, i);
	if (find_group(view, off, &group))
		add_group_finding(report, view, &group);
	else
		add_core_findings(report, view, off);
	if (odd.found)
		add_core_finding(report, view, odd.b, odd.a, REPORT_NO_CORE, UNDECIDED_WORDS, "");
}

void
skew_judge_latest(struct report *report, const struct view *first, bool any_found)
{
	struct view view = view_last_pass(first);
	char cause[CAUSE_SIZE];
	size_t off = 0, other;

	if (!any_found) {
		skew_judge_offsets(report, &view);
		return;
	}
	for (size_t i = 0; i < view.offsets->cores && !view.no_majority; i++) {
		if (!view_is_off_majority(&view, i) || view_is_off_majority(first, i) || off++ >= SKEW_NAMED_MAX)
			continue;
		view_offset_ns(&view, i, &other);
		add_core_finding(report, &view, i, other, view_core(&view, i)->apic_id,
				 put_cause(&view, other, cause), "");
	}
}
