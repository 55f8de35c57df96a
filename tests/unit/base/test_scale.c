/* Tests of exact fractions of integers. The expected values come from the host's own 128-bit division. */
#include "test.h"
#include "random.h"
#include "base/scale.h"

typedef unsigned __int128 wide;

/* Returns a random number of 1 to 64 bits, so that small and large numbers are combined. */
static uint64_t
any_length(uint64_t *state)
{
	uint64_t value = random_next(state);

	return value >> (random_next(state) & 63);
}

TEST(mul_div_rounds_down_up_and_to_nearest)
{
	assert_int_equal(scale_mul_div(7, 3, 2), 10);
	assert_int_equal(scale_mul_div_up(7, 3, 2), 11);
	assert_int_equal(scale_mul_div_nearest(7, 3, 2), 11);
	assert_int_equal(scale_mul_div_nearest(7, 1, 3), 2);
	assert_int_equal(scale_mul_div_up(6, 1, 3), 2);
	assert_int_equal(scale_mul_div(0, UINT64_MAX, 3), 0);
	assert_true(scale_mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

TEST(a_result_that_does_not_fit_is_the_largest_number)
{
	assert_true(scale_mul_div(1, 1, 0) == UINT64_MAX);
	assert_true(scale_mul_div(UINT64_C(1) << 63, 2, 1) == UINT64_MAX);
	assert_true(scale_mul_div(UINT64_MAX, UINT64_MAX, 1) == UINT64_MAX);
	assert_true(scale_mul_div(UINT64_MAX, 3, 3) == UINT64_MAX);
	assert_true(scale_mul_div_up(UINT64_MAX, 4, 4) == UINT64_MAX);
	/*
	 * The result of the first call does not fit: (2^64 - 1) * 3 / 2. The result of the second call is 2^64 - 1
	 * with a remainder, and must not wrap to 0 when it is rounded up.
	 */
	assert_true(scale_mul_div_up(UINT64_MAX, 3, 2) == UINT64_MAX);
	assert_true(scale_mul_div_wide(((wide)1 << 65) - 1, 1, 2, SCALE_UP) == UINT64_MAX);
	assert_true(scale_mul_div_wide(((wide)1 << 65) - 1, 1, 2, SCALE_NEAREST) == UINT64_MAX);
}

TEST(mul_div_agrees_with_division_of_128_bits_in_100000_cases)
{
	uint64_t seed = 20260101;

	for (unsigned i = 0; i < 100000; i++) {
		uint64_t a = any_length(&seed), b = any_length(&seed), c = any_length(&seed) | 1;
		wide exact = (wide)a * b / c, rest = (wide)a * b % c;

		if (exact >= UINT64_MAX) {
			assert_true(scale_mul_div(a, b, c) == UINT64_MAX);
			continue;
		}
		assert_true(scale_mul_div(a, b, c) == (uint64_t)exact);
		assert_true(scale_mul_div_up(a, b, c) == (uint64_t)exact + (rest != 0));
		assert_true(scale_mul_div_nearest(a, b, c) == (uint64_t)exact + (rest >= c - rest));
	}
}

/* Multiplies two 128-bit numbers to 256 bits, in four words. The host has no wider division for a comparison. */
static void
multiply_256(wide a, wide b, uint64_t limbs[4])
{
	uint64_t x[2] = { (uint64_t)a, (uint64_t)(a >> 64) }, y[2] = { (uint64_t)b, (uint64_t)(b >> 64) };

	limbs[0] = limbs[1] = limbs[2] = limbs[3] = 0;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t carry = 0;

		for (unsigned j = 0; j < 2; j++) {
			wide sum = (wide)x[i] * y[j] + limbs[i + j] + carry;

			limbs[i + j] = (uint64_t)sum;
			carry = (uint64_t)(sum >> 64);
		}
		limbs[i + 2] += carry;
	}
}

static int
compare_256(const uint64_t a[4], const uint64_t b[4])
{
	for (unsigned i = 4; i-- > 0;)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

TEST(a_ratio_of_192_bits_is_rounded_correctly_in_100000_cases)
{
	uint64_t seed = 7;
	unsigned fitted = 0;

	for (unsigned i = 0; i < 100000; i++) {
		wide a = (wide)any_length(&seed) * any_length(&seed);
		wide c = (wide)any_length(&seed) * any_length(&seed) + 1;
		uint64_t b = any_length(&seed), product[4], below[4], above[4];
		uint64_t down = scale_mul_div_wide(a, b, c, SCALE_DOWN), up = scale_mul_div_wide(a, b, c, SCALE_UP);
		uint64_t nearest = scale_mul_div_wide(a, b, c, SCALE_NEAREST);

		multiply_256(a, b, product);
		multiply_256(c, down, below);
		multiply_256(c, up, above);
		assert_true(compare_256(below, product) <= 0);
		if (up == UINT64_MAX)
			continue;
		fitted++;
		assert_true(compare_256(above, product) >= 0);
		assert_true(up - down == (compare_256(below, product) != 0));
		assert_true(nearest == down || nearest == up);
	}
	assert_in_range(fitted, 50000, 100000);
}

TEST(division_by_128_bits_loses_no_carry)
{
	const wide most = ~(wide)0;

	assert_int_equal(scale_mul_div_wide(most, 3, most - 5, SCALE_DOWN), 3);
	assert_int_equal(scale_mul_div_wide(most, 3, most - 5, SCALE_UP), 4);
	assert_int_equal(scale_mul_div_wide(most - 1, 1000000, most, SCALE_DOWN), 999999);
	assert_int_equal(scale_mul_div_wide(most - 1, 1000000, most, SCALE_NEAREST), 1000000);
}

TEST(with_an_unknown_rate_a_tick_counts_as_a_nanosecond)
{
	const struct rate unknown[] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };

	for (size_t i = 0; i < 3; i++) {
		struct scale scale;

		scale_init(&scale, unknown[i]);
		assert_int_equal(scale.hz.den, 1);
		assert_int_equal(scale_ns(&scale, 12345), 12345);
		assert_int_equal(scale_ns_to_ticks(&scale, 12345), 12345);
	}
}

TEST(ticks_are_converted_to_nanoseconds_within_the_stated_error)
{
	const struct rate rates[] = { { 1000, 1 },	  { 3579545, 1 },	   { 1000000000, 1 },
				      { 2303998000, 1 },  { 10000000000000, 3333 }, { 5000000000, 1 },
				      { UINT64_C(2304001234567891), 1000000 },	   { 1000000000000, 1 } };
	uint64_t seed = 99;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct scale scale;

		scale_init(&scale, rates[i]);
		for (unsigned turn = 0; turn < 5000; turn++) {
			uint64_t ticks = any_length(&seed) >> 24;
			uint64_t exact = scale_mul_div_wide((wide)ticks * rates[i].den, 1000000000, rates[i].num,
							    SCALE_NEAREST);
			uint64_t error = ticks / (UINT64_C(1) << 33) + 1;
			uint64_t ns = scale_ns(&scale, ticks);

			assert_true(ns <= exact + error && exact <= ns + error);
		}
	}
}

/*
 * The TSC's rate is known within 0.1 ppm. The interval must include the duration of the ticks at each possible rate,
 * and must not be much wider.
 */
TEST(the_duration_of_a_difference_includes_all_possible_rates)
{
	uint64_t seed = 4711;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t microhz = 1000000000000000 + random_next(&seed) % 4000000000000000, within = microhz / 10000000;
		uint64_t true_microhz = microhz - within + random_next(&seed) % (2 * within + 1);
		int64_t ticks = (int64_t)(random_next(&seed) % 20000000001) - 10000000000;
		uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
		int64_t least = (int64_t)scale_mul_div_wide((wide)size * 1000000, 1000000000, true_microhz, SCALE_DOWN);
		int64_t most = (int64_t)scale_mul_div_wide((wide)size * 1000000, 1000000000, true_microhz, SCALE_UP);
		struct scale scale;

		scale_init(&scale, (struct rate){ microhz, 1000000 });
		scale_set_rate_bounds(&scale, microhz - within, microhz + within);
		assert_true(scale_ticks_to_ns_down(&scale, ticks) <= (ticks < 0 ? -most : least));
		assert_true(scale_ticks_to_ns_up(&scale, ticks) >= (ticks < 0 ? -least : most));
		assert_true(scale_ticks_to_ns_up(&scale, ticks) - scale_ticks_to_ns_down(&scale, ticks) <= most / 4000000 + 16);
	}
}

TEST(differences_are_rounded_outwards_and_do_not_overflow)
{
	struct scale scale;

	scale_init(&scale, (struct rate){ 3000000000, 1 });
	assert_int_equal(scale_ticks_to_ns_down(&scale, 3), 0);
	assert_int_equal(scale_ticks_to_ns_up(&scale, 3), 2); /* exactly 1 ns, but a tick's 1/3 ns is rounded up */
	assert_int_equal(scale_ticks_to_ns_down(&scale, -3), -2);
	assert_int_equal(scale_ticks_to_ns_up(&scale, -3), 0);
	scale_init(&scale, (struct rate){ 1000000000, 1 });
	assert_int_equal(scale_ticks_to_ns_down(&scale, INT64_MIN), INT64_MIN);
	assert_int_equal(scale_ticks_to_ns_up(&scale, INT64_MIN), INT64_MIN);
	assert_int_equal(scale_ticks_to_ns_up(&scale, INT64_MAX), INT64_MAX);
	scale_init(&scale, (struct rate){ 1000, 1 });
	assert_true(scale_ticks_to_ns_down(&scale, INT64_MIN) == INT64_MIN);
	assert_true(scale_ticks_to_ns_up(&scale, INT64_MIN) == INT64_MIN);
	assert_true(scale_ticks_to_ns_down(&scale, INT64_MAX) == INT64_MAX);
}

TEST(nanoseconds_are_converted_to_ticks_exactly)
{
	struct scale scale;

	scale_init(&scale, (struct rate){ 3579545, 1 });
	assert_int_equal(scale_ns_to_ticks(&scale, 1000000000), 3579545);
	assert_int_equal(scale_ns_to_ticks(&scale, 999999999), 3579544);
	scale_init(&scale, (struct rate){ UINT64_C(2304001234567891), 1000000 });
	assert_int_equal(scale_ns_to_ticks(&scale, 1000000000), 2304001234);
	assert_int_equal(scale_ns_to_ticks(&scale, UINT64_C(1000000000000000)), UINT64_C(2304001234567891));
	assert_true(scale_ns_to_ticks(&scale, UINT64_MAX) == UINT64_MAX);
}
