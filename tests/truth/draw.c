/* Pseudo-random numbers. See draw.h. */
#include "draw.h"

#include <math.h>

static uint64_t state;

/*
 * SplitMix64: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators (2014). It makes independent numbers
 * from neighbouring seeds.
 */
static uint64_t
mix_bits(uint64_t z)
{
	z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
draw_set_seed(uint64_t seed, uint64_t kind)
{
	state = mix_bits(mix_bits(seed) + kind) | 1;
}

/* xorshift64*: Marsaglia, Xorshift RNGs (2003), with Vigna's multiplication, which improves the low bits. */
uint64_t
draw_64_bits(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t
draw_below(uint64_t below)
{
	return (uint64_t)((unsigned __int128)draw_64_bits() * below >> 64);
}

int64_t
draw_between(int64_t low, int64_t high)
{
	return low + (int64_t)draw_below((uint64_t)(high - low) + 1);
}

uint64_t
draw_log_uniform(uint64_t low, uint64_t high)
{
	long double share = (long double)draw_64_bits() / 18446744073709551616.0L;

	return (uint64_t)(low * powl((long double)high / low, share));
}

int64_t
draw_signed(uint64_t magnitude)
{
	return draw_64_bits() >> 63 ? (int64_t)magnitude : -(int64_t)magnitude;
}

bool
draw_chance(unsigned percent)
{
	return draw_below(100) < percent;
}
