/* Tests of the search for gaps. The tests set each reading of the TSC. */
#include "test.h"
#include "stats/gaps.h"

#define STEP   20     /* ticks from one reading to the next */
#define GAPS   128
#define TURNS  1000000
#define LONG  16384

/*
 * A simulated TSC that advances by STEP ticks at each reading. At reading number gaps[i].reading it advances by
 * gaps[i].ticks more.
 */
static struct {
	uint64_t now, readings, step;
	size_t count;
	struct {
		uint64_t reading;
		int64_t ticks;
	} gaps[GAPS];
} tsc;

static struct scale gigahertz;
static struct gaps seen;

static uint64_t
read_tsc(void)
{
	tsc.now += tsc.step;
	for (size_t i = 0; i < tsc.count; i++)
		if (tsc.gaps[i].reading == tsc.readings)
			tsc.now += (uint64_t)tsc.gaps[i].ticks;
	tsc.readings++;
	return tsc.now;
}

static void
begin(void)
{
	memset(&tsc, 0, sizeof(tsc));
	/* old contents, so that the test fails if the search does not set all fields */
	memset(&seen, 0xff, sizeof(seen));
	tsc.now = 5000000;
	tsc.step = STEP;
	scale_init(&gigahertz, (struct rate){ 1000000000, 1 });
}

TEST_FIXTURE(begin, NULL);

static void
put_gap(uint64_t reading, int64_t ticks)
{
	tsc.gaps[tsc.count].reading = reading;
	tsc.gaps[tsc.count++].ticks = ticks;
}

static void
observe(const struct scale *scale, uint64_t threshold_ticks, uint64_t duration_ticks)
{
	const struct gaps_plan plan = { scale, threshold_ticks, duration_ticks, TURNS, read_tsc, LONG };

	gaps_observe_tsc(&seen, &plan);
}

TEST(an_undisturbed_core_has_no_gap)
{
	observe(&gigahertz, 10000, 1000000);
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.observed_ticks, 1000000);
	assert_int_equal(seen.total_ticks, 0);
	assert_int_equal(seen.worst_ticks, 0);
	assert_int_equal(seen.event_count, 0);
	assert_int_equal(seen.steps.backward, 0);
	assert_int_equal(tsc.readings, 50001);
}

TEST(three_gaps_are_counted_with_their_sum_maximum_octaves_and_times)
{
	put_gap(100, 12000 - STEP);
	put_gap(200, 16384 - STEP);
	put_gap(300, 2000000 - STEP);
	observe(&gigahertz, 10000, 3000000);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.total_ticks, 2028384);
	assert_int_equal(seen.worst_ticks, 2000000);
	assert_int_equal(seen.octave[14], 1); /* octave 14 counts gaps of 8,192 to 16,383 ns */
	assert_int_equal(seen.octave[15], 1);
	assert_int_equal(seen.octave[21], 1); /* octave 21 counts gaps of 1,048,576 to 2,097,151 ns */
	assert_int_equal(seen.long_ticks, 16384 + 2000000 - 2 * 10000);
	assert_int_equal(seen.turns, 48584);
	assert_int_equal(seen.least_ticks, STEP);
	assert_int_equal(seen.event_count, 3);
	assert_int_equal(seen.events[0].after_ticks, 99 * STEP);
	assert_int_equal(seen.events[0].ticks, 12000);
	assert_int_equal(seen.events[1].after_ticks, 198 * STEP + 12000);
	assert_int_equal(seen.events[2].after_ticks, 297 * STEP + 12000 + 16384);
	assert_int_equal(seen.observed_ticks, 3000004); /* the sum of the gaps and of 48,581 steps of 20 ticks */
}

TEST(only_a_time_above_the_threshold_is_a_gap)
{
	put_gap(100, 10000 - STEP);
	put_gap(200, 10001 - STEP);
	observe(&gigahertz, 10000, 100000);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.worst_ticks, 10001);
}

/* At 3 GHz, 12,000 ticks are 4,000 ns. 12,287 ticks are 4,095.67 ns, which are rounded to 4,096 ns. */
TEST(octaves_count_nanoseconds_at_any_tsc_rate)
{
	struct scale scale;

	scale_init(&scale, (struct rate){ 3000000000, 1 });
	put_gap(100, 12000 - STEP);
	put_gap(200, 12287 - STEP);
	put_gap(300, 6002 - STEP);
	observe(&scale, 6000, 100000);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.octave[12], 1); /* 4,000 ns */
	assert_int_equal(seen.octave[13], 1); /* 4,096 */
	assert_int_equal(seen.octave[11], 1); /* 2,001 */
}

TEST(all_100_gaps_are_counted_and_the_first_64_are_kept)
{
	for (uint64_t i = 0; i < 100; i++)
		put_gap(10 + 10 * i, 20000 + (int64_t)i);
	observe(&gigahertz, 10000, 5000000);
	assert_int_equal(seen.count, 100);
	assert_int_equal(seen.event_count, 64);
	assert_int_equal(seen.events[63].ticks, 20063 + STEP);
	assert_int_equal(seen.worst_ticks, 20099 + STEP);
	assert_int_equal(seen.octave[15], 100);
}

TEST(a_step_back_is_counted_and_is_no_gap)
{
	put_gap(100, -3000);
	observe(&gigahertz, 10000, 100000);
	assert_int_equal(seen.steps.backward, 1);
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.observed_ticks, 100000); /* time between the first and the last reading, in ticks */
}

TEST(if_the_tsc_stops_the_number_of_readings_ends_the_search)
{
	tsc.step = 0;
	observe(&gigahertz, 10000, 100000);
	assert_int_equal(seen.observed_ticks, 0);
	assert_int_equal(seen.count, 0);
	assert_int_equal(tsc.readings, TURNS + 1);
}
