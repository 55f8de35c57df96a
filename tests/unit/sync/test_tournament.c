/*
 * Tests of the two schedules of pairs: all pairs of cores, and a star (each core with the boot core). Every round is
 * checked for several numbers of cores.
 */
#include "sync/pair_schedule.h"
#include "test.h"

static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 64, 255, 1024 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Goes through one round, and counts each pair in SEEN by the pair's index. Returns the number of idle cores. */
static size_t
play_round(enum pair_schedule kind, size_t cores, size_t round, uint8_t *seen)
{
	size_t sitting = 0;

	for (size_t core = 0; core < cores; core++) {
		size_t opponent = pair_schedule_get_partner(kind, cores, round, core);

		if (opponent == PAIR_SCHEDULE_IDLE) {
			sitting++;
			continue;
		}
		/* Each core must be its partner's partner, so that no core is in two pairs of a round. */
		assert_in_range(opponent, 0, cores - 1);
		assert_int_not_equal(opponent, core);
		assert_int_equal(pair_schedule_get_partner(kind, cores, round, opponent), core);
		if (core < opponent) {
			size_t index = pair_schedule_index_of_pair(kind, cores, core, opponent), a, b;

			assert_in_range(index, 0, pair_schedule_count_pairs(kind, cores) - 1);
			pair_schedule_pair_at_index(kind, index, &a, &b);
			assert_int_equal(a, core);
			assert_int_equal(b, opponent);
			seen[index]++;
		}
	}
	return sitting;
}

/* Asserts that each pair is in the schedule once, and that each pair has its own index. */
static void
play(enum pair_schedule kind, size_t cores, size_t sitting_each_round)
{
	size_t pairs = pair_schedule_count_pairs(kind, cores);
	uint8_t *seen = calloc(pairs + 1, 1);

	for (size_t round = 0; round < pair_schedule_count_rounds(kind, cores); round++)
		assert_int_equal(play_round(kind, cores, round, seen), sitting_each_round);
	for (size_t i = 0; i < pairs; i++)
		assert_int_equal(seen[i], 1);
	free(seen);
}

TEST(rounds_and_pairs_are_as_many_as_stated)
{
	static const struct {
		size_t cores, rounds, pairs, star;
	} expected[] = {
		{ 0, 0, 0, 0 },       { 1, 0, 0, 0 },         { 2, 1, 1, 1 },
		{ 3, 3, 3, 2 },       { 4, 3, 6, 3 },         { 5, 5, 10, 4 },
		{ 64, 63, 2016, 63 }, { 255, 255, 32385, 254 }, { 1024, 1023, 523776, 1023 },
	};

	for (size_t i = 0; i < SIZES; i++) {
		size_t cores = expected[i].cores;

		assert_int_equal(pair_schedule_count_rounds(PAIR_SCHEDULE_ALL, cores), expected[i].rounds);
		assert_int_equal(pair_schedule_count_pairs(PAIR_SCHEDULE_ALL, cores), expected[i].pairs);
		assert_int_equal(pair_schedule_count_rounds(PAIR_SCHEDULE_STAR, cores), expected[i].star);
		assert_int_equal(pair_schedule_count_pairs(PAIR_SCHEDULE_STAR, cores), expected[i].star);
	}
}

TEST(every_pair_comes_once_and_with_an_odd_number_one_core_is_idle)
{
	for (size_t i = 0; i < SIZES; i++)
		play(PAIR_SCHEDULE_ALL, sizes[i], sizes[i] % 2);
}

TEST(with_an_odd_number_of_cores_each_core_is_idle_once)
{
	for (size_t core = 0; core < 255; core++) {
		size_t sitting = 0;

		for (size_t round = 0; round < 255; round++)
			sitting += pair_schedule_get_partner(PAIR_SCHEDULE_ALL, 255, round, core) ==
				   PAIR_SCHEDULE_IDLE;
		assert_int_equal(sitting, 1);
	}
}

TEST(in_a_star_schedule_the_cores_meet_the_boot_core_one_after_another)
{
	for (size_t i = 2; i < SIZES; i++)
		play(PAIR_SCHEDULE_STAR, sizes[i], sizes[i] - 2);
	assert_int_equal(pair_schedule_get_partner(PAIR_SCHEDULE_STAR, 5, 2, 0), 3);
	assert_int_equal(pair_schedule_get_partner(PAIR_SCHEDULE_STAR, 5, 2, 3), 0);
	assert_int_equal(pair_schedule_get_partner(PAIR_SCHEDULE_STAR, 5, 2, 4), PAIR_SCHEDULE_IDLE);
}
