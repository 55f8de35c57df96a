/*
 * Ping-pongs between two host threads. Both threads share one counter, which each TSC reading increments. A thread's
 * TSC is this counter plus an offset. Therefore the order of events is exact, and each result can be compared with the
 * true offset even on a busy host. A fault starts with a certain message, not at a certain time. Time advances quickly
 * only after one side has left, so a busy host cannot exceed a time limit.
 */

#include <pthread.h>
#include <sched.h>

#include "test.h"
#include "sync/pingpong.h"
#include "random.h"

#define TRIPS        200
#define BOUND_TICKS  (UINT64_C(1) << 32)
#define ALONE_TICKS  (BOUND_TICKS / 1000) /* duration of a TSC reading in ticks after the other side has left */
#define IN_MANY      UINT64_MAX /* number of a message that is never sent, for faults that never start */
#define BASE         (UINT64_C(1) << 40)

/*
 * Faults of one side. The number of the side's messages after which its offset becomes later_offset (moves_after), its
 * thread ends (dies_after), or it stops the ping-pong (stops_after).
 */
struct fault {
	int64_t offset, later_offset;
	uint64_t moves_after, dies_after, stops_after;
	bool stopped, falls; /* stopped: the side's TSC stops. falls: the side's TSC steps back at each reading. */
};

static struct {
	struct pingpong pingpong;
	struct fault faults[2];
	uint64_t world;
	uint64_t pauses[2];
	bool left; /* true if one side has ended */
} sim;

static __thread enum pingpong_side self;

static void
leave(void)
{
	__atomic_store_n(&sim.left, true, __ATOMIC_RELEASE);
}

static void
die(void)
{
	leave();
	pthread_exit(NULL);
}

static uint64_t
sim_tsc(void)
{
	const struct fault *fault = &sim.faults[self];
	uint64_t sent = sim.pingpong.slots[self].number;
	uint64_t ticks = __atomic_load_n(&sim.left, __ATOMIC_ACQUIRE) ? ALONE_TICKS : 1;
	uint64_t now = __atomic_add_fetch(&sim.world, ticks, __ATOMIC_RELAXED);

	if (sent >= fault->dies_after)
		die();
	if (sent >= fault->stops_after)
		pingpong_stop(&sim.pingpong);
	if (fault->stopped)
		return BASE;
	if (fault->falls)
		return BASE - 1000 * now;
	return BASE + now +
	       (uint64_t)(sent >= fault->moves_after ? fault->later_offset : fault->offset);
}

static void
sim_pause(void)
{
	sim.pauses[self]++;
	sched_yield();
}

static void *
play(void *side)
{
	self = (enum pingpong_side)(uintptr_t)side;
	pingpong_run_side(&sim.pingpong, self, sim_tsc, sim_pause);
	leave();
	return NULL;
}

static struct pingpong_result
exchange(void)
{
	pthread_t threads[2];

	for (uintptr_t side = 0; side < 2; side++)
		assert_int_equal(pthread_create(&threads[side], NULL, play, (void *)side), 0);
	for (size_t side = 0; side < 2; side++)
		pthread_join(threads[side], NULL);
	return pingpong_get_result(&sim.pingpong, 1);
}

/* Runs one side of a ping-pong in this thread, while the other side never comes. */
static struct pingpong_result
play_alone(enum pingpong_side side)
{
	play((void *)(uintptr_t)side);
	return pingpong_get_result(&sim.pingpong, 1);
}

static void
begin(void)
{
	memset(&sim, 0xa5, sizeof(sim));
	pingpong_begin(&sim.pingpong, TRIPS, BOUND_TICKS);
	for (size_t side = 0; side < 2; side++) {
		sim.faults[side] = (struct fault){
			.moves_after = IN_MANY, .dies_after = IN_MANY, .stops_after = IN_MANY,
		};
		sim.pauses[side] = 0;
	}
	sim.world = 0;
	sim.left = false;
}

TEST_FIXTURE(begin, NULL);

static void
assert_all_exchanged(const struct pingpong_result *result)
{
	assert_true(result->played);
	assert_int_equal(result->trips, TRIPS);
	assert_int_equal(sim.pingpong.records[PINGPONG_FIRST].received, TRIPS);
	assert_int_equal(sim.pingpong.records[PINGPONG_SECOND].received, TRIPS);
}

/*
 * Asserts that the interval contains OFFSET, and is at most as wide as the shortest round trip plus one tick on each
 * side.
 */
static struct pingpong_result
exchange_at(int64_t offset)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_SECOND].offset = offset;
	result = exchange();
	assert_all_exchanged(&result);
	assert_int_equal(result.moved_ticks, 0);
	assert_true(result.offset.low <= offset - 2 && result.offset.high >= offset + 2);
	assert_in_range(result.best_trip_ticks, 2, result.median_trip_ticks);
	assert_in_range(result.offset.high - result.offset.low, 4, result.best_trip_ticks + 2);
	return result;
}

TEST(an_offset_of_0_is_in_the_interval_and_causes_no_warp)
{
	struct pingpong_result result = exchange_at(0);

	assert_int_equal(result.warps, 0);
	assert_int_equal(result.worst_ticks, 0);
}

/* Asserts that there were warps, and that the worst warp equals the lower bound of the second side's offset. */
static void
assert_second_ahead(const struct pingpong_result *result, int64_t offset)
{
	assert_true(result->offset.low > 0);
	assert_in_range(result->warps, 1, TRIPS);
	assert_int_equal(result->warps, sim.pingpong.records[PINGPONG_FIRST].warps);
	assert_int_equal(result->ahead, PINGPONG_SECOND);
	assert_int_equal(result->worst_ticks, result->offset.low + 1);
	assert_in_range(result->worst_ticks, 1, offset - 1);
}

TEST(with_an_offset_of_1000000_ticks_the_second_core_is_named)
{
	struct pingpong_result result = exchange_at(1000000);

	assert_second_ahead(&result, 1000000);
}

TEST(with_an_offset_of_20000_ticks_the_second_core_is_named)
{
	struct pingpong_result result = exchange_at(20000);

	assert_second_ahead(&result, 20000);
}

TEST(with_an_offset_of_300_ticks_the_second_core_is_named)
{
	struct pingpong_result result = exchange_at(300);

	assert_second_ahead(&result, 300);
}

TEST(with_an_offset_of_minus_2000_ticks_the_first_core_is_named)
{
	struct pingpong_result result = exchange_at(-2000);

	assert_true(result.offset.high < 0);
	assert_in_range(result.warps, 1, TRIPS);
	assert_int_equal(result.warps, sim.pingpong.records[PINGPONG_SECOND].warps);
	assert_int_equal(result.ahead, PINGPONG_FIRST);
	assert_int_equal(result.worst_ticks, 1 - result.offset.high);
	assert_in_range(result.worst_ticks, 1, 1999);
}

/* The result depends only on the difference of both sides' offsets. */
TEST(an_offset_of_the_first_core_has_the_other_sign_also_across_a_wrap)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_FIRST].offset = -(int64_t)BASE - 20000; /* the TSC passes 0 during the ping-pong */
	sim.faults[PINGPONG_SECOND].offset = -(int64_t)BASE;
	result = exchange();
	assert_all_exchanged(&result);
	assert_true(result.offset.low < 20000 && 20000 < result.offset.high);
	assert_second_ahead(&result, 20000);
}

TEST(an_offset_that_jumps_in_the_middle_is_reported_as_moved)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_SECOND].later_offset = 1000000;
	sim.faults[PINGPONG_SECOND].moves_after = TRIPS / 2;
	result = exchange();
	assert_all_exchanged(&result);
	assert_in_range(result.moved_ticks, 1, 1000000);
	assert_true(result.offset.low == INT64_MIN && result.offset.high == INT64_MAX);
}

TEST(the_wait_for_a_partner_that_never_comes_ends_at_the_limit)
{
	for (enum pingpong_side side = PINGPONG_FIRST; side <= PINGPONG_SECOND; side++) {
		struct pingpong_result result;

		begin();
		sim.pingpong.bound_ticks = 1000;
		result = play_alone(side);
		assert_false(result.played);
		assert_true(result.offset.low == INT64_MIN && result.offset.high == INT64_MAX);
		assert_int_equal(result.trips, 0);
		assert_int_equal(result.best_trip_ticks, 0);
		assert_int_equal(result.median_trip_ticks, 0);
		/* 1000 readings in pauses, the first reading, and the reading that shows that the limit is exceeded */
		assert_int_equal(sim.world, 1000 + 2);
		assert_int_equal(sim.pauses[side], 1000);
	}
}

TEST(if_the_tsc_stops_the_number_of_pauses_ends_the_wait)
{
	sim.pingpong.pauses_max = 777;
	sim.faults[PINGPONG_FIRST].stopped = true;
	assert_false(play_alone(PINGPONG_FIRST).played);
	assert_int_equal(sim.pauses[PINGPONG_FIRST], 777);
}

TEST(if_the_tsc_steps_back_the_number_of_pauses_ends_the_wait)
{
	sim.pingpong.pauses_max = 777;
	sim.faults[PINGPONG_SECOND].falls = true;
	assert_false(play_alone(PINGPONG_SECOND).played);
	assert_int_equal(sim.pauses[PINGPONG_SECOND], 777);
}

TEST(the_number_of_pauses_has_a_default_limit)
{
	pingpong_begin(&sim.pingpong, TRIPS, 16000);
	sim.faults[PINGPONG_FIRST].stopped = true;
	play_alone(PINGPONG_FIRST);
	/* the default limit assumes at least 16 ticks for each turn of the wait: 16000 / 16 + 1 pauses */
	assert_int_equal(sim.pauses[PINGPONG_FIRST], 1001);
}

TEST(a_pingpong_of_two_stopped_tscs_ends_without_round_trips)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_FIRST].stopped = sim.faults[PINGPONG_SECOND].stopped = true;
	result = exchange();
	assert_all_exchanged(&result);
	assert_int_equal(result.best_trip_ticks, 0);
	assert_int_equal(result.median_trip_ticks, 0);
	assert_int_equal(result.warps, 0);
}

TEST(a_round_trip_in_which_the_tsc_stepped_back_does_not_count)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_FIRST].falls = true;
	result = exchange();
	assert_all_exchanged(&result);
	assert_int_equal(result.best_trip_ticks, 0);
	assert_int_equal(result.median_trip_ticks, 0);
}

TEST(if_the_second_core_dies_after_50_messages_there_are_50_round_trips)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_SECOND].offset = 20000;
	sim.faults[PINGPONG_SECOND].dies_after = 50;
	result = exchange();
	assert_true(result.played);
	assert_int_equal(result.trips, 50);
	assert_int_equal(sim.pingpong.records[PINGPONG_SECOND].received, 50);
	assert_true(result.offset.low < 20000 && 20000 < result.offset.high);
	assert_true(sim.world > BOUND_TICKS); /* the first side waited until the time limit */
}

TEST(if_the_first_core_dies_after_50_messages_there_are_49_round_trips)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_FIRST].dies_after = 50;
	result = exchange();
	assert_true(result.played);
	assert_int_equal(result.trips, 49);
	assert_int_equal(sim.pingpong.records[PINGPONG_SECOND].received, 50);
	assert_true(result.offset.low < 0 && 0 < result.offset.high);
}

TEST(messages_in_one_direction_are_no_pingpong)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_FIRST].dies_after = 1;
	result = exchange();
	assert_int_equal(sim.pingpong.records[PINGPONG_SECOND].received, 1);
	assert_false(result.played);
	assert_true(result.offset.low == INT64_MIN && result.offset.high == INT64_MAX);
}

TEST(a_pingpong_that_is_stopped_before_it_begins_exchanges_nothing)
{
	struct pingpong_result result;

	pingpong_stop(&sim.pingpong);
	result = exchange();
	assert_int_equal(result.trips, 0);
	assert_false(result.played);
	assert_int_equal(sim.pauses[PINGPONG_FIRST] + sim.pauses[PINGPONG_SECOND], 0);
}

TEST(a_pingpong_that_is_stopped_in_the_middle_ends_at_the_next_message)
{
	struct pingpong_result result;

	sim.faults[PINGPONG_SECOND].stops_after = 100;
	result = exchange();
	assert_true(result.played);
	assert_in_range(result.trips, 99, 101);
	assert_in_range(sim.pingpong.records[PINGPONG_SECOND].received, 100, 101);
}

/* All messages of the other side are already there, so this side never waits. It must still end, after 101 messages. */
TEST(a_side_that_never_waits_ends_if_stopped_or_out_of_time)
{
	sim.pingpong.slots[PINGPONG_FIRST].number = TRIPS;
	sim.faults[PINGPONG_SECOND].stops_after = 100;
	play_alone(PINGPONG_SECOND);
	assert_int_equal(sim.pingpong.records[PINGPONG_SECOND].received, 101);

	begin();
	sim.pingpong.slots[PINGPONG_FIRST].number = TRIPS;
	sim.faults[PINGPONG_SECOND].later_offset = (int64_t)BOUND_TICKS + 1;
	sim.faults[PINGPONG_SECOND].moves_after = 100;
	play_alone(PINGPONG_SECOND);
	assert_int_equal(sim.pingpong.records[PINGPONG_SECOND].received, 101);
}

TEST(a_pingpong_of_0_round_trips_ends_at_once)
{
	pingpong_begin(&sim.pingpong, 0, BOUND_TICKS);
	assert_false(exchange().played);
	assert_int_equal(sim.pauses[PINGPONG_FIRST] + sim.pauses[PINGPONG_SECOND], 0);
	assert_int_equal(sim.pingpong.slots[PINGPONG_FIRST].number, 0);
}

/* The following tests use hand-written results of both sides. */

static struct pingpong
records_of(uint64_t received, int64_t first_least_ticks, int64_t second_least_ticks)
{
	return (struct pingpong){ .records = {
		{ .received = received, .least_ticks = first_least_ticks },
		{ .received = received, .least_ticks = second_least_ticks },
	} };
}

TEST(the_interval_is_wider_than_the_readings_by_a_tick_on_each_side, NULL, NULL)
{
	struct pingpong pingpong = records_of(9, 180, 220);
	struct pingpong_result result = pingpong_get_result(&pingpong, 1);

	assert_true(result.played);
	assert_int_equal(result.moved_ticks, 0);
	assert_int_equal(result.offset.low, -181);
	assert_int_equal(result.offset.high, 221);
	assert_int_equal(result.trips, 9);
	assert_int_equal(result.worst_ticks, 0);
}

TEST(a_warp_of_1_tick_is_a_warp_although_the_offset_may_be_0, NULL, NULL)
{
	struct pingpong pingpong = records_of(9, 180, -1);
	struct pingpong_result result;

	pingpong.records[PINGPONG_SECOND].warps = 2;
	result = pingpong_get_result(&pingpong, 1);
	assert_int_equal(result.warps, 2);
	assert_int_equal(result.worst_ticks, 1);
	assert_int_equal(result.ahead, PINGPONG_FIRST);
	assert_int_equal(result.offset.high, 0);
}

TEST(bounds_that_contradict_each_other_give_no_interval, NULL, NULL)
{
	struct pingpong pingpong = records_of(9, -900, -100);
	struct pingpong_result result;

	pingpong.records[PINGPONG_FIRST].warps = 4;
	pingpong.records[PINGPONG_SECOND].warps = 3;
	result = pingpong_get_result(&pingpong, 1);
	/* the offset would have to be at least 899 and at most -99, so it moved by 998 ticks */
	assert_int_equal(result.moved_ticks, 998);
	assert_true(result.offset.low == INT64_MIN && result.offset.high == INT64_MAX);
	assert_int_equal(result.warps, 7);
	assert_int_equal(result.worst_ticks, 900);
	assert_int_equal(result.ahead, PINGPONG_SECOND);
}

TEST(bounds_that_contradict_by_the_resolution_only_have_not_moved, NULL, NULL)
{
	struct pingpong pingpong = records_of(1, -100, 98);

	assert_int_equal(pingpong_get_result(&pingpong, 1).moved_ticks, 0); /* 99 to 99 */
	pingpong.records[PINGPONG_SECOND].least_ticks = 97;
	/* the offset would have to be at least 99 and at most 98, so it moved by 1 tick */
	assert_int_equal(pingpong_get_result(&pingpong, 1).moved_ticks, 1);
}

/* Returns a reading of a TSC that counts in steps of STEP ticks. PHASE shifts the times of these steps, in ticks. */
static int64_t
read_in_steps(uint64_t world, int64_t ahead, uint64_t step, uint64_t phase)
{
	uint64_t tsc = world + (uint64_t)ahead;

	return (int64_t)(tsc - (tsc + phase) % step);
}

/* Tests 10,000 pairs of TSCs that count in steps of 1 to 36 ticks. Some round trips are as short as a few steps. */
TEST(the_interval_of_tscs_that_count_in_steps_contains_the_true_offset, NULL, NULL)
{
	uint64_t seed = 12;
	size_t wrong = 0;

	for (unsigned run = 0; run < 10000; run++) {
		uint64_t step = 1 + random_next(&seed) % 36, world = 1000000, phase = random_next(&seed) % step;
		int64_t ahead = (int64_t)(random_next(&seed) % 2001) - 1000;
		int64_t least[2] = { INT64_MAX, INT64_MAX };
		struct pingpong pingpong;
		struct offset offset;

		for (unsigned trip = 0; trip < 100; trip++)
			for (unsigned to = 0; to < 2; to++) {
				int64_t sent = read_in_steps(world, to ? 0 : ahead, step, to ? 0 : phase), received;

				world += 1 + random_next(&seed) % 50;
				received = read_in_steps(world, to ? ahead : 0, step, to ? phase : 0);
				world += random_next(&seed) % 50;
				if (received - sent < least[to])
					least[to] = received - sent;
			}
		pingpong = records_of(100, least[0], least[1]);
		offset = pingpong_get_result(&pingpong, step).offset;
		wrong += offset.low > ahead || offset.high < ahead;
	}
	assert_int_equal(wrong, 0);
}

TEST(figures_at_the_end_of_their_range_do_not_overflow, NULL, NULL)
{
	struct pingpong pingpong = records_of(1, INT64_MAX, INT64_MAX);
	struct pingpong_result result = pingpong_get_result(&pingpong, 1);

	assert_true(result.offset.low == INT64_MIN && result.offset.high == INT64_MAX);
	pingpong.records[PINGPONG_FIRST].least_ticks = INT64_MIN;
	result = pingpong_get_result(&pingpong, 1);
	assert_true(result.offset.low == INT64_MAX && result.offset.high == INT64_MAX);
	assert_true(result.worst_ticks == UINT64_C(1) << 63);
}

/* A duration of 0 to 7 ticks has its own bucket. Above that, each power of two has four buckets. */
TEST(the_median_is_the_upper_end_of_its_bucket, NULL, NULL)
{
	static const struct {
		unsigned bucket;
		uint64_t median;
	} expected[] = {
		{ 0, 0 },     { 1, 1 },     { 7, 7 },     { 8, 9 },           { 11, 15 },
		{ 12, 19 },   { 35, 1023 }, { 36, 1279 }, { 251, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct pingpong pingpong = records_of(3, 1, 1);

		pingpong.records[PINGPONG_FIRST].trips[expected[i].bucket] = 3;
		assert_true(pingpong_get_result(&pingpong, 1).median_trip_ticks == expected[i].median);
	}
}

TEST(the_median_ignores_slow_first_round_trips, NULL, NULL)
{
	struct pingpong pingpong = records_of(9, 1, 1);
	struct pingpong_record *first = &pingpong.records[PINGPONG_FIRST];

	first->best_trip_ticks = 1024;
	first->trips[100] = 4; /* four of the nine round trips are longer than the five in bucket 36 */
	first->trips[36] = 5;
	assert_int_equal(pingpong_get_result(&pingpong, 1).median_trip_ticks, 1279);
	assert_int_equal(pingpong_get_result(&pingpong, 1).best_trip_ticks, 1024);
	first->trips[36] = 4; /* if the number of round trips is even, the smaller of the middle two is the median */
	assert_int_equal(pingpong_get_result(&pingpong, 1).median_trip_ticks, 1279);
	first->trips[36] = 3;
	assert_true(pingpong_get_result(&pingpong, 1).median_trip_ticks > 1279);
}
