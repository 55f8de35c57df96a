/* Calculates rates as intervals. All rounding is outwards. See rate.h. */
#include "consensus/rate.h"

#include "base/scale.h"
#include "base/set.h"
#include "base/units.h"

/* upper limit of calculated errors, in ppb; reached by a rate that is a million times too high */
#define PPB_MAX        UINT64_C(1000000000000000)

struct span { /* an interval of TSC ticks, or of the clock's ticks */
	uint64_t low, high;
};

struct sample
rate_shortest_sample(const struct sample *samples, size_t count)
{
	const struct sample *best = &samples[0];

	/* If a sample's end is below its begin, the unsigned difference is huge, so this sample is never the best. */
	for (size_t i = 1; i < count; i++)
		if (samples[i].end - samples[i].begin < best->end - best->begin)
			best = &samples[i];
	return *best;
}

/*
 * Calculates the TSC ticks between the first and the last reading of WINDOW. The TSC's resolution widens the interval
 * on both sides: see struct rate_window. Returns false if the last sample does not certainly start after the end of the
 * first.
 */
static bool
bound_tsc_ticks_between_readings(const struct rate_window *window, struct span *time)
{
	const struct sample *first = &window->first, *last = &window->last;
	uint64_t resolution = window->tsc_resolution_ticks;

	time->low = last->begin - first->end - resolution;
	time->high = last->end - first->begin + resolution;
	return last->begin > first->end && last->begin - first->end > resolution && time->high >= time->low &&
	       time->high < RATE_TICKS_MAX;
}

/*
 * Calculates the clock's ticks between the first and the last reading of WINDOW. Returns false if the clock stepped
 * back, or advanced by more than RATE_TICKS_MAX.
 */
static bool
bound_clock_ticks_between_readings(const struct rate_window *window, struct span *ticks)
{
	uint64_t counted = window->last.ticks - window->first.ticks;

	ticks->low = counted > window->slack_ticks ? counted - window->slack_ticks : 0;
	ticks->high = counted + window->slack_ticks;
	return counted < RATE_TICKS_MAX && window->slack_ticks < RATE_TICKS_MAX;
}

static struct rate_interval
make_rate_interval(uint64_t value, uint64_t low, uint64_t high)
{
	if (high == UINT64_MAX) /* the rate does not fit into 64 bits */
		return (struct rate_interval){ .known = false };
	return (struct rate_interval){ true, value, low, high };
}

struct rate_slope
rate_calculate_slope(const struct rate_window *window)
{
	struct span time, ticks;

	if (!bound_tsc_ticks_between_readings(window, &time) || !bound_clock_ticks_between_readings(window, &ticks))
		return (struct rate_slope){ .known = false };
	return (struct rate_slope){ true, ticks.low, time.high, ticks.high, time.low };
}

void
rate_allow_late_edges(struct rate_window *window, uint64_t late_ticks)
{
	window->first.begin -= late_ticks < window->first.begin ? late_ticks : window->first.begin;
	window->last.begin -= late_ticks < window->last.begin ? late_ticks : window->last.begin;
}

static uint64_t
implied_microhz(struct rate claimed, uint64_t time, uint64_t ticks, enum scale_rounding rounding)
{
	return scale_mul_div_wide((unsigned __int128)claimed.num * time, MICROHZ_PER_HZ,
				  (unsigned __int128)claimed.den * ticks, rounding);
}

/*
 * The best estimate is the mediant (a + c) / (b + d) of the two bounds a / b and c / d, which is always between them.
 */
struct rate_interval
rate_of_tsc_implied_by_clock(const struct rate_slope *slope, struct rate claimed)
{
	if (!claimed.num || !claimed.den || !slope->known || !slope->low_ticks)
		return (struct rate_interval){ .known = false };
	return make_rate_interval(implied_microhz(claimed, slope->low_time + slope->high_time,
						  slope->low_ticks + slope->high_ticks,
				SCALE_NEAREST),
			implied_microhz(claimed, slope->high_time, slope->high_ticks, SCALE_DOWN),
			implied_microhz(claimed, slope->low_time, slope->low_ticks, SCALE_UP));
}

struct rate_interval
rate_widen(struct rate_interval rate, uint64_t ppb)
{
	if (!rate.known)
		return rate;
	return make_rate_interval(rate.value, ppb < PPB ? scale_mul_div(rate.low, PPB - ppb, PPB) : 0,
			scale_mul_div_up(rate.high, PPB + ppb, PPB));
}

static uint64_t
clock_microhz(uint64_t ticks, uint64_t tsc_microhz, uint64_t time, enum scale_rounding rounding)
{
	return scale_mul_div_wide((unsigned __int128)ticks * tsc_microhz, 1, time, rounding);
}

struct rate_interval
rate_of_clock(const struct rate_slope *slope, const struct rate_interval *tsc)
{
	if (!tsc->known || !slope->known)
		return (struct rate_interval){ .known = false };
	return make_rate_interval(clock_microhz(slope->low_ticks + slope->high_ticks, tsc->value,
				      slope->low_time + slope->high_time, SCALE_NEAREST),
			clock_microhz(slope->low_ticks, tsc->low, slope->low_time, SCALE_DOWN),
			clock_microhz(slope->high_ticks, tsc->high, slope->high_time, SCALE_UP));
}

/*
 * Returns the number of intervals of the set AMONG that contain POINT. Sets NARROWEST to the index of the narrowest of
 * these.
 */
static size_t
count_intervals_containing(const struct rate_interval *all, size_t count, uint32_t among, uint64_t point,
			   size_t *narrowest)
{
	size_t votes = 0;

	for (size_t i = 0; i < count; i++) {
		if (!set_has(among, i) || !all[i].known || point < all[i].low || point > all[i].high)
			continue;
		if (votes++ == 0 || rate_width(&all[i]) < rate_width(&all[*narrowest]))
			*narrowest = i;
	}
	return votes;
}

/* Marzullo's algorithm, as in NTP. The value that most intervals contain is found at the lower end of one of them. */
size_t
rate_find_consensus_index(const struct rate_interval *implied_rates, size_t count, uint32_t among)
{
	size_t best = count, best_votes = 0;

	for (size_t i = 0; i < count; i++) {
		size_t narrowest = i;
		size_t votes = !set_has(among, i) || !implied_rates[i].known ? 0 :
			count_intervals_containing(implied_rates, count, among, implied_rates[i].low, &narrowest);

		if (votes > best_votes ||
		    (votes && votes == best_votes &&
		     rate_width(&implied_rates[narrowest]) < rate_width(&implied_rates[best]))) {
			best = narrowest;
			best_votes = votes;
		}
	}
	return best;
}

/*
 * Returns (A - B) * FACTOR / DIVISOR, rounded by ROUNDING. The result is limited to PPB_MAX, so that the sum of very
 * many results does not overflow.
 */
static int64_t
scaled_difference(unsigned __int128 a, unsigned __int128 b, uint64_t factor, unsigned __int128 divisor,
		  enum scale_rounding rounding)
{
	uint64_t magnitude;

	if (a < b) {
		enum scale_rounding opposite = rounding == SCALE_NEAREST ? SCALE_NEAREST :
					       rounding == SCALE_UP	 ? SCALE_DOWN :
									   SCALE_UP;

		magnitude = scale_mul_div_wide(b - a, factor, divisor, opposite);
		return -(int64_t)(magnitude < PPB_MAX ? magnitude : PPB_MAX);
	}
	magnitude = scale_mul_div_wide(a - b, factor, divisor, rounding);
	return (int64_t)(magnitude < PPB_MAX ? magnitude : PPB_MAX);
}

static int64_t
relative_difference_ppb(uint64_t a, uint64_t b, enum scale_rounding rounding)
{
	return scaled_difference(a, b, PPB, b, rounding);
}

struct interval_ppb
rate_relative_difference(const struct rate_interval *a, const struct rate_interval *b)
{
	if (!a->known || !b->known || !a->low)
		return (struct interval_ppb){ .known = false };
	return (struct interval_ppb){ true, relative_difference_ppb(b->value, a->value, SCALE_NEAREST),
				  relative_difference_ppb(b->low, a->high, SCALE_DOWN),
				  relative_difference_ppb(b->high, a->low, SCALE_UP) };
}

/*
 * Returns the error of MICROHZ against CLAIMED in ppb. Both rates are multiplied by the denominator of CLAIMED, so that
 * the calculation is in integers.
 */
static int64_t
error_against_claim_ppb(uint64_t microhz, struct rate claimed, enum scale_rounding rounding)
{
	return scaled_difference((unsigned __int128)microhz * claimed.den,
				 (unsigned __int128)claimed.num * MICROHZ_PER_HZ, PPB / MICROHZ_PER_HZ, claimed.num,
				 rounding);
}

struct interval_ppb
rate_error_against_claim(const struct rate_interval *measured, struct rate claimed)
{
	if (!measured->known || !claimed.num || !claimed.den)
		return (struct interval_ppb){ .known = false };
	return (struct interval_ppb){ true, error_against_claim_ppb(measured->value, claimed, SCALE_NEAREST),
				  error_against_claim_ppb(measured->low, claimed, SCALE_DOWN),
				  error_against_claim_ppb(measured->high, claimed, SCALE_UP) };
}

uint64_t
rate_unwrap_ticks(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks,
		  uint64_t expected_ticks)
{
	uint64_t elapsed = clock_elapsed_ticks(clock, then_ticks, now_ticks);
	uint64_t range = clock->wrap_ticks + 1; /* 0 for a 64-bit counter, because 2^64 does not fit */

	if (!range)
		return elapsed;
	if (elapsed > expected_ticks)
		return elapsed - expected_ticks > range - range / 2 ? elapsed - range : elapsed;

	uint64_t missing = expected_ticks - elapsed;

	if (missing > range / 2)
		elapsed += (missing / range + (missing % range > range / 2)) * range;
	return elapsed;
}
