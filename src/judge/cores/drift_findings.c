/* Findings on TSCs that run faster or slower than most, or that stepped. See tsc_sync.h. */
#include "judge/cores/tsc_sync.h"

/*
 * Returns the probable cause. The first and the last pass over the cores show that a TSC gained or lost time. Only a
 * middle pass can show whether it did so at once (a step) or steadily (drift).
 */
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

static struct phrase
motion_phrase(const struct view *view, enum motion motion, struct moment moment)
{
	static const char *const words[] = {
		[MOTION_UNKNOWN] = "steadily or by a step", [MOTION_STEADY] = "steadily", [MOTION_UNEVEN] = "unevenly",
	};

	if (motion == MOTION_STEP_EARLY || motion == MOTION_STEP_LATE)
		return phrase("by a step %s", phrase_moment(view->report, moment).bytes);
	return phrase("%s", words[motion]);
}

static void
add_pair_drift_finding(struct report *report, const struct view *view, struct pair odd)
{
	struct offset drift = view_drift(view, odd.a, odd.b);
	uint32_t a = view_core(view, odd.a)->apic_id, b = view_core(view, odd.b)->apic_id;
	struct finding *finding;

	finding = rules_add_finding(report, "tsc-drift", "tsc", REPORT_NO_CORE,
				    "Core %u's TSC ran %lu to %lu ppb %s than core %u's between %s and %s, and nothing shows which of "
				    "them moved.", b, offset_min_size(drift), offset_max_size(drift),
				    drift.high > 0 ? "faster" : "slower", a,
				    phrase_span(report, offsets_moment(&report->skew.offsets, odd.a, odd.b)).bytes,
				    phrase_span(report, offsets_moment(&report->skew.latest, odd.a, odd.b)).bytes);
	skew_set_size(finding, drift, view->drift_limit_ppb);
	rules_set_pair(finding, a, b);
}

static void
add_drift_finding(struct report *report, const struct view *view, size_t rank, struct phrase rest)
{
	uint32_t core = view_core(view, rank)->apic_id;
	struct moment moment, stepped;
	struct offset drift = view_drift_from_most(view, rank, &moment);
	enum motion motion = view_motion(view, rank, drift.high > 0, &stepped);
	struct finding *finding;

	finding = rules_add_finding(report, "tsc-drift", "tsc", core,
				    "Core %u's TSC ran %lu to %lu ppb %s than most %s, %s: %s.%s", core,
				    offset_min_size(drift), offset_max_size(drift),
				    drift.high > 0 ? "faster" : "slower", phrase_moment(report, moment).bytes,
				    motion_phrase(view, motion, stepped).bytes, drift_cause(view, motion), rest.bytes);
	skew_set_size(finding, drift, view->drift_limit_ppb);
}

void
skew_judge_drifts(struct report *report, const struct view *view)
{
	struct pair odd = view_pair_with_odd_drift(view);
	size_t count = 0;

	for (size_t i = 0; i < view->offsets->cores && count < SKEW_NAMED_MAX; i++)
		if (view_core(view, i)->drifts)
			add_drift_finding(report, view, i, skew_rest(++count, view->drifting));
	if (odd.b)
		add_pair_drift_finding(report, view, odd);
}
