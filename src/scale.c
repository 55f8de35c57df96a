/* Exact arithmetic on 128-bit products. See scale.h. */
#include "scale.h"

#define NS_PER_S UINT64_C(1000000000)

struct division {
	uint64_t quotient, rest;
	bool fits;
};

/* One bit a turn: the compiler would call its library for a 128-bit division. */
static struct division
divide(unsigned __int128 dividend, uint64_t divisor)
{
	struct division result = { 0, 0, true };
	unsigned __int128 rest = 0;

	if (divisor == 0 || (uint64_t)(dividend >> 64) >= divisor)
		return (struct division){ UINT64_MAX, 0, false };
	rest = dividend >> 64;
	for (int bit = 63; bit >= 0; bit--) {
		rest = rest << 1 | ((uint64_t)dividend >> bit & 1);
		result.quotient <<= 1;
		if (rest >= divisor) {
			rest -= divisor;
			result.quotient |= 1;
		}
	}
	result.rest = (uint64_t)rest;
	return result;
}

uint64_t
scale_mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	return divide((unsigned __int128)a * b, c).quotient;
}

uint64_t
scale_mul_div_up(uint64_t a, uint64_t b, uint64_t c)
{
	struct division d = divide((unsigned __int128)a * b, c);

	return d.quotient + (d.fits && d.rest != 0 && d.quotient != UINT64_MAX);
}

uint64_t
scale_mul_div_nearest(uint64_t a, uint64_t b, uint64_t c)
{
	struct division d = divide((unsigned __int128)a * b, c);

	return d.quotient + (d.fits && d.rest >= c - d.rest && d.quotient != UINT64_MAX);
}

void
scale_init(struct scale *scale, struct rate hz)
{
	if (!hz.num || !hz.den)
		hz = (struct rate){ NS_PER_S, 1 };
	scale->hz = hz;
	scale->multiplier = scale_mul_div_nearest(NS_PER_S << 32, hz.den, hz.num);
}

uint64_t
scale_ticks(const struct scale *scale, uint64_t ns)
{
	uint64_t seconds = ns / NS_PER_S, rest = ns % NS_PER_S;

	return scale_mul_div(seconds, scale->hz.num, scale->hz.den) +
	       scale_mul_div(rest, scale->hz.num, scale->hz.den * NS_PER_S);
}
