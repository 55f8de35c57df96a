/*
 * Findings on TSCs that are off the majority: a group of cores, single cores, or a pair of which it is unknown which
 * core is wrong. See tsc_sync.h.
 */
#include "judge/cores/tsc_sync.h"

#define UNDECIDED_WORDS "and nothing shows which of them is right."

/* Returns the probable cause of an offset against OTHER, a core of the majority. */
static struct phrase
cause_phrase(const struct view *view, size_t other)
{
	if (view->no_majority)
		return phrase("%s", UNDECIDED_WORDS);
	return phrase("off the majority, which includes core %u: likely the %s", view_core(view, other)->apic_id,
		      view->report->hypervisor[0] ? "hypervisor gives it an offset of its own." :
		      "firmware wrote it, or it was reset later.");
}

/* Adds a finding on SUBJECT, whose distance from the core OTHER was measured in MOMENT. */
static struct finding *
add_offset_finding(struct report *report, const struct view *view, uint32_t named, const char *subject,
		   struct offset distance, size_t other, struct moment moment, const char *end)
{
	bool last = view->offsets == &report->skew.latest;
	struct finding *finding;

	finding = rules_add_finding(report, "tsc-offset", "tsc", named, "%s %lu to %lu ns %s core %u's %s%s, %s", subject,
				    offset_min_size(distance), offset_max_size(distance),
				    distance.low > 0 ? "ahead of" : "behind", view_core(view, other)->apic_id,
				    phrase_moment(report, moment).bytes,
				    !report->skew.drift_measured ? "" : last ? " (last pass)" : " (first pass)", end);
	skew_set_size(finding, distance, view->offset_limit_ns);
	return finding;
}

/* Returns true if the cores that are off are exactly the cores of PACKAGE. */
static bool
is_one_package(const struct view *view, uint32_t package)
{
	for (size_t i = 0; i < view->offsets->cores; i++) {
		const struct report_core *core = view_core(view, i);

		if (!core->facts_known || !core->facts.has_topology ||
		    (core->facts.package == package) != view_is_off_majority(view, i))
			return false;
	}
	return true;
}

/* A group of cores that are all off in the same direction. */
struct group {
	size_t count, first;    /* number of its cores, and the first of them */
	size_t other;           /* the core of the majority that is furthest from FIRST */
	struct offset distance; /* includes the distance of each core from OTHER */
	struct moment moment;   /* the time in which these distances were measured */
	bool one_way;           /* true if all are proven to be off from OTHER in the same direction */
};

static struct group
find_cores_off(const struct view *view)
{
	struct group group = { .moment = MOMENT_NEVER, .one_way = true };

	for (size_t i = 0; i < view->offsets->cores; i++) {
		struct offset offset;

		if (!view_is_off_majority(view, i))
			continue;
		if (!group.count++) {
			group.first = i;
			group.other = view_furthest(view, i);
			group.distance = view_offset(view, group.other, i);
		}
		offset = view_offset(view, group.other, i);
		group.one_way &= offset_min_size(offset) > view->offset_limit_ns && (offset.low > 0) == (group.distance.low > 0);
		group.distance.low = offset.low < group.distance.low ? offset.low : group.distance.low;
		group.distance.high = offset.high > group.distance.high ? offset.high : group.distance.high;
		group.moment = moment_hull(group.moment, view_pass_time(view, group.other, i));
	}
	return group;
}

/* Adds one finding on a group of cores: a package, or one of two halves without a majority. Returns false otherwise. */
static bool
add_group_finding(struct report *report, const struct view *view, const struct group *group)
{
	const struct report_core *first = view_core(view, group->first);
	struct phrase subject;

	if (group->count < 2 || !group->one_way)
		return false;
	if (is_one_package(view, first->facts.package))
		subject = phrase("The TSCs of all %zu cores of package %u are", group->count, first->facts.package);
	else if (view->no_majority)
		subject = phrase("The TSCs of %zu cores (core %u among them) are", group->count, first->apic_id);
	else
		return false;
	add_offset_finding(report, view, REPORT_NO_CORE, subject.bytes, group->distance, group->other, group->moment,
			   cause_phrase(view, group->other).bytes);
	return true;
}

/* Adds a finding on the distance of RANK from OTHER, with END after it. It names both if IS_PAIR, otherwise RANK. */
static void
add_core_finding(struct report *report, const struct view *view, size_t rank, size_t other, bool is_pair,
		 const char *end)
{
	uint32_t a = view_core(view, other)->apic_id, b = view_core(view, rank)->apic_id;
	struct finding *finding;

	finding = add_offset_finding(report, view, is_pair ? REPORT_NO_CORE : b, phrase("Core %u's TSC is", b).bytes,
				     view_offset(view, other, rank), other, view_pass_time(view, other, rank), end);
	if (is_pair)
		rules_set_pair(finding, a, b);
}

static void
add_core_findings(struct report *report, const struct view *view, size_t off)
{
	size_t count = 0;

	for (size_t i = 0; i < view->offsets->cores && count < SKEW_NAMED_MAX; i++) {
		size_t other;

		if (!view_is_off_majority(view, i))
			continue;
		other = view_furthest(view, i);
		/* The steps back explain the offset, and have a finding. */
		if (view->no_majority && (view_core(view, i)->steps_back || view_core(view, other)->steps_back))
			continue;
		add_core_finding(report, view, i, other, view->no_majority,
				 phrase("%s%s", cause_phrase(view, other).bytes, skew_rest(++count, off).bytes).bytes);
	}
}

void
skew_judge_offsets(struct report *report, const struct view *view)
{
	struct pair odd = view_pair_with_odd_offset(view);
	struct group off = find_cores_off(view);

	if (!add_group_finding(report, view, &off))
		add_core_findings(report, view, off.count);
	if (odd.b)
		add_core_finding(report, view, odd.b, odd.a, true, UNDECIDED_WORDS);
}

void
skew_judge_moved(struct report *report, const struct view *first, const struct view *last)
{
	size_t off = 0;

	for (size_t i = 0; i < last->offsets->cores && !last->no_majority && off < SKEW_NAMED_MAX; i++) {
		if (!view_is_off_majority(last, i) || view_is_off_majority(first, i))
			continue;
		off++;
		add_core_finding(report, last, i, view_furthest(last, i), false,
				 cause_phrase(last, view_furthest(last, i)).bytes);
	}
}
