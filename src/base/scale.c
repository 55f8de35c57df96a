/* Converts ticks to ns, and calculates exact fractions. See scale.h. */
#include "base/scale.h"

#include "base/units.h"

#include <stdbool.h>

#define MULTIPLIER_BITS 32
#define LIMBS           3 /* number of 64-bit parts in the product of a 128-bit and a 64-bit number */
#define LIMB_BITS       64
#define DIGIT_BITS      32

void
scale_init(struct scale *scale, struct rate hz)
{
	scale->hz = hz.num && hz.den ? hz : (struct rate){ NS_PER_S, 1 };
	scale->multiplier = scale_mul_div_nearest(NS_PER_S << MULTIPLIER_BITS, scale->hz.den,
						  scale->hz.num);
	scale->least = scale_mul_div(NS_PER_S << MULTIPLIER_BITS, scale->hz.den, scale->hz.num);
	scale->most = scale_mul_div_up(NS_PER_S << MULTIPLIER_BITS, scale->hz.den, scale->hz.num);
}

void
scale_set_rate_bounds(struct scale *scale, uint64_t low_microhz, uint64_t high_microhz)
{
	scale->least = scale_mul_div(NS_PER_S << MULTIPLIER_BITS, MICROHZ_PER_HZ, high_microhz);
	scale->most = scale_mul_div_up(NS_PER_S << MULTIPLIER_BITS, MICROHZ_PER_HZ, low_microhz);
}

static int64_t
to_signed_ns(bool negative, uint64_t ticks, uint64_t multiplier, bool up)
{
	unsigned __int128 product = (unsigned __int128)ticks * multiplier;
	unsigned __int128 ns = (product >> MULTIPLIER_BITS) + (up && (uint32_t)product);

	if (ns > INT64_MAX)
		return negative ? INT64_MIN : INT64_MAX;
	return negative ? -(int64_t)ns : (int64_t)ns;
}

int64_t
scale_ticks_to_ns_down(const struct scale *scale, int64_t ticks)
{
	return ticks < 0 ? to_signed_ns(true, 0 - (uint64_t)ticks, scale->most, true) :
			   to_signed_ns(false, (uint64_t)ticks, scale->least, false);
}

int64_t
scale_ticks_to_ns_up(const struct scale *scale, int64_t ticks)
{
	return ticks < 0 ? to_signed_ns(true, 0 - (uint64_t)ticks, scale->least, false) :
			   to_signed_ns(false, (uint64_t)ticks, scale->most, true);
}

uint64_t
scale_ns_to_ticks(const struct scale *scale, uint64_t ns)
{
	return scale_mul_div_wide((unsigned __int128)ns * scale->hz.num, 1,
				  (unsigned __int128)scale->hz.den * NS_PER_S, SCALE_DOWN);
}

static void
multiply_128_by_64(unsigned __int128 a, uint64_t b, uint64_t product[LIMBS])
{
	unsigned __int128 low = (unsigned __int128)(uint64_t)a * b;
	unsigned __int128 high = (unsigned __int128)(uint64_t)(a >> LIMB_BITS) * b +
				 (uint64_t)(low >> LIMB_BITS);

	product[0] = (uint64_t)low;
	product[1] = (uint64_t)high;
	product[2] = (uint64_t)(high >> LIMB_BITS);
}

static unsigned
significant_bits(const uint64_t number[LIMBS])
{
	for (unsigned limb = LIMBS; limb-- > 0;)
		if (number[limb])
			return LIMB_BITS * (limb + 1) - (unsigned)__builtin_clzll(number[limb]);
	return 0;
}

/* Returns true if a quotient with the remainder REST must be rounded up. */
static bool
must_round_up(unsigned __int128 rest, unsigned __int128 divisor, enum scale_rounding rounding)
{
	if (rounding == SCALE_DOWN || !rest)
		return false;
	return rounding == SCALE_UP || rest >= divisor - rest;
}

/*
 * Divides HIGH:LOW by DIVISOR, which must be larger than HIGH. The method is algorithm D of Knuth, The Art of Computer
 * Programming, 4.3.1, with two digits of 32 bits. Each digit of the quotient is guessed from the first digit of the
 * divisor. This guess is too large by at most two.
 */
static uint64_t
divide_128_by_64(uint64_t high, uint64_t low, uint64_t divisor, unsigned __int128 *rest)
{
	unsigned shift = (unsigned)__builtin_clzll(divisor);
	uint64_t quotient = 0, first = divisor << shift >> DIGIT_BITS, second = (uint32_t)(divisor << shift);

	if (shift)
		high = high << shift | low >> (LIMB_BITS - shift);
	low <<= shift;
	for (unsigned digit = 0; digit < 2; digit++) {
		uint64_t next = digit ? (uint32_t)low : low >> DIGIT_BITS, guess = high / first, left = high % first;

		for (; guess >> DIGIT_BITS || guess * second > (left << DIGIT_BITS | next); guess--) {
			left += first;
			if (left >> DIGIT_BITS) {
				guess--;
				break;
			}
		}
		high = (high << DIGIT_BITS | next) - guess * (divisor << shift);
		quotient = quotient << DIGIT_BITS | guess;
	}
	*rest = high >> shift;
	return quotient;
}

/* Divides bit by bit, because the compiler would call a library function for a 128-bit division. */
static uint64_t
divide_192_by_128(const uint64_t product[LIMBS], unsigned __int128 divisor, unsigned __int128 *rest)
{
	uint64_t quotient = 0;

	*rest = 0;
	for (unsigned bit = significant_bits(product); bit-- > 0;) {
		bool carry = *rest >> 127;

		if (quotient >> (LIMB_BITS - 1))
			return UINT64_MAX;
		*rest = *rest << 1 | (product[bit / LIMB_BITS] >> (bit % LIMB_BITS) & 1);
		quotient <<= 1;
		if (carry || *rest >= divisor) {
			*rest -= divisor;
			quotient |= 1;
		}
	}
	return quotient;
}

/* Most divisors have at most 64 bits. Their division is much faster. */
uint64_t
scale_mul_div_wide(unsigned __int128 a, uint64_t b, unsigned __int128 c, enum scale_rounding rounding)
{
	uint64_t product[LIMBS], quotient;
	unsigned __int128 rest;

	multiply_128_by_64(a, b, product);
	if (!c)
		return UINT64_MAX;
	if (!(c >> LIMB_BITS) && !product[2] && product[1] < c)
		quotient = divide_128_by_64(product[1], product[0], (uint64_t)c, &rest);
	else
		quotient = divide_192_by_128(product, c, &rest);
	if (quotient < UINT64_MAX && must_round_up(rest, c, rounding))
		quotient++;
	return quotient;
}

uint64_t
scale_mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	return scale_mul_div_wide((unsigned __int128)a * b, 1, c, SCALE_DOWN);
}

uint64_t
scale_mul_div_up(uint64_t a, uint64_t b, uint64_t c)
{
	return scale_mul_div_wide((unsigned __int128)a * b, 1, c, SCALE_UP);
}

uint64_t
scale_mul_div_nearest(uint64_t a, uint64_t b, uint64_t c)
{
	return scale_mul_div_wide((unsigned __int128)a * b, 1, c, SCALE_NEAREST);
}
