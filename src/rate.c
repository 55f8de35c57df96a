/* Rates as intervals. See rate.h. */
#include "rate.h"

#include "scale.h"

#define MICROHZ_PER_HZ UINT64_C(1000000)
#define BILLION        UINT64_C(1000000000)

struct spans { /* what a window proves */
	uint64_t tsc, tsc_low, tsc_high;
	uint64_t ticks, ticks_low, ticks_high;
};

struct rate_end
rate_tightest(const struct sample *samples, size_t count)
{
	const struct sample *best = samples;

	for (size_t i = 1; i < count; i++)
		if (samples[i].end - samples[i].begin < best->end - best->begin)
			best = &samples[i];
	return (struct rate_end){ best->begin, best->end, best->ticks };
}

static bool
spans_of(const struct rate_window *window, struct spans *spans)
{
	const struct rate_end *first = &window->first, *last = &window->last;

	if (last->ticks <= first->ticks || last->begin <= first->end)
		return false;
	spans->tsc_low = last->begin - first->end;
	spans->tsc_high = last->end - first->begin;
	spans->tsc = spans->tsc_low + (spans->tsc_high - spans->tsc_low) / 2;
	spans->ticks = last->ticks - first->ticks;
	if (spans->ticks <= window->slack_ticks)
		return false;
	spans->ticks_low = spans->ticks - window->slack_ticks;
	spans->ticks_high = spans->ticks + window->slack_ticks;
	return true;
}

typedef uint64_t division(uint64_t a, uint64_t b, uint64_t c);

/*
 * TSC * num / (TICKS * den) in millionths of a hertz, rounded as DIVIDE does: first the hertz, then the rest.
 * TICKS * den must fit 64 bits.
 */
static uint64_t
implied(uint64_t tsc, uint64_t ticks, struct rate claimed, division *divide)
{
	uint64_t den = ticks * claimed.den;
	uint64_t hertz = scale_mul_div(tsc, claimed.num, den);
	unsigned __int128 rest = (unsigned __int128)tsc * claimed.num - (unsigned __int128)hertz * den;

	return hertz * MICROHZ_PER_HZ + divide((uint64_t)rest, MICROHZ_PER_HZ, den);
}

struct rate_interval
rate_implied_tsc(const struct rate_window *window, struct rate claimed)
{
	struct spans s;

	if (!claimed.den || !claimed.num || !spans_of(window, &s) ||
	    s.ticks_high > UINT64_MAX / claimed.den)
		return (struct rate_interval){ .known = false };
	return (struct rate_interval){
		true,
		implied(s.tsc, s.ticks, claimed, scale_mul_div_nearest),
		implied(s.tsc_low, s.ticks_high, claimed, scale_mul_div),
		implied(s.tsc_high, s.ticks_low, claimed, scale_mul_div_up),
	};
}

struct rate_interval
rate_of_clock(const struct rate_window *window, const struct rate_interval *tsc)
{
	struct spans s;

	if (!tsc->known || !spans_of(window, &s))
		return (struct rate_interval){ .known = false };
	return (struct rate_interval){
		true,
		scale_mul_div_nearest(tsc->value, s.ticks, s.tsc),
		scale_mul_div(tsc->low, s.ticks_low, s.tsc_high),
		scale_mul_div_up(tsc->high, s.ticks_high, s.tsc_low),
	};
}

/* The known rate that has as many known ones below it as above, the lower of two middle ones. */
static size_t
median(const struct rate_interval *implied_rates, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		known += implied_rates[i].known;
	for (size_t i = 0; i < count; i++) {
		size_t before = 0;

		if (!implied_rates[i].known)
			continue;
		for (size_t k = 0; k < count; k++)
			before += implied_rates[k].known &&
				  (implied_rates[k].value < implied_rates[i].value ||
				   (implied_rates[k].value == implied_rates[i].value && k < i));
		if (before == (known - 1) / 2)
			return i;
	}
	return count;
}

size_t
rate_consensus(const struct rate_interval *implied_rates, size_t count)
{
	size_t middle = median(implied_rates, count), best = middle;

	for (size_t i = 0; i < count && middle < count; i++) {
		const struct rate_interval *rate = &implied_rates[i];

		if (rate->known && rate->low <= implied_rates[middle].high &&
		    rate->high >= implied_rates[middle].low &&
		    rate->high - rate->low < implied_rates[best].high - implied_rates[best].low)
			best = i;
	}
	return best;
}

/* (OVER / UNDER - 1) * 10^9, rounded down or up; clipped to what an int64_t holds. */
static int64_t
ppb(uint64_t over, uint64_t under, bool up)
{
	bool negative = over < under;
	uint64_t difference = negative ? under - over : over - under;
	uint64_t size = up != negative ? scale_mul_div_up(difference, BILLION, under) :
					 scale_mul_div(difference, BILLION, under);

	if (size > INT64_MAX)
		size = INT64_MAX;
	return negative ? -(int64_t)size : (int64_t)size;
}

struct rate_ppb
rate_compare(const struct rate_interval *implied_a, const struct rate_interval *implied_b)
{
	if (!implied_a->known || !implied_b->known || !implied_a->low)
		return (struct rate_ppb){ .known = false };
	return (struct rate_ppb){
		true,
		ppb(implied_b->value, implied_a->value, false),
		ppb(implied_b->low, implied_a->high, false),
		ppb(implied_b->high, implied_a->low, true),
	};
}

struct rate_ppb
rate_error(const struct rate_interval *measured, struct rate claimed)
{
	uint64_t low, high;

	if (!measured->known || !claimed.den || !claimed.num)
		return (struct rate_ppb){ .known = false };
	low = scale_mul_div(claimed.num, MICROHZ_PER_HZ, claimed.den);
	high = scale_mul_div_up(claimed.num, MICROHZ_PER_HZ, claimed.den);
	return (struct rate_ppb){
		true,
		ppb(measured->value, scale_mul_div_nearest(claimed.num, MICROHZ_PER_HZ, claimed.den), false),
		ppb(measured->low, high, false),
		ppb(measured->high, low, true),
	};
}

uint64_t
rate_unwrap(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks, uint64_t expected_ticks)
{
	uint64_t elapsed = clock_elapsed_ticks(clock, then_ticks, now_ticks);
	uint64_t turn = clock->wrap_ticks + 1; /* 0 for a counter of 64 bits: it does not wrap in a run */

	if (!turn || expected_ticks <= elapsed)
		return elapsed;
	return elapsed + (expected_ticks - elapsed + turn / 2) / turn * turn;
}
