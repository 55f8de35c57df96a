/*
 * Tests of the offsets of cores: their intervals, the solution from all pairs, and their change. An indirect path leads
 * from one core to another over a third core. A core's place is its offset from the boot core. In hand-written examples
 * every figure is exact. In random examples the true offsets are known, and each round trip has its own delays. Every
 * interval must contain the true offset.
 */
#include "test.h"
#include "consensus/marzullo.h"
#include "offsets_literal.h"
#include "sync/offsets.h"
#include "random.h"

#define CORES_MAX 1024

static struct world {
	uint64_t seed;
	struct offsets offsets;
	int64_t truth[CORES_MAX];
	struct offset places[CORES_MAX];
	uint8_t outlier[CORES_MAX];
	struct offsets_summary summary;
} *world;

static const size_t sizes[] = { 1, 2, 3, 5, 64, 255, 1024 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void
assert_offset(struct offset offset, int64_t low, int64_t high)
{
	assert_int_equal(offset.low, low);
	assert_int_equal(offset.high, high);
}

static bool
contains(struct offset offset, int64_t value)
{
	return offset.low <= value && value <= offset.high;
}

/* Makes a world with COUNT cores whose TSCs agree, and without any measured pair. */
static void
world_new(enum pair_schedule kind, size_t count, uint64_t seed)
{
	if (world) {
		free(world->offsets.pairs);
		free(world->offsets.moved_ticks);
	}
	free(world);
	world = calloc(1, sizeof(*world));
	world->seed = seed;
	world->offsets = (struct offsets){ .kind = kind, .cores = count };
	world->offsets.pairs = calloc(pair_schedule_count_pairs(kind, count) + 1, sizeof(struct offset));
	world->offsets.moved_ticks = calloc(pair_schedule_count_pairs(kind, count) + 1, sizeof(uint64_t));
	offsets_clear(&world->offsets);
}

/*
 * Sets the pair's interval from the fastest messages in both directions. Each message has its own delay, which widens
 * one side of the interval.
 */
static void
measure_pair(size_t a, size_t b, int64_t offset)
{
	int64_t there = 60 + (int64_t)(random_next(&world->seed) % 200),
		back = 60 + (int64_t)(random_next(&world->seed) % 200);

	literal_set_offset(&world->offsets, a, b, (struct offset){ offset - back, offset + there });
}

static void
measure_all(void)
{
	size_t last = world->offsets.kind == PAIR_SCHEDULE_STAR ? 1 : world->offsets.cores;

	for (size_t a = 0; a < last; a++)
		for (size_t b = a + 1; b < world->offsets.cores; b++)
			measure_pair(a, b, world->truth[b] - world->truth[a]);
}

struct pair {
	size_t a, b;
	int64_t low, high;
};

static void
set_pairs(const struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		literal_set_offset(&world->offsets, pairs[i].a, pairs[i].b, (struct offset){ pairs[i].low, pairs[i].high });
}

/* Sets the intervals of several pairs. Each pair is written as { A, B, LOW, HIGH }. */
#define SET_PAIRS(...) \
	set_pairs((const struct pair[]){ __VA_ARGS__ }, \
		  sizeof((const struct pair[]){ __VA_ARGS__ }) / sizeof(struct pair))

static void
set_all_pairs(int64_t error)
{
	for (size_t a = 0; a < world->offsets.cores; a++)
		for (size_t b = a + 1; b < world->offsets.cores; b++)
			literal_set_offset(&world->offsets, a, b, (struct offset){ -error, error });
}

static void
solve(void)
{
	world->summary = offsets_calculate_core_offsets(&world->offsets, world->places, world->outlier);
}

static void
assert_truth_is_inside_and_no_interval_wider_than_its_pair(void)
{
	for (size_t i = 0; i < world->offsets.cores; i++) {
		struct offset own = offsets_get_offset(&world->offsets, 0, i);

		assert_true(contains(world->places[i], world->truth[i] - world->truth[0]));
		assert_true(world->places[i].low >= own.low && world->places[i].high <= own.high);
	}
}

static void
assert_outliers_are_just(size_t first, size_t count)
{
	assert_int_equal(world->summary.outliers, count);
	for (size_t i = 0; i < world->offsets.cores; i++)
		assert_int_equal(world->outlier[i], i >= first && i < first + count);
}

/* Asserts the number of contradictions, and which cores the worst contradiction names. */
static void
assert_contradictions(size_t count, size_t a, size_t b, size_t c)
{
	assert_int_equal(world->summary.contradictions, count);
	assert_int_equal(world->summary.contradiction_a, a);
	assert_int_equal(world->summary.contradiction_b, b);
	assert_int_equal(world->summary.contradiction_c, c);
}

static void
assert_worst(size_t a, size_t b, int64_t low, int64_t high)
{
	assert_int_equal(world->summary.worst_a, a);
	assert_int_equal(world->summary.worst_b, b);
	assert_offset(world->summary.worst, low, high);
}

/* ---- intervals ---- */

TEST(intervals_add_negate_and_intersect)
{
	struct offset a = { -10, 20 }, b = { 5, 7 };

	assert_offset(offset_negate(a), -20, 10);
	assert_offset(offset_add(a, b), -5, 27);
	assert_offset(offset_intersect(a, b), 5, 7);
	assert_offset(offset_intersect((struct offset){ 1, 2 }, (struct offset){ 4, 9 }), 4, 2);
	assert_true(offset_is_known(a));
	assert_int_equal(offset_width(a), 30);
	assert_true(offset_width((struct offset){ INT64_MIN + 1, INT64_MAX - 1 }) == UINT64_MAX - 2);
	assert_true(offset_width(OFFSET_UNKNOWN) == UINT64_MAX);
	assert_int_equal(offset_middle((struct offset){ -3, 0 }), -2);
	assert_int_equal(offset_middle(OFFSET_UNKNOWN), -1);
	assert_true(offset_width((struct offset){ 0, INT64_MAX }) == UINT64_MAX);
	assert_false(offset_excludes_zero(a));
	assert_true(offset_excludes_zero(b));
	assert_true(offset_excludes_zero(offset_negate(b)));
	assert_false(offset_excludes_zero((struct offset){ 0, 3 }));
	assert_false(offset_excludes_zero((struct offset){ -3, 0 }));
	assert_int_equal(offset_min_abs(b), 5);
	assert_int_equal(offset_min_abs(offset_negate(b)), 5);
	assert_int_equal(offset_min_abs(a), 0);
	assert_int_equal(offset_max_abs(a), 20);
	assert_int_equal(offset_max_abs((struct offset){ -30, 20 }), 30);
}

TEST(unknown_bounds_stay_unknown_and_sums_saturate)
{
	struct offset far = { INT64_MAX - 5, INT64_MAX - 1 }, below = { INT64_MIN, 3 };

	assert_offset(offset_negate(OFFSET_UNKNOWN), INT64_MIN, INT64_MAX);
	assert_offset(offset_add(OFFSET_UNKNOWN, (struct offset){ -7, 7 }), INT64_MIN, INT64_MAX);
	assert_offset(offset_add((struct offset){ 7, 7 }, OFFSET_UNKNOWN), INT64_MIN, INT64_MAX);
	assert_offset(offset_negate(below), -3, INT64_MAX);
	assert_offset(offset_add(below, (struct offset){ 1, 2 }), INT64_MIN, 5);
	assert_offset(offset_add(far, (struct offset){ 1, 1 }), INT64_MAX - 4, INT64_MAX);
	assert_offset(offset_add(far, far), INT64_MAX, INT64_MAX);
	assert_offset(offset_add(offset_negate(far), offset_negate(far)), INT64_MIN, INT64_MIN);
	assert_false(offset_is_known(OFFSET_UNKNOWN));
	assert_false(offset_is_known(below));
	assert_false(offset_is_known(offset_negate(below)));
	assert_int_equal(offset_max_abs((struct offset){ INT64_MIN, 0 }), UINT64_C(1) << 63);
}

TEST(a_pair_is_stored_once_and_can_be_read_in_both_directions)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	literal_set_offset(&world->offsets, 3, 1, (struct offset){ 10, 30 });
	assert_offset(offsets_get_offset(&world->offsets, 3, 1), 10, 30);
	assert_offset(offsets_get_offset(&world->offsets, 1, 3), -30, -10);
	assert_offset(offsets_get_offset(&world->offsets, 2, 2), 0, 0);
	assert_false(offset_is_known(offsets_get_offset(&world->offsets, 0, 1)));
	offsets_clear(&world->offsets);
	assert_false(offset_is_known(offsets_get_offset(&world->offsets, 1, 3)));

	world_new(PAIR_SCHEDULE_STAR, 4, 1);
	SET_PAIRS({ 2, 0, 1, 2 }, { 2, 3, 5, 6 });
	assert_offset(offsets_get_offset(&world->offsets, 0, 2), -2, -1);
	assert_false(offset_is_known(offsets_get_offset(&world->offsets, 2, 3)));
	assert_false(offset_is_known(offsets_get_offset(&world->offsets, 0, 3)));
}

/* The majority. */

static struct offset
vote_of_array(const void *context, size_t voter)
{
	return ((const struct offset *)context)[voter];
}

TEST(the_majority_is_the_range_in_which_most_intervals_overlap)
{
	/* The standard example of Marzullo's algorithm: 8..12, 11..13 and 14..15 give 11..12. */
	static const struct offset votes[] = { { 8, 12 }, { 11, 13 }, { 14, 15 }, { INT64_MIN, INT64_MAX } };
	struct marzullo majority = marzullo_find_majority(vote_of_array, votes, 4, 4);

	assert_int_equal(majority.voters, 3);
	assert_int_equal(majority.votes, 2);
	assert_offset(majority.shared, 11, 12);
	assert_false(majority.tied);
	assert_offset(majority.lowest, 11, 12);
	majority = marzullo_find_majority(vote_of_array, votes, 4, 1);
	assert_int_equal(majority.votes, 1);
	assert_offset(majority.shared, 14, 15);
}

TEST(groups_of_equal_size_are_tied_and_the_range_includes_both)
{
	static const struct offset votes[] = { { 50, 60 }, { 0, 5 }, { 20, 30 }, { 1, 6 }, { 52, 61 } };
	struct marzullo majority = marzullo_find_majority(vote_of_array, votes, 5, 5);

	assert_int_equal(majority.votes, 2);
	assert_true(majority.tied);
	assert_offset(majority.shared, 52, 60);
	assert_offset(majority.lowest, 1, 5);
	majority = marzullo_find_majority(vote_of_array, votes, 4, 4);
	assert_int_equal(majority.votes, 2);
	assert_false(majority.tied);
	assert_offset(majority.shared, 1, 5);
	assert_offset(majority.lowest, 1, 5);
}

TEST(majority_of_none_is_unknown)
{
	static const struct offset votes[] = { { INT64_MIN, INT64_MAX } };
	struct marzullo majority = marzullo_find_majority(vote_of_array, votes, 1, 1);

	assert_int_equal(majority.voters, 0);
	assert_int_equal(majority.votes, 0);
	assert_false(offset_is_known(majority.shared));
}

/*
 * 200 random sets of 1 to 12 intervals. The result is compared with a count of the intervals that contain each value.
 */
TEST(the_majority_of_random_intervals_agrees_with_a_count_at_every_value)
{
	world_new(PAIR_SCHEDULE_STAR, 1, 4711);
	for (unsigned run = 0; run < 200; run++) {
		size_t count = 1 + random_next(&world->seed) % 12, most = 0;
		struct marzullo majority;

		for (size_t i = 0; i < count; i++) {
			world->places[i].low = (int64_t)(random_next(&world->seed) % 40);
			world->places[i].high = world->places[i].low + (int64_t)(random_next(&world->seed) % 12);
		}
		majority = marzullo_find_majority(vote_of_array, world->places, count, count);
		for (int64_t value = 51; value >= 0; value--) {
			size_t votes = 0;

			for (size_t i = 0; i < count; i++)
				votes += contains(world->places[i], value);
			if (votes > most)
				most = votes;
			assert_true(votes <= majority.votes);
			if (contains(majority.shared, value) || contains(majority.lowest, value))
				assert_int_equal(votes, majority.votes);
			else if (!majority.tied)
				assert_true(votes < majority.votes);
			if (votes == majority.votes) {
				assert_true(value <= majority.shared.high);
				assert_true(value >= majority.lowest.low);
			}
		}
		assert_int_equal(most, majority.votes);
	}
}

/* ---- the solution ---- */

/*
 * The two ping-pongs of the indirect path were at different times. Therefore the path must not narrow the interval of
 * the pair itself.
 */
TEST(an_indirect_path_does_not_narrow_a_pair_that_was_measured)
{
	world_new(PAIR_SCHEDULE_ALL, 3, 1);
	SET_PAIRS({ 0, 1, -10, 40 }, { 0, 2, -2, 3 }, { 1, 2, -5, 4 });
	solve();
	assert_offset(world->places[0], 0, 0);
	assert_offset(world->places[1], -10, 40);
	assert_offset(world->places[2], -2, 3);
	assert_int_equal(world->summary.pairs, 3);
	assert_int_equal(world->summary.contradictions, 0);
	assert_int_equal(world->summary.bound_ticks, 40);
	assert_worst(0, 1, -10, 40);
	assert_outliers_are_just(0, 0);
	assert_false(world->summary.no_majority);
}

/* Core 2's place (its offset from the boot core) follows from core 3, and core 1's place then follows from core 2. */
TEST(a_core_without_a_pair_to_the_boot_core_is_placed_over_two_cores)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	SET_PAIRS({ 0, 3, -1, 2 }, { 1, 2, 0, 3 }, { 2, 3, -4, 0 });
	solve();
	assert_offset(world->places[2], -4, 9);
	assert_offset(world->places[1], -4, 6);
}

TEST(a_core_without_a_pair_to_the_boot_core_is_placed_over_another_core)
{
	world_new(PAIR_SCHEDULE_ALL, 3, 1);
	SET_PAIRS({ 0, 1, 90, 110 }, { 1, 2, -5, 5 });
	solve();
	assert_offset(world->places[2], 85, 115);
	assert_int_equal(world->summary.pairs, 2);
	assert_int_equal(world->summary.bound_ticks, 115);
	assert_int_equal(world->summary.worst_b, 1);
	assert_offset(world->summary.worst, 90, 110);
	/*
	 * Only core 1's pair proves a difference from the boot core. The indirect path from the boot core to core 2
	 * combines two different times, so it proves nothing.
	 */
	assert_outliers_are_just(0, 0);
}

TEST(core_without_a_pair_is_unknown_and_leaves_no_bound)
{
	world_new(PAIR_SCHEDULE_ALL, 3, 1);
	literal_set_offset(&world->offsets, 0, 1, (struct offset){ -4, 4 });
	solve();
	assert_offset(world->places[1], -4, 4);
	assert_false(offset_is_known(world->places[2]));
	assert_int_equal(world->summary.pairs, 1);
	assert_int_equal(world->summary.bound_ticks, UINT64_MAX);
	assert_offset(world->summary.worst, -4, 4);
	assert_outliers_are_just(0, 0);
}

TEST(no_pair_leaves_everything_unknown)
{
	world_new(PAIR_SCHEDULE_ALL, 5, 1);
	solve();
	assert_int_equal(world->summary.pairs, 0);
	assert_false(offset_is_known(world->summary.worst));
	assert_int_equal(world->summary.bound_ticks, UINT64_MAX);
	assert_outliers_are_just(0, 0);
	assert_false(world->summary.no_majority);
}

TEST(a_star_schedule_bounds_pairs_that_were_not_measured)
{
	world_new(PAIR_SCHEDULE_STAR, 3, 1);
	SET_PAIRS({ 0, 1, -4, 9 }, { 0, 2, -7, 5 });
	solve();
	assert_int_equal(world->summary.pairs, 2);
	assert_int_equal(world->summary.bound_ticks, 16);
	assert_worst(1, 2, -16, 9);
}

TEST(every_interval_of_1_to_1024_cores_contains_the_true_offset)
{
	for (unsigned star = 0; star < 2; star++)
		for (size_t s = 0; s < SIZES; s++) {
			enum pair_schedule kind = star ? PAIR_SCHEDULE_STAR : PAIR_SCHEDULE_ALL;

			world_new(kind, sizes[s], 42 + s);
			measure_all();
			solve();
			assert_truth_is_inside_and_no_interval_wider_than_its_pair();
			assert_int_equal(world->summary.pairs, pair_schedule_count_pairs(kind, sizes[s]));
			assert_int_equal(world->summary.contradictions, 0);
			assert_outliers_are_just(0, 0);
			assert_false(world->summary.no_majority);
			assert_true(world->summary.bound_ticks <= 520);
			assert_true(world->summary.bound_ticks >= 60 || sizes[s] == 1);
		}
}

/* Every core has a different offset, so there are no groups. Every interval must still contain the true offset. */
TEST(every_interval_of_cores_with_different_offsets_contains_the_true_one)
{
	for (size_t s = 0; s < SIZES; s++) {
		uint64_t worst = 0;

		world_new(PAIR_SCHEDULE_ALL, sizes[s], 99 + s);
		for (size_t i = 1; i < sizes[s]; i++)
			world->truth[i] = (int64_t)(random_next(&world->seed) % 2000001) - 1000000;
		measure_all();
		solve();
		assert_truth_is_inside_and_no_interval_wider_than_its_pair();
		assert_int_equal(world->summary.contradictions, 0);
		for (size_t a = 0; a < sizes[s]; a++)
			for (size_t b = 0; b < a; b++) {
				uint64_t distance = (uint64_t)llabs(world->truth[a] - world->truth[b]);

				worst = distance > worst ? distance : worst;
			}
		assert_true(worst <= world->summary.bound_ticks);
		assert_true(offset_min_abs(world->summary.worst) <= worst);
	}
}

/*
 * Two indirect paths give one value, and two give another. The fifth path includes both, or agrees with one of them. In
 * both cases more than one path is wrong, so the place (a core's offset from the boot core) is unknown.
 */
TEST(if_two_indirect_paths_contradict_the_others_a_place_is_unknown)
{
	world_new(PAIR_SCHEDULE_ALL, 7, 1);
	for (size_t i = 1; i < 6; i++) {
		literal_set_offset(&world->offsets, 0, i, (struct offset){ 0, 0 });
		literal_set_offset(&world->offsets, i, 6, i == 5 ? (struct offset){ -500, 500 } : i % 2 ?
					 (struct offset){ 90, 110 } : (struct offset){ -10, 10 });
	}
	solve();
	assert_false(offset_is_known(world->places[6]));
	literal_set_offset(&world->offsets, 5, 6, (struct offset){ 80, 100 });
	solve();
	assert_false(offset_is_known(world->places[6]));
}

/*
 * The cores form four groups whose rates differ by 70 ppm. No value lies in more than half of the nine intervals of
 * indirect paths, so the last core's place (its offset from the boot core) is unknown.
 */
TEST(if_wide_indirect_paths_share_no_value_a_place_is_unknown)
{
	static const struct offset ways[] = {
		{ -92839, 53618 }, { -85301, 14426 }, { -192113, -45361 }, { -38134, 25225 }, { -229775, -28171 },
		{ -375671, -88996 }, { -63093, 33732 }, { -110972, -73994 }, { -342039, -151405 },
	};
	const size_t last = sizeof(ways) / sizeof(ways[0]) + 1;

	world_new(PAIR_SCHEDULE_ALL, last + 1, 1);
	for (size_t i = 1; i < last; i++) {
		literal_set_offset(&world->offsets, 0, i, (struct offset){ 0, 0 });
		literal_set_offset(&world->offsets, i, last, ways[i - 1]);
	}
	solve();
	assert_false(offset_is_known(world->places[last]));
}

/*
 * There are 15 cores, and every second core is slow by 45,742 ppb. The last core had no ping-pong with the boot core.
 * Most indirect paths to the last core lead over slow cores. These paths give a wrong offset for it, because a slow
 * core moved between the two ping-pongs of its path.
 */
TEST(if_most_indirect_paths_lead_over_drifting_cores_a_place_is_right)
{
	static const int64_t moved[] = { -378000, -390000, -401000, -412000, -395000, -385000, -407000 };

	world_new(PAIR_SCHEDULE_ALL, 15, 1);
	for (size_t i = 1; i < 14; i++) {
		int64_t off = i % 2 ? -1000000 : 0, way = i % 2 ? moved[i / 2] : 0;

		literal_set_offset(&world->offsets, 0, i, (struct offset){ off - 400, off + 400 });
		literal_set_offset(&world->offsets, i, 14, (struct offset){ way - off - 400, way - off + 400 });
	}
	solve();
	assert_true(world->places[14].low <= 0 && world->places[14].high >= 0);
	for (size_t i = 3; i < 14; i += 2)
		literal_set_offset(&world->offsets, i, 14, (struct offset){ 1000000 - 400, 1000000 + 400 });
	solve();
	/* now only core 1's path is wrong, so the other indirect paths decide */
	assert_offset(world->places[14], -800, 800);
}

/* ---- outliers ---- */

TEST(one_core_of_3_to_1024_with_an_offset_is_the_only_outlier)
{
	static const int64_t skews[] = { 1000000, 20000, -2000, 300 };

	for (size_t s = 2; s < SIZES; s++)
		for (size_t i = 0; i < 4; i++) {
			world_new(PAIR_SCHEDULE_ALL, sizes[s], 1000 * s + i + 1);
			size_t sick = 1 + random_next(&world->seed) % (sizes[s] - 1);

			world->truth[sick] = skews[i];
			measure_all();
			solve();
			assert_truth_is_inside_and_no_interval_wider_than_its_pair();
			assert_outliers_are_just(sick, 1);
			assert_false(world->summary.no_majority);
			assert_true(world->summary.worst_a == sick || world->summary.worst_b == sick);
		}
}

TEST(a_boot_core_with_an_offset_is_the_outlier)
{
	for (unsigned star = 0; star < 2; star++)
		for (size_t s = 2; s < SIZES; s++) {
			world_new(star ? PAIR_SCHEDULE_STAR : PAIR_SCHEDULE_ALL, sizes[s], s + 1);
			world->truth[0] = -20000;
			measure_all();
			solve();
			assert_truth_is_inside_and_no_interval_wider_than_its_pair();
			assert_outliers_are_just(0, 1);
			assert_false(world->summary.no_majority);
		}
}

TEST(if_a_third_of_the_cores_has_an_offset_all_of_them_are_outliers)
{
	world_new(PAIR_SCHEDULE_ALL, 63, 5);
	for (size_t i = 21; i < 42; i++)
		world->truth[i] = 5000;
	measure_all();
	solve();
	assert_truth_is_inside_and_no_interval_wider_than_its_pair();
	assert_outliers_are_just(21, 21);
	assert_false(world->summary.no_majority);
}

TEST(two_cores_that_differ_have_no_majority_and_the_second_is_marked)
{
	world_new(PAIR_SCHEDULE_ALL, 2, 1);
	literal_set_offset(&world->offsets, 0, 1, (struct offset){ -2100, -1900 });
	solve();
	assert_true(world->summary.no_majority);
	assert_outliers_are_just(1, 1);
	assert_offset(world->summary.worst, -2100, -1900);
	assert_int_equal(world->summary.bound_ticks, 2100);
	literal_set_offset(&world->offsets, 0, 1, (struct offset){ -100, 100 });
	solve();
	assert_false(world->summary.no_majority);
	assert_outliers_are_just(0, 0);
}

TEST(if_two_halves_differ_the_half_without_the_boot_core_is_marked)
{
	static const int64_t skews[] = { 8000, -8000 };

	for (size_t s = 0; s < 2; s++) {
		world_new(PAIR_SCHEDULE_ALL, 64, 3);
		for (size_t i = 32; i < 64; i++)
			world->truth[i] = skews[s];
		measure_all();
		solve();
		assert_true(world->summary.no_majority);
		assert_outliers_are_just(32, 32);
	}
}

/*
 * Half of the cores differ from the boot core, but also from each other. Therefore no group of cores that agree is a
 * majority, and no core is an outlier.
 */
TEST(cores_that_also_differ_among_themselves_are_no_group)
{
	static const int64_t truths[][6] = {
		{ 0, 0, 2000, -20000 }, { 0, 0, 5000, 9000 }, { 0, 0, 0, 5000, -5000, 15000 },
	};

	for (size_t t = 0; t < 3; t++) {
		world_new(PAIR_SCHEDULE_ALL, t < 2 ? 4 : 6, 3);
		for (size_t i = 0; i < world->offsets.cores; i++)
			world->truth[i] = truths[t][i];
		measure_all();
		solve();
		assert_true(world->summary.no_majority);
		assert_outliers_are_just(0, 0);
	}
}

/* Core 2's offset from the boot core may be 0, but core 2's pairs with cores 1, 3 and 4 prove that it differs. */
TEST(a_core_is_an_outlier_if_only_its_pairs_prove_it)
{
	world_new(PAIR_SCHEDULE_ALL, 5, 1);
	set_all_pairs(30);
	SET_PAIRS({ 0, 2, -10, 60 }, { 1, 2, 10, 60 }, { 3, 2, 10, 60 }, { 4, 2, 10, 60 });
	solve();
	assert_offset(world->places[2], -10, 60);
	assert_outliers_are_just(2, 1);
	assert_false(world->summary.no_majority);
	assert_int_equal(offset_min_abs(world->summary.worst), 10);
}

/*
 * Core 2 has an offset. On a busy host, only one of its pairs may have short round trips. Then either core of this pair
 * may have the offset, so no core is marked.
 */
TEST(the_only_pair_that_is_proven_to_differ_marks_neither_core)
{
	static const size_t pairs[][2] = { { 0, 2 }, { 1, 2 }, { 2, 3 } };

	for (size_t p = 0; p < 3; p++) {
		size_t first = pairs[p][0], second = pairs[p][1];

		world_new(PAIR_SCHEDULE_ALL, 4, 1);
		world->truth[2] = 1000000;
		set_all_pairs(9000000);
		literal_set_offset(&world->offsets, first, second, second == 2 ? (struct offset){ 999000, 1001000 } :
									  (struct offset){ -1001000, -999000 });
		solve();
		assert_truth_is_inside_and_no_interval_wider_than_its_pair();
		assert_true(world->summary.no_majority);
		assert_int_equal(world->summary.worst_a, first);
		assert_int_equal(world->summary.worst_b, second);
		assert_int_equal(offset_min_abs(world->summary.worst), 999000);
		assert_outliers_are_just(0, 0);
	}
}

/*
 * With two proven pairs, it is still possible that core 2 and another core differ from the other two. With a third
 * pair, only core 2 can differ.
 */
TEST(one_of_four_cores_is_marked_if_three_pairs_prove_that_it_differs)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	set_all_pairs(9000000);
	SET_PAIRS({ 1, 2, 999000, 1001000 }, { 3, 2, 999000, 1001000 });
	solve();
	assert_true(world->summary.no_majority);
	assert_outliers_are_just(0, 0);
	literal_set_offset(&world->offsets, 0, 2, (struct offset){ 999000, 1001000 });
	solve();
	assert_false(world->summary.no_majority);
	assert_outliers_are_just(2, 1);
}

/* There are two halves only if each pair of cores from different halves is proven to differ. */
TEST(halves_that_are_not_proven_by_every_pair_mark_no_core)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	for (size_t open = 0; open < 2; open++) {
		world->truth[2] = world->truth[3] = 1000;
		set_all_pairs(9000);
		for (size_t a = 0; a < 2; a++)
			for (size_t b = 2; b < 4; b++)
				literal_set_offset(&world->offsets, a, b,
					    (struct offset){ a && b == 3 && open ? -1 : 10, 2000 });
		solve();
		assert_true(world->summary.no_majority);
		assert_outliers_are_just(2, open ? 0 : 2);
	}
}

TEST(three_cores_that_all_differ_mark_no_core)
{
	world_new(PAIR_SCHEDULE_ALL, 3, 1);
	world->truth[1] = 7000;
	world->truth[2] = -9000;
	measure_all();
	solve();
	assert_true(world->summary.no_majority);
	assert_outliers_are_just(0, 0);
	assert_int_equal(world->summary.worst_a, 1);
	assert_int_equal(world->summary.worst_b, 2);
}

TEST(a_core_with_wide_intervals_does_not_hide_a_core_with_an_offset)
{
	world_new(PAIR_SCHEDULE_ALL, 5, 1);
	world->truth[3] = 700;
	measure_all();
	for (size_t i = 0; i < 4; i++)
		literal_set_offset(&world->offsets, i, 4, (struct offset){ -90000, 90000 });
	solve();
	assert_outliers_are_just(3, 1);
	assert_false(world->summary.no_majority);
}

/* ---- contradictions ---- */

TEST(a_contradictory_pair_is_named_and_changes_no_other_result)
{
	for (size_t s = 3; s < SIZES; s++)
		for (unsigned with_boot = 0; with_boot < 2; with_boot++) {
			world_new(PAIR_SCHEDULE_ALL, sizes[s], 77 + s);
			size_t a = with_boot ? 0 : 1 + random_next(&world->seed) % (sizes[s] - 2);
			size_t b = sizes[s] - 1;

			measure_all();
			measure_pair(a, b, with_boot ? 5000 : -5000);
			solve();
			assert_int_equal(world->summary.contradictions, 1);
			assert_int_equal(world->summary.contradiction_a, a);
			assert_int_equal(world->summary.contradiction_b, b);
			assert_true(world->summary.contradiction_ticks >= 5000 - 520);
			assert_true(world->summary.contradiction_ticks < 5000);
			assert_true(world->summary.bound_ticks >= 5000 - 260);
			assert_true(offset_max_abs(world->summary.worst) <= 520);
			assert_outliers_are_just(0, 0);
			for (size_t i = 0; i < sizes[s]; i++) {
				int64_t own = with_boot && i == b ? 5000 : 0;

				assert_true(contains(world->places[i], own));
				assert_true(world->places[i].high - world->places[i].low <= 520);
			}
		}
}

/*
 * A pair whose offset moved counts as a contradiction even if its interval is unknown. If its interval also contradicts
 * other pairs, the pair still counts once.
 */
TEST(a_pair_that_moved_counts_as_one_contradiction)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	measure_all();
	literal_set_offset(&world->offsets, 1, 2, OFFSET_UNKNOWN);
	offsets_record_movement(&world->offsets, 2, 1, 700);
	offsets_record_movement(&world->offsets, 1, 2, 500);
	solve();
	assert_int_equal(offsets_get_movement_ticks(&world->offsets, 1, 2), 700);
	assert_int_equal(world->summary.contradictions, 1);
	assert_int_equal(world->summary.contradiction_ticks, 700);
	assert_int_equal(world->summary.contradiction_a, 1);
	assert_int_equal(world->summary.contradiction_b, 2);
	assert_int_equal(world->summary.pairs, 5);
	literal_set_offset(&world->offsets, 1, 2, (struct offset){ 5000, 5100 });
	solve();
	assert_int_equal(world->summary.contradictions, 1);
	assert_in_range(world->summary.contradiction_ticks, 4000, 5000);
}

TEST(two_indirect_paths_outvote_a_wrong_pair_with_the_boot_core)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	set_all_pairs(10);
	literal_set_offset(&world->offsets, 0, 3, (struct offset){ 990, 1010 });
	solve();
	assert_offset(world->places[1], -10, 10);
	assert_offset(world->places[3], 990, 1010);
	assert_contradictions(1, 0, 3, 3);
	assert_int_equal(world->summary.contradiction_ticks, 970);
	assert_int_equal(world->summary.bound_ticks, 1010);
	assert_offset(world->summary.worst, -20, 20);
}

TEST(if_three_pairs_contradict_it_is_unknown_which_is_wrong)
{
	world_new(PAIR_SCHEDULE_ALL, 3, 1);
	SET_PAIRS({ 0, 1, -10, 10 }, { 0, 2, -10, 10 }, { 1, 2, 90, 110 });
	solve();
	assert_offset(world->places[1], -10, 10);
	assert_offset(world->places[2], -10, 10);
	assert_contradictions(1, 1, 2, 0);
	assert_int_equal(world->summary.contradiction_ticks, 70);
}

/*
 * The boot core had ping-pongs with two cores before its TSC stepped, and with two other cores after the step. Two
 * pairs give the old offset, and two pairs give the new one. The TSCs of the other four cores never stepped.
 */
TEST(a_boot_core_that_stepped_half_way_is_in_the_named_contradiction)
{
	world_new(PAIR_SCHEDULE_ALL, 5, 1);
	for (size_t a = 0; a < 5; a++)
		for (size_t b = a + 1; b < 5; b++)
			literal_set_offset(&world->offsets, a, b, !a && b > 2 ? (struct offset){ -1010, -990 } : (struct offset){ -10, 10 });
	solve();
	assert_contradictions(4, 1, 3, 0);
}

/*
 * Core 1 stepped between its ping-pongs with core 0 and core 2. Therefore the path over core 1 gives a wrong offset for
 * core 2. The wide interval of the pair of cores 2 and 3 also includes this wrong offset.
 */
TEST(a_core_that_moved_does_not_give_another_core_its_place)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	set_all_pairs(10);
	literal_set_offset(&world->offsets, 0, 2, OFFSET_UNKNOWN);
	SET_PAIRS({ 1, 2, 2390, 2410 }, { 2, 3, -5000, 5000 });
	solve();
	assert_offset(world->places[2], -5010, 5010);
}

/*
 * The boot core had its ping-pong with core 1 before its TSC stepped, and with four other cores after the step. The
 * boot core's interval with core 4 is wide. Cores 1 and 4 contradict each other, but no indirect path over a single
 * core shows this.
 */
TEST(a_boot_core_that_stepped_is_named_if_only_paths_over_two_cores_show_it)
{
	static const bool wide[8][8] = {
		{ [4] = true, [7] = true }, { [2] = true, [3] = true, [5] = true, [6] = true },
		[4] = { [7] = true }, [5] = { [6] = true, [7] = true },
	};

	world_new(PAIR_SCHEDULE_ALL, 8, 1);
	for (size_t a = 0; a < 8; a++)
		for (size_t b = a + 1; b < 8; b++)
			literal_set_offset(&world->offsets, a, b, wide[a][b] ? (struct offset){ -20000, 20000 } :
				    !a && b > 1 ? (struct offset){ -4930, -4270 } : (struct offset){ -330, 330 });
	solve();
	assert_int_not_equal(world->summary.contradictions, 0);
	assert_int_equal(world->summary.contradiction_a, 1);
	assert_int_equal(world->summary.contradiction_b, 4);
	assert_int_equal(world->summary.contradiction_c, 0);
}

/*
 * Three cores are at 630 ticks, six at 0, and three at -770. The first three provably differ from the other nine cores.
 * But the last three may be farther from the six than the first three are. Therefore the nine are no group that proves
 * the first three wrong.
 */
TEST(a_group_at_one_end_is_no_outlier_if_the_others_are_farther_apart)
{
	static const int64_t truth[4] = { 0, 0, 630, -770 };

	world_new(PAIR_SCHEDULE_ALL, 12, 1);
	for (size_t a = 0; a < 12; a++)
		for (size_t b = 0; b < 12; b++) {
			int64_t there = truth[b % 4] - truth[a % 4];

			if (there == 0 && a != b)
				literal_set_offset(&world->offsets, a, b, (struct offset){ -90, 90 });
			else if (there == 630)
				literal_set_offset(&world->offsets, a, b, (struct offset){ 100, 1200 });
			else if (there == 770)
				literal_set_offset(&world->offsets, a, b, (struct offset){ -60, 1330 });
			else if (there == 1400)
				literal_set_offset(&world->offsets, a, b, (struct offset){ 1000, 2000 });
		}
	solve();
	assert_outliers_are_just(0, 0);
}

/*
 * Three cores are at 0 ticks, two at 270 and 350, and two at 8,000 and 14,000. Only one of the first three has pairs
 * with narrow intervals. The distance of this core from each other core is smaller than the largest distance between
 * the other cores. Therefore this core does not differ from the majority.
 */
TEST(a_core_is_no_outlier_if_the_others_are_farther_from_each_other)
{
	static const int64_t truth[7] = { 0, 13794, 355, 0, 7995, 270, 0 };

	world_new(PAIR_SCHEDULE_ALL, 7, 1);
	for (size_t a = 0; a < 7; a++)
		for (size_t b = a + 1; b < 7; b++) {
			int64_t wide = a == 3 || b == 3 ? 91 : 20000;

			literal_set_offset(&world->offsets, a, b, (struct offset){ truth[b] - truth[a] - wide, truth[b] - truth[a] + wide });
		}
	solve();
	assert_outliers_are_just(0, 0);
	assert_int_equal(world->summary.contradictions, 0);
}

/*
 * One of the two indirect paths is wrong, but it is unknown which one. Therefore neither path is used, and the pair's
 * own interval is kept.
 */
TEST(two_indirect_paths_that_contradict_each_other_are_not_used)
{
	world_new(PAIR_SCHEDULE_ALL, 4, 1);
	SET_PAIRS({ 0, 1, -100, 100 }, { 0, 2, 0, 0 }, { 0, 3, 0, 0 }, { 2, 1, -5, 5 }, { 3, 1, 50, 60 });
	solve();
	assert_offset(world->places[1], -100, 100);
	assert_true(world->summary.no_majority);
	assert_worst(1, 3, -60, -50);
}

/*
 * Core 2 stepped by 536 ticks in the middle of the pass. The indirect paths to core 2 have intervals that are twice as
 * wide as those of its pairs, so the intervals before and after the step just overlap. Therefore the vote on its offset
 * is undecided, but ten pairs prove the step.
 */
TEST(a_core_is_marked_by_ten_pairs_although_the_vote_on_its_place_is_undecided)
{
	static const struct offset to_2[] = { { -136, 121 }, { -151, 141 }, { 0, 0 }, { -659, -412 }, { -659, -400 },
					      { -685, -393 }, { -663, -385 }, { -658, -386 }, { -676, -383 },
					      { -670, -407 }, { -679, -403 }, { -681, -392 }, { -677, -393 },
					      { -136, 114 }, { -135, 140 } };
	enum { CORES = sizeof(to_2) / sizeof(to_2[0]) };
	static const struct offset to_boot[CORES] = { { 0, 0 }, { -131, 132 }, { 0, 0 }, { -127, 142 }, { -144, 139 },
						      { -135, 128 }, { -151, 129 }, { -135, 126 }, { -143, 128 },
						      { -133, 128 }, { -125, 148 }, { -136, 134 }, { -170, 146 },
						      { -123, 166 }, { -149, 149 } };

	world_new(PAIR_SCHEDULE_ALL, CORES, 1);
	set_all_pairs(140);
	for (size_t i = 1; i < CORES; i++)
		literal_set_offset(&world->offsets, 0, i, to_boot[i]);
	for (size_t i = 0; i < CORES; i++)
		if (i != 2)
			literal_set_offset(&world->offsets, i, 2, to_2[i]);
	solve();
	assert_outliers_are_just(2, 1);
	assert_false(world->summary.no_majority);
}

/* Core 63 drifts by 1000 ticks from each ping-pong to the next, so no two of its pairs give the same offset. */
TEST(a_core_that_drifts_keeps_its_own_pairs_and_changes_no_other_core)
{
	world_new(PAIR_SCHEDULE_ALL, 64, 12);
	measure_all();
	for (size_t i = 0; i < 63; i++)
		measure_pair(i, 63, 1000 * (int64_t)(i + 1));
	solve();
	assert_true(contains(world->places[63], 1000));
	assert_outliers_are_just(63, 1);
	assert_true(world->summary.contradictions >= 60);
	assert_int_equal(world->summary.contradiction_a, 62);
	assert_int_equal(world->summary.contradiction_b, 63);
	assert_int_equal(world->summary.contradiction_c, 0);
	for (size_t i = 1; i < 63; i++) {
		assert_true(contains(world->places[i], 0));
		assert_true(offset_max_abs(world->places[i]) <= 260);
	}
}

TEST(if_the_boot_core_drifts_each_core_keeps_its_own_pair)
{
	world_new(PAIR_SCHEDULE_ALL, 1024, 13);
	measure_all();
	for (size_t i = 1; i < 1024; i++)
		measure_pair(0, i, -1000 * (int64_t)i);
	solve();
	for (size_t i = 1; i < 1024; i++)
		assert_true(contains(world->places[i], -1000 * (int64_t)i));
	assert_true(world->summary.contradictions > 1023);
}

/* ---- drift ---- */

#define SECOND INT64_C(2000000000) /* ticks of a TSC of 2 GHz in a second */

static struct offset
drift_of(struct offset earlier, struct offset later, uint64_t first_end, uint64_t second_begin, uint64_t second_end)
{
	struct offsets first = { .cores = 2, .kind = PAIR_SCHEDULE_ALL, .pairs = &earlier, .begin_tsc = 1000,
				 .end_tsc = 1000 + first_end };
	struct offsets second = { .cores = 2, .kind = PAIR_SCHEDULE_ALL, .pairs = &later, .begin_tsc = 1000 + second_begin,
				  .end_tsc = 1000 + second_end };

	return offsets_drift_ppb(&first, &second, 0, 1);
}

TEST(drift_is_rounded_outwards)
{
	/*
	 * The offset grows by 100 to 120 ticks in 8 to 10 seconds of 2 * 10^9 ticks each. The drift is at least 5 ppb
	 * and at most 7.5 ppb.
	 */
	struct offset fast = drift_of((struct offset){ -10, 0 }, (struct offset){ 100, 110 }, SECOND, 9 * SECOND,
				     10 * SECOND);
	struct offset slow = drift_of((struct offset){ 0, 10 }, (struct offset){ -110, -100 }, SECOND, 9 * SECOND,
				     10 * SECOND);
	struct offset still = drift_of((struct offset){ -10, 10 }, (struct offset){ -11, 10 }, SECOND, 9 * SECOND,
				      10 * SECOND);

	assert_int_equal(fast.low, 5);
	assert_int_equal(fast.high, 8);
	assert_int_equal(slow.low, -8);
	assert_int_equal(slow.high, -5);
	assert_int_equal(still.low, -2);
	assert_int_equal(still.high, 2);
}

/*
 * Returns the kind of motion in three passes of a pair with TSCs of 2 GHz. Each pass takes 0.1 s. The passes start at 0
 * s, at SECONDS and at 10 s.
 */
static enum motion
motion_of(struct offset first, struct offset middle, int64_t seconds, struct offset last)
{
	uint64_t at_tsc = 1000 + (uint64_t)(seconds * SECOND);
	struct offsets one = {
		.cores = 2, .kind = PAIR_SCHEDULE_ALL, .pairs = &first, .begin_tsc = 1000, .end_tsc = 1000 + SECOND / 10
	};
	struct offsets two = { .cores = 2, .kind = PAIR_SCHEDULE_ALL, .pairs = &middle, .begin_tsc = at_tsc,
			       .end_tsc = at_tsc + SECOND / 10 };
	struct offsets three = { .cores = 2, .kind = PAIR_SCHEDULE_ALL, .pairs = &last, .begin_tsc = 1000 + 10 * SECOND,
				 .end_tsc = 1000 + 10 * SECOND + SECOND / 10 };
	enum motion motion = offsets_classify_motion(&one, &two, &three, 0, 1);

	/* the result must be the same if the two cores of the pair are exchanged */
	assert_int_equal(offsets_classify_motion(&one, &two, &three, 1, 0), motion);
	return motion;
}

TEST(a_steady_drift_is_a_straight_line_through_three_passes)
{
	struct offset none = { -10, 10 }, far = { 990, 1010 };

	assert_int_equal(motion_of(none, (struct offset){ 490, 510 }, 5, far), MOTION_STEADY);
	assert_int_equal(motion_of(none, (struct offset){ 190, 210 }, 2, far), MOTION_STEADY);
	assert_int_equal(motion_of(far, (struct offset){ 790, 810 }, 2, none), MOTION_STEADY);
	assert_int_equal(motion_of(none, (struct offset){ 100, 900 }, 5, far), MOTION_STEADY);
}

TEST(a_step_is_off_that_line_and_before_or_after_the_middle_pass)
{
	struct offset none = { -10, 10 }, far = { 990, 1010 };

	assert_int_equal(motion_of(none, far, 5, far), MOTION_STEP_EARLY);
	assert_int_equal(motion_of(far, none, 5, none), MOTION_STEP_EARLY);
	assert_int_equal(motion_of(none, none, 5, far), MOTION_STEP_LATE);
	assert_int_equal(motion_of(none, (struct offset){ 780, 800 }, 5, far), MOTION_UNEVEN);
	assert_int_equal(motion_of(none, (struct offset){ -800, -780 }, 5, far), MOTION_UNEVEN);
	assert_int_equal(motion_of(none, far, 5, none), MOTION_UNEVEN); /* the offset changed and then changed back */
}

/*
 * offsets_add_pingpong() returns true for a pair's first result. Once the pair has an offset or is known to have
 * moved, further results are not first results.
 */
TEST(the_narrowest_result_of_a_pair_stays_and_contradictions_are_kept)
{
	struct offset pair;
	uint64_t moved_ticks;
	struct moment moment, times[] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } };
	struct offsets offsets = { .cores = 2, .pairs = &pair, .moved_ticks = &moved_ticks, .moments = &moment };

	offsets_clear(&offsets);
	assert_true(offsets_add_pingpong(&offsets, 0, 1, OFFSET_UNKNOWN, 50, times[0]));
	assert_false(offset_is_known(pair));
	assert_false(offsets_add_pingpong(&offsets, 0, 1, (struct offset){ -100, 100 }, 0, times[1]));
	assert_false(offsets_add_pingpong(&offsets, 0, 1, (struct offset){ -150, 150 }, 0, times[2]));
	assert_offset(pair, -100, 100);
	assert_int_equal(moment.begin_tsc, 3);
	assert_false(offsets_add_pingpong(&offsets, 0, 1, (struct offset){ 50, 70 }, 0, times[2]));
	assert_offset(pair, 50, 70);
	assert_int_equal(moment.end_tsc, 6);
	assert_int_equal(moved_ticks, 50);
	assert_false(offsets_add_pingpong(&offsets, 0, 1, (struct offset){ 200, 201 }, 0, times[3]));
	assert_offset(pair, 50, 70);
	assert_int_equal(moment.end_tsc, 6);
	assert_int_equal(moved_ticks, 130);
}

/*
 * With a steady drift from [-10, 10] to [990, 1010], the offset half way, at 5.05 s, is in [480, 520]. Each pass takes
 * 0.1 s of the 10 s, which adds 10 ticks to each side.
 */
TEST(a_motion_within_the_width_of_the_line_has_an_unknown_kind)
{
	struct offset none = { -10, 10 }, far = { 990, 1010 };

	assert_int_equal(motion_of(none, (struct offset){ 523, 700 }, 5, far), MOTION_UNEVEN);
	assert_int_equal(motion_of(none, (struct offset){ 518, 700 }, 5, far), MOTION_STEADY);
	assert_int_equal(motion_of(none, (struct offset){ 400, 1000 }, 5, far),
			 MOTION_UNKNOWN); /* the motion may also be a step */
	assert_int_equal(motion_of(none, (struct offset){ -10, 600 }, 5, far), MOTION_UNKNOWN);
	assert_int_equal(motion_of(none, (struct offset){ -10, 5000 }, 5, far), MOTION_UNKNOWN);
	assert_int_equal(motion_of(none, none, 5, none), MOTION_UNKNOWN);
	assert_int_equal(motion_of(none, OFFSET_UNKNOWN, 5, far), MOTION_UNKNOWN);
	assert_int_equal(motion_of(none, far, 0, far), MOTION_UNKNOWN);  /* the middle pass is not after the first */
	assert_int_equal(motion_of(none, far, 10, far), MOTION_UNKNOWN); /* the middle pass is not before the last */
	assert_int_equal(motion_of((struct offset){ INT64_MIN + 2, INT64_MIN + 4 }, (struct offset){ 0, 0 }, 5,
				   (struct offset){ INT64_MAX - 4, INT64_MAX - 2 }), MOTION_STEADY);
}

TEST(a_drift_is_unknown_without_two_offsets_and_time_between_them)
{
	struct offset known = { -1, 1 };
	struct offset drifts[] = {
		drift_of(OFFSET_UNKNOWN, known, 10, 20, 30), drift_of(known, OFFSET_UNKNOWN, 10, 20, 30),
		drift_of((struct offset){ 0, 0 }, (struct offset){ 3, 4 }, 10, 10, 30),
		drift_of(known, known, 10, 5, 30),
	};

	for (size_t i = 0; i < 4; i++) {
		assert_true(drifts[i].low == INT64_MIN);
		assert_true(drifts[i].high == INT64_MAX);
	}
}

TEST(largest_drifts_saturate)
{
	struct offset far = { INT64_MAX - 2, INT64_MAX - 1 };
	struct offset fast = drift_of((struct offset){ 0, 0 }, far, 1, 2, 3);
	struct offset slow = drift_of((struct offset){ 0, 0 }, offset_negate(far), 1, 2, 3);

	assert_true(fast.low == INT64_MAX && fast.high == INT64_MAX);
	assert_true(slow.low == INT64_MIN && slow.high == INT64_MIN);
}

/*
 * The passes are 10 s apart and take 50 ms each. A ping-pong may be at any time in its pass. The interval must contain
 * the true drift, and is 50 ppb or 2 % wide.
 */
TEST(random_drifts_are_in_their_narrow_intervals)
{
	static const int64_t drifts_ppb[] = { 0, 1, -1, 100, -100, 50000, -50000, 2000000 };

	world_new(PAIR_SCHEDULE_ALL, 2, 31);
	for (unsigned run = 0; run < 1000; run++) {
		int64_t ppb = drifts_ppb[run % 8], length = SECOND / 20, span = 10 * SECOND;
		int64_t offset = (int64_t)(random_next(&world->seed) % 2000001) - 1000000;
		int64_t then = (int64_t)(random_next(&world->seed) % (uint64_t)length);
		int64_t now = span + (int64_t)(random_next(&world->seed) % (uint64_t)length);
		struct offset earlier, later;
		struct offset drift;

		measure_pair(0, 1, offset + then / 1000 * ppb / 1000000);
		earlier = offsets_get_offset(&world->offsets, 0, 1);
		measure_pair(0, 1, offset + now / 1000 * ppb / 1000000);
		later = offsets_get_offset(&world->offsets, 0, 1);
		drift = drift_of(earlier, later, (uint64_t)length, (uint64_t)span, (uint64_t)(span + length));
		assert_true(drift.low <= ppb && ppb <= drift.high);
		assert_true(drift.high - drift.low <= 60 + llabs(ppb) / 50);
	}
}
