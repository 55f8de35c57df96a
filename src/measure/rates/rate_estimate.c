/* Calculates a clock's rate between two readings, and the TSC's rate from it. See rate.h. */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"

/* An uneven step leaves a remainder of up to a tick, and each reading is up to a tick old. */
#define UNEVEN_TICKS 2

/*
 * An RTC's edge is the end of its update cycle, which a chip derives from its crystal. An emulator raises it in
 * its main loop, which a busy host delays: by 47 us to 1.3 ms as seen with QEMU, by milliseconds if the host is
 * overloaded.
 */
#define EDGE_LATE_NS (10 * SURVEY_NS_PER_MS) /* in a guest */

/* Sets the clock's step. The step seen by any read method of the same device is an upper bound. */
static void
take_resolution(const struct report *report, const struct report_clock *entry, struct rate_ends *ends)
{
	struct resolution all = entry->resolution;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *other = &report->clocks[i];

		if (text_equal(other->clock.main, entry->clock.main))
			resolution_merge(&all, &other->resolution);
	}
	ends->even_ticks = all.gcd_ticks;
	ends->uneven_ticks = all.smallest_ticks + UNEVEN_TICKS;
}

/* Returns NS in TSC ticks, calculated from the periods of an edge clock (an RTC, see clock.h). */
static uint64_t
ticks_of_edges(const struct survey_track *track, uint64_t ns)
{
	const struct rate *claimed = &track->entry->clock.claimed;
	uint64_t periods = track->last.ticks - track->first.ticks;

	return scale_ratio((unsigned __int128)(track->last.end - track->first.begin) * ns, claimed->num,
			   (unsigned __int128)periods * claimed->den * SURVEY_NS_PER_S, SCALE_UP);
}

/* Returns END with its begin moved back by LATE_TICKS, because the edge may have come that long before it was
 * seen.
 */
static struct sample
widened(const struct sample *end, uint64_t late_ticks)
{
	return (struct sample){ end->begin > late_ticks ? end->begin - late_ticks : 0, end->ticks, end->end };
}

struct rate_ends
survey_ends(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	    const struct sample *to)
{
	struct rate_ends ends = { .tsc_resolution_ticks = survey->tsc_resolution_ticks };

	for (size_t i = 0; i < track->look_count; i++) {
		const struct survey_look *look = &track->looks[i];
		const struct sample *sample = &look->tightest;

		if (sample->begin >= from->begin && sample->begin <= to->begin &&
		    (!ends.count || sample->begin > ends.ends[ends.count - 1].sample.begin))
			ends.ends[ends.count++] = (struct rate_end){ *sample, &look->corners };
	}
	take_resolution(survey->report, track->entry, &ends);
	return ends;
}

struct rate_slope
survey_slope(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	     const struct sample *to, enum rate_fit *fit)
{
	struct rate_window window = { *from, *to, 0, survey->tsc_resolution_ticks };
	struct rate_ends ends;

	*fit = RATE_FIT_NONE;
	if (!track->entry->clock.edges_only) {
		ends = survey_ends(survey, track, from, to);
		if (ends.count < 2)
			return (struct rate_slope){ .known = false };
		return rate_fit(&ends, fit);
	}
	if (survey->report->hypervisor[0] && from->end < to->begin && track->last.ticks != track->first.ticks) {
		uint64_t late = ticks_of_edges(track, EDGE_LATE_NS);

		window.first = widened(from, late);
		window.last = widened(to, late);
	}
	return rate_slope(&window);
}

/* Returns the TSC's rate if the clock's nominal frequency is exact. */
static struct rate_interval
implied_exactly(const struct survey *survey, const struct survey_track *track, const struct sample *from,
		const struct sample *to)
{
	enum rate_fit fit;
	struct rate_slope slope = survey_slope(survey, track, from, to, &fit);
	struct rate_interval implied = rate_implied_tsc(&slope, track->entry->clock.claimed);

	implied.known &= track->entry->resolution.steps && survey_is_rate(survey, &implied);
	return implied;
}

struct rate_interval
survey_implied(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	       const struct sample *to)
{
	return rate_within(implied_exactly(survey, track, from, to), track->entry->clock.claimed_within_ppb);
}

struct rate_interval
survey_implied_plainly(const struct survey *survey, const struct survey_track *track, const struct sample *from,
		       const struct sample *to)
{
	const struct report_clock *entry = track->entry;
	struct rate_window window = { *from, *to, entry->resolution.smallest_ticks + UNEVEN_TICKS,
				      survey->tsc_resolution_ticks };
	struct rate_slope slope = rate_slope(&window);
	struct rate_interval implied = rate_implied_tsc(&slope, entry->clock.claimed);

	implied.known &= entry->resolution.steps != 0;
	return implied;
}

struct interval_ppb
survey_change(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	      const struct sample *middle, const struct sample *to)
{
	struct rate_interval before = implied_exactly(survey, track, from, middle);
	struct rate_interval after = implied_exactly(survey, track, middle, to);

	return rate_compare(&after, &before);
}

struct rate_interval
survey_claim(const struct clock *tsc)
{
	const struct rate *claimed = &tsc->claimed;

	if (!claimed->den)
		return (struct rate_interval){ .known = false };
	return rate_within((struct rate_interval){
		true,
		scale_mul_div_nearest(claimed->num, SURVEY_MICROHZ_PER_HZ, claimed->den),
		scale_mul_div(claimed->num, SURVEY_MICROHZ_PER_HZ, claimed->den),
		scale_mul_div_up(claimed->num, SURVEY_MICROHZ_PER_HZ, claimed->den),
	}, tsc->claimed_within_ppb);
}
