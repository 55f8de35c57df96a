/* Findings on TSCs that run faster or slower than most, or that stepped. See tsc_sync.h. */
#include "judge/cores/tsc_sync.h"

#define MOTION_SIZE  (SKEW_MOMENTS_SIZE + 16) /* bytes for "by a step " and a time interval */
#define STRETCH_SIZE 144 /* bytes for two time intervals, as put_two_times() writes them */

/* Returns the probable cause. Two passes show that a TSC moved. Only a pass in between may show whether it stepped. */
static const char *
drift_cause(const struct view *view, enum motion motion)
{
	bool stepped = motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE;

	if (view->report->hypervisor[0])
		return stepped ? "likely the hypervisor wrote it" :
				 "likely the hypervisor scales it, or runs it on cores with different TSCs";
	if (motion == MOTION_STEADY)
		return "likely a broken oscillator or a separate clock source";
	return stepped ? "likely something wrote to it" :
			 "likely a broken oscillator, a separate clock source, or a write to it";
}

static const char *
put_motion(const struct view *view, enum motion motion, struct moment moment, char words[MOTION_SIZE])
{
	char moments[SKEW_MOMENTS_SIZE];
	struct text text;

	text_init(&text, words, MOTION_SIZE);
	switch (motion) {
	case MOTION_UNKNOWN:
		text_put(&text, "steadily or by a step");
		break;
	case MOTION_STEADY:
		text_put(&text, "steadily");
		break;
	case MOTION_STEP_EARLY:
	case MOTION_STEP_LATE:
		text_printf(&text, "by a step %s", skew_put_moment(view, moment, moments));
		break;
	case MOTION_UNEVEN:
		text_put(&text, "unevenly");
		break;
	}
	return words;
}

/* Writes the times of two measurements: "between 1.7 s and 17.4 s to 18.2 s". */
static const char *
put_two_times(const struct view *view, struct moment from, struct moment to, char stretch[STRETCH_SIZE])
{
	struct text text;

	text_init(&text, stretch, STRETCH_SIZE);
	text_put(&text, "between ");
	skew_put_time(&text, view, from);
	text_put(&text, " and ");
	skew_put_time(&text, view, to);
	return stretch;
}

static void
add_pair_drift_finding(struct report *report, const struct view *view, struct odd_pair odd)
{
	struct distance distance = view_drift_ppb(view, odd.a, odd.b);
	uint32_t a = view_core(view, odd.a)->apic_id, b = view_core(view, odd.b)->apic_id;
	char stretch[STRETCH_SIZE];
	struct finding *finding;

	finding = rules_add_finding(report, "tsc-drift", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC ran %lu to %lu ppb %s than core %u's %s, and nothing shows which of "
				    "them moved.", b, distance.near, distance.far, distance.ahead ? "faster" : "slower", a,
				    put_two_times(view, offsets_moment(&view->skew->offsets, odd.a, odd.b),
						view_last_pass_time(view, odd.a, odd.b), stretch));
	skew_set_distance(finding, distance, view->drift_limit_ppb);
	rules_set_pair(finding, a, b);
}

void
skew_judge_drifts(struct report *report, const struct view *view)
{
	struct odd_pair odd = view_pair_with_odd_drift(view);
	char rest[SKEW_REST_SIZE], moments[SKEW_MOMENTS_SIZE], how[MOTION_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < view->skew->offsets.cores && count < SKEW_NAMED_MAX; i++) {
		const struct report_core *core = view_core(view, i);
		struct moment moment, stepped;
		struct distance distance;
		enum motion motion;

		if (!core->drifts)
			continue;
		count++;
		distance = view_drift_from_most(view, i, &moment);
		motion = view_motion(view, i, distance.ahead, &stepped);
		skew_set_distance(rules_add_finding(report, "tsc-drift", "tsc", core->apic_id,
					       "Core %u's TSC ran %lu to %lu ppb %s than most %s, %s: %s.%s",
					       core->apic_id, distance.near, distance.far,
					       distance.ahead ? "faster" : "slower", skew_put_moment(view, moment, moments),
					       put_motion(view, motion, stepped, how), drift_cause(view, motion),
					       skew_put_rest(rest, count, view->drifting)),
			     distance, view->drift_limit_ppb);
	}
	if (odd.found)
		add_pair_drift_finding(report, view, odd);
}
