/* Splits the error of a rate into its causes. See clock_tracker.h. */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"

#define PPT UINT64_C(1000000000000)

/* Returns half the width of LOW..HIGH, divided by LOW. */
static uint64_t
half_ppt(uint64_t low, uint64_t high)
{
	return low ? scale_ratio(high - low, PPT / 2, low, SCALE_UP) : 0;
}

static uint64_t
take_part(uint64_t *rest, uint64_t part)
{
	part = part < *rest ? part : *rest;
	*rest -= part;
	return part;
}

/* Returns the sum of the narrowest brackets at both ends of TRACK's measurement, in TSC ticks. */
static uint64_t
brackets(const struct survey *survey, const struct survey_track *track)
{
	struct rate_ends ends = survey_ends(survey, track, &track->first, &track->end);

	return ends.count < 2 ? 0 : ends.ends[0].corners->narrowest + ends.ends[ends.count - 1].corners->narrowest;
}

/* The rest of SLOPE's width, without the brackets and the TSC's resolution, is the clock's resolution. */
struct rate_budget
survey_budget(const struct survey *survey, const struct survey_track *track, const struct rate_slope *slope)
{
	unsigned __int128 low = (unsigned __int128)slope->low_ticks * slope->high_time;
	unsigned __int128 high = (unsigned __int128)slope->high_ticks * slope->low_time;
	uint64_t rest = low ? scale_ratio(high - low, PPT / 2, low, SCALE_UP) : 0;
	struct rate_budget budget = { .known = low != 0 };

	budget.tsc_resolution = take_part(&rest, scale_ratio(survey->tsc_resolution_ticks, PPT, slope->high_time, SCALE_UP));
	budget.bracket = take_part(&rest, track->entry->clock.edges_only ? rest :
				   scale_ratio(brackets(survey, track), PPT / 2, slope->high_time, SCALE_UP));
	budget.resolution = rest;
	return budget;
}

void
survey_complete_budget(const struct report *report, struct report_clock *entry)
{
	const struct rate_interval *tsc = &report->tsc_within;
	struct rate_budget *budget = &entry->budget;
	uint64_t whole = half_ppt(entry->measured.low, entry->measured.high), sum;

	budget->known &= entry->measured.low != 0;
	budget->tsc_rate = text_equal(entry->clock.id, "tsc") ? 0 : half_ppt(tsc->low, tsc->high);
	sum = budget->bracket + budget->resolution + budget->tsc_resolution + budget->tsc_rate + budget->claim;
	budget->conversion = whole > sum ? whole - sum : 0;
}
