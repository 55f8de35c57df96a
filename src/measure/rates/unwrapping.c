/* Checks the number of wraps that a counter made between two readings. See clock_tracker.h. */
#include "measure/rates/clock_tracker.h"

#define MISCOUNT_SHARE 4 /* counts that differ by more than 1/4 wrap mean another number of wraps */

/* Returns TICKS of TRACK's clock in ns, using its nominal frequency times its measured pace. */
static uint64_t
claimed_ns(const struct survey *survey, const struct survey_track *track, uint64_t ticks)
{
	const struct rate *claimed = &track->entry->clock.claimed;

	return scale_mul_div(ticks, claimed->den * SURVEY_NS_PER_S, claimed->num * survey->paces[track - survey->tracks]);
}

/* Returns the time from one wrap to the next; 0 for a 64-bit counter. */
static uint64_t
wrap_ns(const struct survey *survey, const struct survey_track *track)
{
	uint64_t range = track->entry->clock.wrap_ticks + 1;

	return range ? claimed_ns(survey, track, range) : 0;
}

static bool
is_counted(const struct survey_track *track)
{
	return track->entry && survey_usable(track->entry) && !track->entry->clock.edges_only && !track->entry->clock.by_tsc;
}

/* Returns true if OTHER, which wraps later, shows that TRACK's counter wrapped a different number of times.
 * Both are compared since their last check by the TSC. The TSC's rate is only an estimate here, but accurate
 * enough within one wrap.
 */
static bool
is_contradicted(const struct survey *survey, const struct survey_track *track, const struct survey_track *other)
{
	uint64_t wrap = wrap_ns(survey, track), others_wrap = wrap_ns(survey, other), ns, others_ns;
	uint64_t took = track->tsc - track->counted_tsc, others_took = other->tsc - other->counted_tsc;

	if (!wrap || (others_wrap && others_wrap <= wrap) || !others_took)
		return false;
	ns = claimed_ns(survey, track, track->ticks - track->counted_ticks);
	others_ns = scale_mul_div(claimed_ns(survey, other, other->ticks - other->counted_ticks), took, others_took);
	return others_ns > wrap && survey_apart(ns, others_ns) > wrap / MISCOUNT_SHARE;
}

void
survey_check_counts(struct survey *survey, bool cut)
{
	const size_t count = survey->report->clock_count;

	for (size_t i = 0; i < count * count; i++) {
		struct survey_track *track = &survey->tracks[i / count];
		const struct survey_track *other = &survey->tracks[i % count];

		if (!is_counted(track) || !is_counted(other) || !is_contradicted(survey, track, other))
			continue;
		track->uncounted |= !cut;
		track->stood |= cut;
	}
	for (size_t i = 0; i < count; i++) {
		survey->tracks[i].counted_ticks = survey->tracks[i].ticks;
		survey->tracks[i].counted_tsc = survey->tracks[i].tsc;
	}
}
