/*
 * Rates of simulated clocks, in thousands of windows with random brackets (TSC readings around each reading). The true
 * rate must always be in the interval, and the interval must not be wider than the readings allow.
 */
#include "test.h"
#include "random.h"
#include "consensus/rate.h"

#define WINDOWS        20000
#define MICROHZ_PER_HZ UINT64_C(1000000)
/* one tick as a product of picoseconds and microhertz */
#define PS_MICROHZ     ((wide)1000000000000 * MICROHZ_PER_HZ)

typedef unsigned __int128 wide;

struct world {
	uint64_t tsc_microhz, clock_microhz;
	uint64_t step_ticks; /* the clock shows only multiples of this number */
	uint64_t tsc_resolution_ticks; /* the TSC shows only multiples of this number */
	uint64_t seed;
};

static uint64_t
ticks_at(uint64_t ps, uint64_t microhz)
{
	return (uint64_t)((wide)ps * microhz / PS_MICROHZ);
}

/* Reads the clock at about PS. It is sampled at the start, at the end or in the middle of a bracket of up to 4 us. */
static struct sample
read_at(struct world *world, uint64_t ps)
{
	uint64_t before = random_next(&world->seed) % 2000000, after = random_next(&world->seed) % 2000000;
	uint64_t where = random_next(&world->seed) % 3;
	uint64_t at = where == 0 ? ps - before : where == 1 ? ps + after : ps;
	uint64_t ticks = ticks_at(at, world->clock_microhz);
	uint64_t begin = ticks_at(ps - before, world->tsc_microhz), end = ticks_at(ps + after, world->tsc_microhz);

	return (struct sample){ begin - begin % world->tsc_resolution_ticks, ticks - ticks % world->step_ticks,
				end - end % world->tsc_resolution_ticks };
}

static struct rate_window
any_window(struct world *world) /* draws a window of 1 ms to 1 s */
{
	uint64_t start = UINT64_C(1000000000) + random_next(&world->seed) % UINT64_C(1000000000000);
	uint64_t length = UINT64_C(1000000000) + random_next(&world->seed) % UINT64_C(1000000000000);

	return (struct rate_window){ read_at(world, start), read_at(world, start + length),
				     world->step_ticks, world->tsc_resolution_ticks };
}

static const struct world worlds[] = {
	{ UINT64_C(2303998123456789), UINT64_C(3579545000000), 1, 1, 1 },	     /* PM timer */
	{ UINT64_C(2303998123456789), UINT64_C(14318180000000), 1, 1, 2 },	     /* HPET */
	{ UINT64_C(1000000000000000), UINT64_C(100000000000000), 10, 1, 3 },    /* HPET of QEMU */
	{ UINT64_C(5000000000000001), UINT64_C(1193181666667), 2, 1, 4 },	     /* PIT that moves in steps of 2 */
	{ UINT64_C(800000000000000), UINT64_C(8192000000), 1, 1, 5 },	     /* periodic flag of the RTC */
	{ UINT64_C(3000000000000000), UINT64_C(3000000000000000), 26, 1, 6 },   /* a clock in large steps */
	/* a TSC that moves in large steps, so that the brackets are exact only to a step */
	{ UINT64_C(2445424000000000), UINT64_C(3000000000000000), 1, 26, 7 },
};

static struct rate_interval
implied(const struct rate_window *window, struct rate claimed)
{
	struct rate_slope slope = rate_calculate_slope(window);

	return rate_of_tsc_implied_by_clock(&slope, claimed);
}

static struct rate_interval
of_clock(const struct rate_window *window, const struct rate_interval *tsc)
{
	struct rate_slope slope = rate_calculate_slope(window);

	return rate_of_clock(&slope, tsc);
}

static void
assert_holds(uint64_t truth, const struct rate_interval *rate)
{
	assert_true(rate->low <= rate->value && rate->value <= rate->high);
	assert_true(rate->low <= truth && truth <= rate->high);
}

TEST(in_20000_windows_the_interval_of_the_clocks_rate_contains_the_true_rate)
{
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct world world = worlds[i];
		uint64_t t = world.tsc_microhz;
		struct rate_interval exact = { true, t, t, t }, wide_tsc = { true, t + t / 50000, t - t / 10000,
									     t + t / 10000 };

		for (unsigned turn = 0; turn < WINDOWS; turn++) {
			struct rate_window window = any_window(&world);
			struct rate_interval rate = of_clock(&window, &exact);
			struct rate_interval wider = of_clock(&window, &wide_tsc);

			assert_true(rate.known);
			assert_holds(world.clock_microhz, &rate);
			assert_holds(world.clock_microhz, &wider);
			assert_true(wider.low <= rate.low && wider.high >= rate.high);
		}
	}
}

/*
 * The low end of the interval has the fewest ticks of the TSC and the most ticks of the clock, and the high end the
 * opposite. Both ends are rounded outwards to whole microhertz.
 */
TEST(in_20000_windows_the_interval_of_the_tscs_rate_contains_the_true_rate_and_is_as_narrow_as_possible)
{
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct world world = worlds[i];
		struct rate claimed = { world.clock_microhz, MICROHZ_PER_HZ };
		uint64_t known = 0;

		for (unsigned turn = 0; turn < WINDOWS; turn++) {
			struct rate_window window = any_window(&world);
			struct rate_interval rate = implied(&window, claimed);
			uint64_t counted = window.last.ticks - window.first.ticks;
			uint64_t step = world.tsc_resolution_ticks;
			wide low = (wide)world.clock_microhz * (window.last.begin - window.first.end - step);
			wide high = (wide)world.clock_microhz * (window.last.end - window.first.begin + step);

			if (!rate.known)
				continue;
			assert_true(rate.low == (uint64_t)(low / (counted + window.slack_ticks)));
			high += counted - window.slack_ticks - 1;
			assert_true(rate.high == (uint64_t)(high / (counted - window.slack_ticks)));
			assert_holds(world.tsc_microhz, &rate);
			known++;
		}
		assert_in_range(known, WINDOWS * 99 / 100, WINDOWS);
	}
}

TEST(for_edges_only_the_brackets_widen_the_interval)
{
	/* A window of one second with an RTC. Both edges are known within 200 ticks of 1 GHz. */
	struct rate_window window = { { 1000, 17, 1200 }, { 1000001000, 18, 1000001200 }, 0, 1 };
	struct rate_interval rate = implied(&window, (struct rate){ 1, 1 });

	assert_true(rate.known);
	assert_int_equal(rate.value, UINT64_C(1000000000000000));
	assert_int_equal(rate.low, UINT64_C(999999799000000));
	assert_int_equal(rate.high, UINT64_C(1000000201000000));
}

TEST(the_value_is_rounded_to_the_nearest_millionth)
{
	/*
	 * From the middle of one bracket to the middle of the other, 1001 or 1000 ticks of the TSC pass for 3 ticks of
	 * the clock. The rates are 333 2/3 Hz and 333 1/3 Hz.
	 */
	const struct rate_window two_thirds = { { 0, 5, 10 }, { 1001, 8, 1011 }, 0, 1 };
	const struct rate_window a_third = { { 0, 5, 10 }, { 1000, 8, 1010 }, 0, 1 };

	assert_int_equal(implied(&two_thirds, (struct rate){ 1, 1 }).value, 333666667);
	assert_int_equal(implied(&a_third, (struct rate){ 1, 1 }).value, 333333333);
}

TEST(a_window_that_proves_nothing_has_no_rate)
{
	const struct rate one = { 1, 1 };
	const struct rate_interval tsc = { true, 1000, 1000, 1000 }, none = { .known = false };
	struct rate_window stopped = { { 0, 5, 10 }, { 1000, 5, 1010 }, 0, 1 };
	struct rate_window within_a_step = { { 0, 5, 10 }, { 1000, 8, 1010 }, 3, 1 };
	struct rate_window went_back = { { 0, 5, 10 }, { 1000, 3, 1010 }, 0, 1 };
	struct rate_window overlaps = { { 0, 5, 10 }, { 10, 9, 20 }, 0, 1 };
	struct rate_window touches = { { 0, 5, 10 }, { 11, 9, 20 }, 0, 1 };
	struct rate_window good = { { 0, 5, 10 }, { 1000, 9, 1010 }, 3, 1 };

	assert_false(implied(&stopped, one).known);
	assert_false(implied(&within_a_step, one).known);
	assert_false(implied(&went_back, one).known);
	assert_false(implied(&overlaps, one).known);
	assert_false(implied(&touches, one).known);
	assert_true(implied(&good, one).known);
	assert_false(implied(&good, (struct rate){ 1, 0 }).known);
	assert_false(implied(&good, (struct rate){ 0, 1 }).known);
	/* the TSC's rate would not fit into 64 bits */
	assert_false(implied(&good, (struct rate){ UINT64_MAX, 1 }).known);
	assert_false(of_clock(&good, &none).known);
	assert_false(of_clock(&overlaps, &tsc).known);
	assert_false(of_clock(&went_back, &tsc).known);
	assert_true(of_clock(&good, &tsc).known);
	good.tsc_resolution_ticks = 990; /* the readings may be only a single step of the TSC apart */
	assert_false(implied(&good, one).known);
}

TEST(the_narrowest_bracket_is_used_unless_the_tsc_stepped_back_in_it)
{
	const struct sample samples[] = { { 100, 1, 190 }, { 190, 2, 180 }, { 180, 3, 220 },
					  { 220, 4, 260 } };
	struct sample end = rate_shortest_sample(samples, 4);

	assert_int_equal(end.begin, 180);
	assert_int_equal(end.end, 220);
	assert_int_equal(end.ticks, 3);
	assert_int_equal(rate_shortest_sample(samples, 1).ticks, 1);
}

TEST(the_consensus_is_the_narrowest_interval_that_agrees_with_most)
{
	const struct rate_interval rates[] = {
		{ .known = false },
		{ true, 1000, 900, 1100 },  /* the true rate is 1000; this interval is wide */
		{ true, 1020, 1019, 1021 }, /* the falseticker, whose interval is the narrowest and highest */
		{ true, 1001, 995, 1007 },
		{ true, 999, 996, 1002 },   /* the narrowest interval that contains the true rate */
	};

	/* Three intervals contain 1000. Two contain the falseticker's value: its own and the wide interval. */
	assert_int_equal(rate_find_consensus_index(rates, 5, UINT32_MAX), 4);
	/* Without the wide interval, the result is the same. */
	const struct rate_interval narrow[] = { rates[0], rates[2], rates[3], rates[4] };

	assert_int_equal(rate_find_consensus_index(narrow, 4, UINT32_MAX), 3);
	assert_int_equal(rate_find_consensus_index(rates, 2, UINT32_MAX), 1);
	assert_int_equal(rate_find_consensus_index(rates, 1, UINT32_MAX), 1);
	assert_int_equal(rate_find_consensus_index(rates, 0, UINT32_MAX), 0);
}

TEST(a_clock_that_is_faster_than_stated_implies_a_slower_tsc)
{
	const struct rate_interval a = { true, 1000000000, 999999990, 1000000010 };
	const struct rate_interval b = { true, 1000100000, 1000099000, 1000101000 };
	const struct rate_interval none = { .known = false };
	struct interval_ppb ppb = rate_relative_difference(&a, &b);

	assert_true(ppb.known);
	assert_int_equal(ppb.value, 100000);
	assert_int_equal(ppb.low, 98989);   /* 98,990 / 1.00000001 = 98,989.999 */
	assert_int_equal(ppb.high, 101011); /* 101,010 / 0.99999999 = 101,010.001 */
	ppb = rate_relative_difference(&b, &a);
	assert_int_equal(ppb.value, -99990); /* -99,990.0009 */
	assert_int_equal(ppb.low, -101000);  /* -(101,010 / 1.000101) = -100,999.8 */
	assert_int_equal(ppb.high, -98980);  /* -(98,990 / 1.000099) = -98,980.2 */
	ppb = rate_relative_difference(&a, &a);
	assert_true(ppb.low <= 0 && ppb.value == 0 && ppb.high >= 0);
	assert_false(rate_relative_difference(&a, &none).known);
	assert_false(rate_relative_difference(&none, &a).known);
}

/* A crafted record can have such rates. Sums of them in all rows of a soak must not overflow. */
TEST(a_rate_that_is_more_than_a_million_times_too_high_is_limited)
{
	const struct rate_interval slow = { true, 1, 1, 1 }, fast = { true, UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1 };
	const int64_t limit = INT64_C(1000000000000000);
	struct interval_ppb ppb = rate_relative_difference(&slow, &fast);

	assert_true(ppb.value == limit && ppb.low == limit && ppb.high == limit);
	ppb = rate_relative_difference(&fast, &slow);
	assert_true(ppb.value == -1000000000 && ppb.low == -1000000000 && ppb.high >= -1000000000);
	ppb = rate_error_against_claim(&fast, (struct rate){ 1, 1 });
	assert_true(ppb.value == limit && ppb.low == limit && ppb.high == limit);
}

TEST(a_rate_error_is_exact_if_the_nominal_rate_is_no_whole_number)
{
	const struct rate pit = { 105000000, 88 }; /* 1,193,181.818181... Hz */
	const struct rate_interval floor_of_it = { true, UINT64_C(1193181818181), UINT64_C(1193181818181),
						   UINT64_C(1193181818182) };
	struct interval_ppb ppb = rate_error_against_claim(&floor_of_it, pit);

	assert_int_equal(ppb.value, 0);
	assert_int_equal(ppb.low, -1); /* the value is -0.0007 ppb, and the interval is rounded outwards */
	assert_int_equal(ppb.high, 1);
	/* The rate is 2 % too high and exact to a millionth of a hertz: 1,217,045.454545 Hz. */
	const struct rate_interval fast = { true, UINT64_C(1217045454545), UINT64_C(1217045454545),
					    UINT64_C(1217045454546) };

	ppb = rate_error_against_claim(&fast, pit);
	assert_int_equal(ppb.value, 20000000);
	assert_int_equal(ppb.low, 19999999);
	assert_int_equal(ppb.high, 20000001);
	const struct rate_interval stopped = { true, 0, 0, 0 };

	assert_int_equal(rate_error_against_claim(&stopped, pit).value, -1000000000);
	assert_false(rate_error_against_claim(&fast, (struct rate){ 0, 1 }).known);
	assert_false(rate_error_against_claim(&fast, (struct rate){ 1, 0 }).known);
}

TEST(wraps_are_counted_if_the_estimate_is_off_by_less_than_half_a_wrap)
{
	const uint64_t wraps[] = { 0xffffff, 0xffff, 59, 0xffffffff };
	struct world world = { .seed = 42 };

	for (size_t i = 0; i < sizeof(wraps) / sizeof(wraps[0]); i++) {
		struct clock clock = { .wrap_ticks = wraps[i] };
		uint64_t range = wraps[i] + 1;

		for (unsigned turn = 0; turn < WINDOWS; turn++) {
			uint64_t then = random_next(&world.seed) % range;
			uint64_t elapsed = random_next(&world.seed) % (5 * range);
			uint64_t off = random_next(&world.seed) % ((range - 1) / 2);
			uint64_t late = elapsed + off, early = elapsed > off ? elapsed - off : 0;
			uint64_t now = (then + elapsed) % range;

			assert_int_equal(rate_unwrap_ticks(&clock, then, now, elapsed), elapsed);
			assert_int_equal(rate_unwrap_ticks(&clock, then, now, late), elapsed);
			assert_int_equal(rate_unwrap_ticks(&clock, then, now, early), elapsed);
		}
	}
}

TEST(a_known_number_of_wraps_gives_the_exact_count)
{
	const struct clock pm = { .wrap_ticks = 0xffffff }, pit = { .wrap_ticks = 0xffff };
	const struct clock rtc = { .wrap_ticks = 59 }, tsc = { .wrap_ticks = UINT64_MAX };

	assert_int_equal(rate_unwrap_ticks(&pm, 0xfffffe, 3, 5), 5);
	assert_int_equal(rate_unwrap_ticks(&pm, 0xfffffe, 3, 0x2000000), 0x2000005);
	assert_int_equal(rate_unwrap_ticks(&pit, 100, 100, 65536), 65536);
	assert_int_equal(rate_unwrap_ticks(&pit, 100, 100, 32767), 0);
	assert_int_equal(rate_unwrap_ticks(&pit, 100, 100, 32769), 65536);
	assert_int_equal(rate_unwrap_ticks(&rtc, 58, 1, 3), 3);
	assert_int_equal(rate_unwrap_ticks(&rtc, 58, 1, 64), 63);
	assert_int_equal(rate_unwrap_ticks(&tsc, UINT64_MAX, 4, 77), 5);
	/*
	 * A reading is 10 below the previous one, although an advance by 4 ticks was expected. This is a step back by
	 * 10 and not a whole wrap.
	 */
	assert_true(rate_unwrap_ticks(&pm, 1000, 990, 4) == UINT64_C(0) - 10);
	assert_int_equal(rate_unwrap_ticks(&pm, 1000, 990, 0xfffff0), 0xfffff6);
}
