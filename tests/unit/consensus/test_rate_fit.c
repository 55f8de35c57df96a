/*
 * Rates from lines through many brackets (TSC readings around each reading), with simulated clocks whose rates are
 * known. Counters move evenly, by several ticks at once, or unevenly. They are read at random times at both ends of a
 * window. The true rate must always be in the interval.
 */
#include "test.h"
#include "random.h"
#include "consensus/rate_fit.h"
#include "stats/resolution.h"

#define WINDOWS        1000
#define READS          RATE_SAMPLES_MAX
#define LOOK_READS     4 /* number of readings at each time between the ends of a window */
#define MICROHZ_PER_HZ UINT64_C(1000000)
#define PS_PER_S       UINT64_C(1000000000000)
#define TSC_HZ         UINT64_C(2500000000)
#define WINDOW_PS      PS_PER_S

typedef unsigned __int128 wide;

struct world {
	uint64_t clock_hz;
	uint64_t step_ticks; /* the clock shows only multiples of this number */
	uint64_t source_hz;  /* rate of the other counter, if this counter is calculated from it; otherwise 0 */
	uint64_t read_ps;    /* shortest duration of a reading in ps */
	uint64_t seed;
};

static const struct clock clock_of_64_bits = { .id = "hpet", .main = "hpet", .wrap_ticks = UINT64_MAX };

static const struct world worlds[] = {
	{ 14318180, 1, 0, 1000000, 1 },	       /* HPET of a chip set */
	/* an HPET that is calculated from 1 MHz: its steps of 14 or 15 ticks are longer than a reading */
	{ 14318180, 1, 1000000, 500000, 2 },
	{ 14318180, 1, 1000000, 1400000, 3 },  /* the same clock, with a reading that takes about one step */
	{ 14318180, 1, 1000000, 5000000, 4 },  /* the same clock, with a reading that takes several steps */
	{ 100000000, 10, 0, 170000, 5 },       /* a counter that moves in even steps of ten */
	{ 3579545, 1, 2000000, 120000, 6 },    /* a counter that moves in steps of one and two */
	{ 3579545, 1, 2000000, 400000, 7 },
	{ 1193182, 2, 0, 3000000, 8 },
	{ 14000014, 1, 1000000, 700000, 9 },   /* a counter that moves in steps of 14, and once in 70 ms of 15 */
};

static uint64_t
ticks_at(const struct world *world, uint64_t ps)
{
	uint64_t ticks = (uint64_t)((wide)ps * world->clock_hz / PS_PER_S);

	if (world->source_hz)
		ticks = (uint64_t)((wide)(uint64_t)((wide)ps * world->source_hz / PS_PER_S) * world->clock_hz /
				   world->source_hz);
	return ticks - ticks % world->step_ticks;
}

static uint64_t
tsc_at(uint64_t ps)
{
	return (uint64_t)((wide)ps * TSC_HZ / PS_PER_S);
}

/*
 * Reads the clock several times without pauses. Each reading takes effect at a random time, but at least half of
 * READ_PS after its start and before its end.
 */
static uint64_t
read_all(struct world *world, uint64_t ps, struct sample *samples)
{
	for (size_t i = 0; i < READS; i++) {
		uint64_t before = world->read_ps / 2 + random_next(&world->seed) % (world->read_ps / 8);
		uint64_t after = world->read_ps / 2 + random_next(&world->seed) % (world->read_ps / 8);

		samples[i] = (struct sample){ tsc_at(ps), ticks_at(world, ps + before), tsc_at(ps + before + after) };
		ps += before + after;
	}
	return ps;
}

struct window {
	struct sample samples[3][READS];
	struct rate_corners corners[RATE_ENDS_MAX];
	struct rate_ends ends;
};

/*
 * Samples the clock from PS on, and stores the first READS samples as end I of the window. Returns the time after the
 * last sample.
 */
static uint64_t
take_end(struct world *world, struct window *window, size_t i, uint64_t ps, size_t reads, struct resolution *resolution)
{
	uint64_t rise = (uint64_t)(((wide)world->clock_hz << 32) / TSC_HZ);
	struct sample *samples = window->samples[i % 3];

	ps = read_all(world, ps, samples);
	resolution_add_samples(resolution, &clock_of_64_bits, 0, samples, reads);
	window->corners[i] = rate_find_corners(&clock_of_64_bits, 0, rise, samples, reads);
	window->ends.ends[i] = (struct rate_end){ rate_shortest_sample(samples, reads), &window->corners[i] };
	window->ends.even_ticks = resolution->gcd_ticks;
	window->ends.uneven_ticks = resolution->smallest_ticks + 2;
	return ps;
}

static void
take(struct world *world, struct window *window, size_t count)
{
	uint64_t ps = PS_PER_S + random_next(&world->seed) % PS_PER_S;
	struct resolution resolution = { .steps = 0 };

	window->ends = (struct rate_ends){ .count = count, .tsc_resolution_ticks = 1 };
	for (size_t i = 0; i < count; i++)
		ps = take_end(world, window, i, ps, READS, &resolution) + WINDOW_PS;
}

static bool
holds(const struct world *world, const struct rate_slope *slope)
{
	return (wide)slope->low_ticks * TSC_HZ <= (wide)world->clock_hz * slope->low_time &&
	       (wide)slope->high_ticks * TSC_HZ >= (wide)world->clock_hz * slope->high_time;
}

static uint64_t
width_ppb(const struct rate_slope *slope)
{
	return (uint64_t)((wide)slope->high_ticks * slope->low_time * 1000000000 /
			  ((wide)slope->low_ticks * slope->high_time)) - 1000000000;
}

TEST(in_1000_windows_the_interval_contains_the_true_rate)
{
	static struct window window;

	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct world world = worlds[i];

		for (unsigned turn = 0; turn < WINDOWS; turn++) {
			enum rate_fit fit;

			take(&world, &window, turn % 2 ? 3 : 2);
			struct rate_slope slope = rate_fit_line(&window.ends, &fit);
			assert_true(slope.known);
			assert_true(holds(&world, &slope));
		}
	}
}

/* Makes a window as long as in take(), with BETWEEN short series of readings spread evenly between its ends. */
static void
take_with_between(struct world *world, struct window *window, size_t between)
{
	uint64_t begin_ps = PS_PER_S + random_next(&world->seed) % PS_PER_S;
	struct resolution resolution = { .steps = 0 };
	size_t count = between + 2;

	window->ends = (struct rate_ends){ .count = count, .tsc_resolution_ticks = 1 };
	for (size_t i = 0; i < count; i++) {
		uint64_t ps = begin_ps + WINDOW_PS / (count - 1) * i + random_next(&world->seed) % (PS_PER_S / 1000);

		take_end(world, window, i, ps, i && i < count - 1 ? LOOK_READS : READS, &resolution);
	}
}

static unsigned
outside(struct world world, size_t between)
{
	static struct window window;
	unsigned outside = 0;

	for (unsigned turn = 0; turn < WINDOWS; turn++) {
		enum rate_fit fit;

		take_with_between(&world, &window, between);
		struct rate_slope slope = rate_fit_line(&window.ends, &fit);
		assert_true(slope.known);
		outside += !holds(&world, &slope);
	}
	return outside;
}

/*
 * The counter is calculated from another counter whose rate is 0.2 % lower. At each end of the window all readings are
 * rounded in the same way, so the counter seems to move by single ticks.
 */
TEST(readings_in_between_show_the_steps_of_a_calculated_counter)
{
	static const struct world near = { 3579648, 1, 3574179, 80000, 11 };

	assert_true(outside(near, 1) > 0);
	assert_int_equal(outside(near, RATE_BETWEEN_MAX), 0);
}

/* The error from the resolution disappears, because the readings come at all phases of a tick. */
TEST(a_line_through_all_readings_is_narrower_than_the_two_best_readings)
{
	static struct window window;
	struct world world = worlds[7];
	uint64_t all = 0, by_two = 0;

	for (unsigned turn = 0; turn < 100; turn++) {
		enum rate_fit fit;
		struct rate_slope slope, two;

		take(&world, &window, 3);
		slope = rate_fit_line(&window.ends, &fit);
		assert_int_equal(fit, RATE_FIT_ALL);
		two = rate_calculate_slope(&(struct rate_window){ window.ends.ends[0].sample, window.ends.ends[2].sample, 2, 1 });
		assert_true(width_ppb(&slope) <= width_ppb(&two));
		all += width_ppb(&slope);
		by_two += width_ppb(&two);
	}
	assert_true(4 * all < 3 * by_two);
}

/*
 * The counter moves by 14 or 15 ticks at once, so the greatest common divisor of all differences is 1. A reading takes
 * half as long as a step.
 */
TEST(an_uneven_counter_has_the_uncertainty_of_its_largest_step)
{
	static struct window window;
	struct world world = worlds[1];
	enum rate_fit fit;

	take(&world, &window, 2);
	assert_int_equal(window.ends.even_ticks, 1);
	assert_in_range(window.ends.uneven_ticks, 16, 17);
	rate_fit_line(&window.ends, &fit);
	assert_int_equal(fit, RATE_FIT_UNEVEN);
}

TEST(if_the_rate_changes_in_between_only_the_ends_are_used)
{
	static struct window window;
	struct world world = worlds[0];
	enum rate_fit fit;

	take(&world, &window, 3);
	window.ends.ends[1].sample.ticks += 40; /* the clock is 3 us ahead in the middle of the window only */
	assert_true(rate_fit_line(&window.ends, &fit).known);
	assert_int_equal(fit, RATE_FIT_ENDS);
}

TEST(if_no_line_fits_the_two_best_readings_are_used)
{
	static struct window window;
	struct world world = worlds[0];
	struct rate_slope slope, two;
	enum rate_fit fit;

	take(&world, &window, 2);
	window.samples[1][READS / 2].ticks += 10000;
	window.corners[1] = rate_find_corners(&clock_of_64_bits, 0, (uint64_t)(((wide)world.clock_hz << 32) / TSC_HZ),
					      window.samples[1], READS);
	slope = rate_fit_line(&window.ends, &fit);
	assert_int_equal(fit, RATE_FIT_TWO);
	two = rate_calculate_slope(&(struct rate_window){ window.ends.ends[0].sample, window.ends.ends[1].sample,
							  window.ends.uneven_ticks, 1 });
	assert_true(width_ppb(&slope) == width_ppb(&two));
}

TEST(a_window_in_which_the_clock_stepped_back_has_no_rate)
{
	static const struct sample sample = { 0, 5, 10 };
	struct rate_corners own = rate_find_corners(&clock_of_64_bits, 0, 0, &sample, 1);
	struct rate_ends ends = { { { sample, &own }, { { 1000, 3, 1010 }, &own } }, 2, 1, 3, 1 };
	enum rate_fit fit;

	assert_false(rate_fit_line(&ends, &fit).known);
	assert_int_equal(fit, RATE_FIT_NONE);
	ends.ends[1].sample = (struct sample){ 11, 9, 20 }; /* the time between the readings may be 0 */
	assert_false(rate_fit_line(&ends, &fit).known);
	ends.ends[1].sample = (struct sample){ 1000, 9, 1010 };
	assert_true(rate_fit_line(&ends, &fit).known);
}

/*
 * A crafted record can have any corners (points that limit the line through the readings). Their differences may not
 * fit into 64 bits.
 */
TEST(absurd_corners_cause_no_overflow)
{
	static const int64_t absurd[] = { INT64_MIN, INT64_MIN / 2, INT64_MAX / 2, INT64_MAX };

	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 4; j++) {
			struct rate_corners own = { 10, 1, 1, { { absurd[i], absurd[j] } }, { { absurd[j], absurd[i] } } };
			struct rate_ends ends = { { { { 0, 5, 10 }, &own }, { { 1000, 9, 1010 }, &own } }, 2, 1, 3, 1 };
			enum rate_fit fit;
			struct rate_slope slope = rate_fit_line(&ends, &fit);

			assert_true(slope.known && slope.low_ticks <= slope.high_ticks);
		}
	}
}

/*
 * A 16-bit counter that wraps at the third reading. The fourth reading took too long, because the core was preempted.
 */
TEST(corners_include_readings_after_a_wrap_but_not_a_long_preemption)
{
	static const struct clock pit = { .id = "pit", .main = "pit", .wrap_ticks = 0xffff };
	static const struct sample samples[] = {
		{ 0, 65530, 100 }, { 100, 65534, 180 }, { 180, 2, 300 }, { 300, 20000, 50000 }, { 50000, 20002, 50100 },
	};
	struct rate_corners corners = rate_find_corners(&pit, 20000, UINT64_C(4) << 24, samples, 5);

	assert_int_equal(corners.narrowest, 80);
	assert_int_equal(corners.lower[0].ticks, -4);
	assert_int_equal(corners.lower[corners.lower_count - 1].ticks, 4);
	assert_int_equal(corners.upper[corners.upper_count - 1].tsc, 80);
}

/* A 16-bit counter. In each of the three readings, the core was preempted for half of the counter's range. */
TEST(if_all_readings_took_too_long_the_shortest_is_used)
{
	static const struct clock pit = { .id = "pit", .main = "pit", .wrap_ticks = 0xffff };
	static const struct sample samples[] = {
		{ 0, 65530, 50000 }, { 50000, 65534, 91000 }, { 91000, 2, 150000 },
	};
	struct rate_corners corners = rate_find_corners(&pit, 20000, UINT64_C(4) << 24, samples, 3);

	assert_int_equal(corners.lower_count, 1);
	assert_int_equal(corners.upper_count, 1);
	assert_int_equal(corners.lower[0].tsc, 41000);
	assert_int_equal(corners.upper[0].tsc, 0);
	assert_int_equal(corners.lower[0].ticks, 0);
	assert_int_equal(corners.upper[0].ticks, 0);
}
