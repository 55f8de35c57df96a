/*
 * Tests of the warp check with simulated cores, whose TSCs have known offsets. For exact figures, the cores run in
 * turns on one host thread: the next core runs at every pause, and sometimes while a core holds the lock. Therefore the
 * host's scheduler has no influence. In one test each core is a host thread, and all run at once.
 */
#include "sync/warp.h"
#include "test.h"
#include "threads.h"

#define CORES      4
#define TURNS      1000
#define CALM       300
#define TICK       100 /* duration of a reading in ticks */
/* number of successive pauses after which a core keeps its turn in most of its pauses; one test has no such limit */
#define PATIENCE   100
/* a core that has waited for PATIENCE pauses lets the next core run once in this number of pauses */
#define RARELY     65536
/* largest number of pauses of a core in a check: at the barrier, at the lock and in its turns */
#define PAUSES_MAX (UINT64_C(6) << 20)

static struct {
	bool free_for_all; /* true if the cores do not run in turns */
	uint64_t world, random;
	int64_t offset[CORES];
	uint64_t reads[CORES], pauses[CORES], idle[CORES];
	/* number of the reading at which the core dies while it holds the lock; 0 for never */
	uint64_t dies_reading[CORES];
	uint64_t calms_reading[CORES]; /* number of the reading at which the core's offset falls to CALM; 0 for never */
	uint64_t dies_pausing[CORES]; /* number of readings after which the core dies at its next pause */
	uint64_t patience;
	/*
	 * Simulates a core that is far from the lock: the other cores look at the lock FAR + 1 times as often as this
	 * core.
	 */
	unsigned far[CORES];
	uint64_t lead;       /* largest lead of a core over any other core at a reading, in turns */
	size_t expected;
	struct warp_table *table;
} sim;

static void
let_next_core_run(void)
{
	if (!sim.free_for_all)
		threads_yield();
}

static void
note_lead(size_t self)
{
	for (size_t i = 0; i < CORES; i++) {
		uint64_t ahead = sim.table->slots[self].turns - sim.table->slots[i].turns;

		if ((int64_t)ahead > (int64_t)sim.lead)
			sim.lead = ahead;
	}
}

static uint64_t
sim_tsc(void)
{
	size_t self = threads_get_core();

	sim.idle[self] = 0;
	if (!sim.free_for_all)
		note_lead(self);
	if (++sim.reads[self] == sim.dies_reading[self])
		threads_stop_core();
	if (sim.reads[self] == sim.calms_reading[self])
		sim.offset[self] = CALM;
	if (!sim.free_for_all) {
		sim.random ^= sim.random << 13;
		sim.random ^= sim.random >> 7;
		sim.random ^= sim.random << 17;
		if (sim.random % 8 == 0)
			let_next_core_run();
	}
	return __atomic_add_fetch(&sim.world, TICK, __ATOMIC_RELAXED) + (uint64_t)sim.offset[self];
}

static uint64_t
sim_read(void *context)
{
	return sim_tsc();
}

static void
sim_pause(void)
{
	size_t self = threads_get_core();

	sim.pauses[self]++;
	if (sim.dies_pausing[self] && sim.reads[self] >= sim.dies_pausing[self])
		threads_stop_core();
	if (++sim.idle[self] > sim.patience && sim.idle[self] % RARELY)
		return;
	for (unsigned i = 0; i <= sim.far[self]; i++)
		let_next_core_run();
}

static void
run_warp_check(void *unused, size_t core)
{
	warp_run_core(sim.table, core, sim.expected, (struct warp_reader){ sim_read, NULL, NULL }, sim_pause);
}

static struct warp_result
run(size_t cores)
{
	(sim.free_for_all ? threads_start : threads_start_in_turns)(cores);
	threads_smp.run_all(NULL, run_warp_check, NULL, 0);
	threads_stop();
	for (size_t i = 0; i < cores && !sim.free_for_all; i++)
		assert_in_range(sim.pauses[i], 0, PAUSES_MAX);
	return warp_get_result(sim.table, sim.expected);
}

static void
begin_kind(enum warp_kind kind)
{
	sim.free_for_all = false;
	sim.world = UINT64_C(1) << 40;
	sim.random = 88172645463325252u;
	sim.expected = CORES;
	memset(sim.offset, 0, sizeof(sim.offset));
	memset(sim.reads, 0, sizeof(sim.reads));
	memset(sim.pauses, 0, sizeof(sim.pauses));
	memset(sim.idle, 0, sizeof(sim.idle));
	memset(sim.dies_reading, 0, sizeof(sim.dies_reading));
	memset(sim.calms_reading, 0, sizeof(sim.calms_reading));
	memset(sim.dies_pausing, 0, sizeof(sim.dies_pausing));
	memset(sim.far, 0, sizeof(sim.far));
	sim.lead = 0;
	sim.patience = PATIENCE;
	sim.table = aligned_alloc(WARP_LINE, warp_table_bytes(CORES));
	memset(sim.table, 0xa5, warp_table_bytes(CORES));
	warp_begin(sim.table, kind, CORES, TURNS, sim.world);
}

static void
begin(void)
{
	begin_kind(WARP_LOCKED);
}

static void
begin_lock_free(void)
{
	begin_kind(WARP_LOCK_FREE);
}

static void
end(void)
{
	free(sim.table);
}

TEST_FIXTURE(begin, end);

TEST(four_equal_cores_have_no_warp)
{
	struct warp_result result = run(CORES);

	assert_int_equal(result.cores, 4);
	assert_int_equal(result.turns, 4000);
	assert_int_equal(result.warps, 0);
	assert_int_equal(result.worst_ticks, 0);
	assert_false(result.starved);
	for (size_t i = 0; i < CORES; i++) {
		assert_int_equal(sim.table->slots[i].turns, TURNS);
		assert_in_range(sim.table->slots[i].handovers, TURNS / 2, TURNS);
	}
}

TEST(a_core_1000_ticks_ahead_is_named_with_the_core_that_found_it)
{
	struct warp_result result;

	sim.offset[2] = 1000;
	result = run(CORES);
	assert_false(result.starved);
	assert_in_range(result.warps, TURNS / 2, TURNS);
	assert_int_equal(result.worst_ticks, 900); /* the step of 1000 ticks, minus 100 ticks for a reading */
	assert_int_equal(result.worst_ahead, 2);
	assert_int_not_equal(result.worst_behind, 2);
	assert_int_equal(sim.table->slots[2].warps, 0);
}

TEST(a_core_that_lags_by_1000_ticks_finds_the_others_ahead)
{
	struct warp_result result;

	sim.offset[3] = -1000;
	result = run(CORES);
	assert_int_equal(result.worst_ticks, 900);
	assert_int_equal(result.worst_behind, 3);
	assert_int_not_equal(result.worst_ahead, 3);
	assert_int_equal(result.warps, sim.table->slots[3].warps);
}

TEST(an_offset_of_99_ticks_hides_between_readings_100_apart)
{
	struct warp_result result;

	sim.offset[1] = TICK - 1;
	result = run(CORES);
	assert_int_equal(result.warps, 0);
	assert_false(result.starved);
}

TEST(an_offset_of_101_ticks_is_a_warp_of_1)
{
	struct warp_result result;

	sim.offset[1] = TICK + 1;
	result = run(CORES);
	assert_in_range(result.warps, TURNS / 2, TURNS);
	assert_int_equal(result.worst_ticks, 1);
	assert_int_equal(result.worst_ahead, 1);
}

TEST(the_worst_warp_is_kept_if_smaller_warps_follow)
{
	struct warp_result result;

	sim.offset[2] = 1000;
	sim.calms_reading[2] = TURNS / 2;
	result = run(CORES);
	assert_int_equal(result.worst_ticks, 900);
	assert_int_equal(result.worst_ahead, 2);
}

/*
 * Only one core runs, so the last timestamp is always its own. A step back of its TSC is one warp of the core with
 * itself.
 */
TEST(a_core_whose_own_tsc_falls_by_700_ticks_has_one_warp_against_itself)
{
	struct warp_result result;

	sim.offset[0] = 1000;
	sim.calms_reading[0] = TURNS / 2;
	result = run(1);
	assert_int_equal(result.turns, TURNS);
	assert_int_equal(result.warps, 1);
	assert_int_equal(result.worst_ticks, 600); /* the step of 700 ticks, minus 100 ticks for a reading */
	assert_int_equal(result.worst_ahead, 0);
	assert_int_equal(result.worst_behind, 0);
	assert_int_equal(sim.table->slots[0].handovers, 0);
}

TEST(the_worse_of_two_faulty_cores_is_named)
{
	struct warp_result result;

	sim.offset[1] = 1000;
	sim.offset[3] = 5000;
	result = run(CORES);
	assert_int_equal(result.worst_ticks, 4900);
	assert_int_equal(result.worst_ahead, 3);
	assert_in_range(result.worst_behind, 0, 2);
}

TEST(if_a_core_dies_with_the_lock_the_others_wait_for_a_limited_time)
{
	struct warp_result result;

	sim.dies_reading[1] = 51;
	result = run(CORES);
	assert_int_equal(sim.table->slots[1].turns, 50);
	assert_true(result.starved);
	assert_in_range(result.turns, 50, 4 * 60); /* after the core died, the other cores have no further turns */
	assert_int_equal(result.warps, 0);
}

TEST(if_a_core_dies_without_the_lock_the_others_have_all_their_turns)
{
	struct warp_result result;

	sim.dies_pausing[1] = 51;
	result = run(CORES);
	assert_int_equal(sim.table->slots[1].turns, 51);
	for (size_t i = 0; i < CORES; i++)
		assert_int_equal(sim.table->slots[i].turns, i == 1 ? 51 : TURNS);
	assert_true(result.starved);
	assert_int_equal(result.warps, 0);
}

TEST(a_core_that_never_comes_is_awaited_and_counted_as_missing)
{
	struct warp_result result = run(CORES - 1);

	assert_int_equal(result.cores, 3);
	assert_int_equal(result.turns, 3 * TURNS);
	assert_true(result.starved);
}

/* The two far cores look at the lock so seldom that a near core has usually taken the lock before. */
TEST(cores_far_from_the_lock_have_as_many_turns_as_near_ones_at_any_time)
{
	struct warp_result result;

	sim.far[2] = sim.far[3] = 8;
	sim.patience = UINT64_MAX;
	result = run(CORES);
	assert_int_equal(result.turns, CORES * TURNS);
	assert_false(result.starved);
	assert_int_equal(result.warps, 0);
	/* a core leads by at most one round of eight turns, or by two rounds if the previous round has just ended */
	assert_in_range(sim.lead, 1, 2 * 8);
}

/* If a core dies between two turns, the other cores continue. */
TEST(a_core_that_dies_between_two_turns_is_awaited_four_times)
{
	sim.dies_pausing[1] = 51;
	run(CORES);
	assert_in_range(sim.table->rounds_missed, 4, 4 + CORES);
	for (size_t i = 0; i < CORES; i++)
		assert_in_range(sim.pauses[i], 0, UINT64_C(4) << 18);
}

TEST(cores_that_run_one_after_another_prove_nothing)
{
	sim.expected = 1; /* the barrier waits for one core only, so the cores do not wait for each other */
	sim.free_for_all = true;
	threads_start_in_turns(CORES);
	for (size_t core = 0; core < CORES; core++)
		threads_smp.run(NULL, core, run_warp_check, NULL, 0);
	threads_stop();

	struct warp_result result = warp_get_result(sim.table, CORES);

	assert_int_equal(result.turns, 4 * TURNS);
	assert_int_equal(result.warps, 0);
	assert_true(result.starved);
}

static uint64_t
read_what_stands_still(void *context)
{
	return 1000;
}

/* The check reads a hypervisor's clock, which stands still. The TSC limits the duration of the check. */
TEST(a_check_of_a_clock_that_stands_still_ends_at_the_limit)
{
	sim.free_for_all = true;
	sim.table->bound_ticks = 10 * TICK;
	warp_run_core(sim.table, 0, 1, (struct warp_reader){ read_what_stands_still, NULL, sim_tsc }, sim_pause);
	assert_int_equal(sim.table->slots[0].turns, 12);
}

TEST(a_check_that_is_stopped_ends_at_once)
{
	struct warp_result result;

	warp_stop(sim.table);
	result = run(CORES);
	assert_int_equal(result.turns, 0);
	assert_int_equal(result.cores, 0);
	assert_true(result.starved);
}

/* In any order of the threads, a core must never find a timestamp that is later than its own reading. */
TEST(equal_cores_that_really_run_at_once_have_no_warp)
{
	struct warp_result result;

	sim.free_for_all = true;
	result = run(CORES);
	assert_in_range(result.turns, 1, 4 * TURNS);
	assert_int_equal(result.warps, 0);
	assert_int_equal(sim.world, (UINT64_C(1) << 40) + TICK * result.turns);
}

TEST(without_a_lock_a_core_a_million_ticks_ahead_is_named_by_all_others, begin_lock_free, end)
{
	struct warp_result result;

	sim.offset[2] = 1000000; /* more ticks than all turns take together */
	result = run(CORES);
	/*
	 * core 2 never found another core's timestamp, because its own was always the latest; this does not count as
	 * starved
	 */
	assert_false(result.starved);
	assert_in_range(result.warps, TURNS / 2, 3 * TURNS);
	assert_int_equal(result.worst_ticks, 999900);
	assert_int_equal(result.worst_ahead, 2);
	assert_int_equal(sim.table->slots[2].warps, 0);
	for (size_t i = 0; i < CORES; i++)
		assert_true(i == 2 || sim.table->slots[i].warps > 0);
}

TEST(without_a_lock_a_core_that_dies_in_its_turn_does_not_delay_the_others, begin_lock_free, end)
{
	struct warp_result result;

	sim.dies_reading[1] = 51;
	result = run(CORES);
	for (size_t i = 0; i < CORES; i++)
		assert_int_equal(sim.table->slots[i].turns, i == 1 ? 50 : TURNS);
	assert_true(result.starved);
	assert_int_equal(result.warps, 0);
}

/*
 * One core's TSC differs from the others by more than 2^50 ticks. Such a number does not fit into one word together
 * with a core number, so the warp is reported as at least this size.
 */
TEST(without_a_lock_a_tsc_that_is_days_away_is_named_either_way, begin_lock_free, end)
{
	struct warp_result result;

	sim.offset[1] = INT64_C(1) << 60;
	result = run(CORES);
	assert_int_equal(result.worst_ahead, 1);
	assert_true(result.worst_ticks > UINT64_C(1) << 50);
	end();
	begin_lock_free();
	sim.offset[3] = -(INT64_C(1) << 60);
	result = run(CORES);
	assert_int_equal(result.worst_behind, 3);
	assert_int_equal(result.warps, sim.table->slots[3].warps);
	assert_true(result.worst_ticks > UINT64_C(1) << 50);
}

TEST(no_core_writes_to_another_cores_cache_line)
{
	assert_int_equal(sizeof(struct warp_slot) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, lock) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, last_packed) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, rounds_ended) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, barrier.arrived) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, barrier.stop) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, slots) % WARP_LINE, 0);
	assert_int_equal(offsetof(struct warp_table, last_core) / WARP_LINE,
			 offsetof(struct warp_table, lock) / WARP_LINE);
}

/* Repeats a test for the warp check without a lock. */
#define ALSO_LOCK_FREE(name) TEST_ADD(name##_without_a_lock, name, begin_lock_free, end)

ALSO_LOCK_FREE(four_equal_cores_have_no_warp)
ALSO_LOCK_FREE(a_core_that_lags_by_1000_ticks_finds_the_others_ahead)
ALSO_LOCK_FREE(an_offset_of_99_ticks_hides_between_readings_100_apart)
ALSO_LOCK_FREE(an_offset_of_101_ticks_is_a_warp_of_1)
ALSO_LOCK_FREE(the_worst_warp_is_kept_if_smaller_warps_follow)
ALSO_LOCK_FREE(the_worse_of_two_faulty_cores_is_named)
ALSO_LOCK_FREE(if_a_core_dies_without_the_lock_the_others_have_all_their_turns)
ALSO_LOCK_FREE(a_core_that_never_comes_is_awaited_and_counted_as_missing)
ALSO_LOCK_FREE(cores_that_run_one_after_another_prove_nothing)
ALSO_LOCK_FREE(a_check_that_is_stopped_ends_at_once)
ALSO_LOCK_FREE(equal_cores_that_really_run_at_once_have_no_warp)
