/*
 * Offsets and drifts of cores, calculated from records that the tests write entry by entry. A tick is half a
 * nanosecond, and the TSC advances by single ticks. A ping-pong gives two bounds of an offset. Their distance is the
 * round trip, plus one tick on each side.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "record/record.h"
#include "report/report_memory.h"

#define CORES 5
#define START UINT64_C(1000000)
#define ID_OF(core) (10 * (uint32_t)(core) + 7)
#define ALL  1
#define STAR 0

static uint8_t bytes[65536];
static struct record record;
static struct report report;
static const struct report_skew *const skew = &report.figures.skew;
static void *memory;

static void
lay_out(size_t cores, size_t pairs)
{
	free(memory);
	memset(&report, 0, sizeof(report));
	memory = calloc(1, report_memory_bytes(cores, pairs));
	assert_non_null(memory);
	report_divide_memory(&report, memory, cores, pairs);
	report.facts.core_count = cores;
	for (size_t i = 0; i < cores; i++)
		report.facts.cores[i].apic_id = ID_OF(i);
}

/* Writes that the TSC advances by TICKS at once. */
static void
put_resolution(uint64_t ticks)
{
	const struct record_scale scale = { .hz_num = 2000000000, .hz_den = 1, .step_ticks = ticks };

	record_put(&record, RECORD_SCALE, &scale, NULL, 0);
}

static void
begin(void)
{
	lay_out(CORES, CORES * (CORES - 1) / 2);
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_RUN, &(struct record_run){ .start_tsc = START }, NULL, 0);
	put_resolution(1);
}

static void
end(void)
{
	free(memory);
	memory = NULL;
}

TEST_FIXTURE(begin, end);

/*
 * Returns a ping-pong with round trips of TRIP ticks, in which the TSC of SECOND is AHEAD ticks ahead of FIRST's TSC.
 */
static struct record_pingpong
pingpong(size_t first, size_t second, int64_t ahead, uint32_t trip)
{
	int64_t to_second = ahead + (int64_t)trip / 2, to_first = (int64_t)trip - (int64_t)trip / 2 - ahead;

	return (struct record_pingpong){
		.first = (uint16_t)first, .second = (uint16_t)second, .trips = 200, .warps = to_second < 0 || to_first < 0,
		.best_trip_ticks = trip, .median_trip_ticks = trip, .least_to_second = to_second, .least_to_first = to_first,
	};
}

/* Writes a ping-pong of pass number PASS that starts at TSC AT and takes 1,000 ticks. */
static void
put(uint16_t pass, uint64_t at, struct record_pingpong one)
{
	record_put(&record, RECORD_EXCHANGE, &(struct record_exchange){ pass, 1, at, at + 1000 }, &one, 1);
}

static void
put_pass(uint16_t number, enum record_pass_stage stage, uint16_t schedule, uint64_t begin_tsc, uint64_t end_tsc,
	 uint64_t cores)
{
	const struct record_pass pass = { .pass = number, .stage = (uint16_t)stage, .schedule = schedule, .concurrency = 2,
					  .rounds = 5, .begin_tsc = begin_tsc, .end_tsc = end_tsc };

	record_put(&record, RECORD_PASS, &pass, &(struct record_members){ cores }, 1);
}

/*
 * Writes a pass over all pairs of the first CORES cores that starts at BEGIN_TSC. Core I is AHEAD[I] ticks ahead of
 * core 0. Round trips take 100 ticks, and a new ping-pong starts every 10,000 ticks.
 */
static void
put_all_pairs(uint16_t number, enum record_pass_stage stage, uint64_t begin_tsc, const int64_t *ahead, size_t cores)
{
	uint64_t at = begin_tsc;

	for (size_t b = 1; b < cores; b++)
		for (size_t a = 0; a < b; a++, at += 10000)
			put(number, at, pingpong(a, b, ahead[b] - ahead[a], 100));
	put_pass(number, stage, ALL, begin_tsc, at, (UINT64_C(1) << cores) - 1);
}

static const struct report_skew *
analyse(void)
{
	analysis_calculate_offsets(bytes, record.length, &report, &report.figures);
	return skew;
}

/* These three functions return the offset or the drift of CORE against the boot core. */
static struct offset
first_offset(size_t core)
{
	return report_get_core_offset(&report, &report.figures.skew.passes[0], &report.facts.cores[core]);
}

static struct offset
last_offset(size_t core)
{
	return report.figures.skew.pass_count > 1 ? report_get_core_offset(&report, report_get_last_pass(&report),
									   &report.facts.cores[core]) :
					    OFFSET_UNKNOWN;
}

static struct offset
drift(size_t core)
{
	return report_get_core_drift(&report, &report.facts.cores[core]);
}

/* Returns how the pair's offset changed in the three passes. */
static enum motion
motion_of_pair(size_t a, size_t b)
{
	const struct report_pass *passes = report.figures.skew.passes;

	return offsets_classify_motion(&passes[0].offsets, &passes[1].offsets, &passes[2].offsets, a, b);
}

static void
assert_offset(struct offset offset, int64_t low, int64_t high)
{
	assert_int_equal(offset.low, low);
	assert_int_equal(offset.high, high);
}

static const int64_t in_step[CORES];

TEST(the_largest_warps_in_ns_are_calculated_with_the_rate_of_the_tsc)
{
	report.figures.tsc = (struct rate){ 2000000000, 1 };
	report.facts.warp_checks.locked.worst_ticks = 3564;
	report.facts.warp_checks.lock_free.worst_ticks = 7;
	assert_int_equal(report_get_worst_warp_ns(&report, &report.facts.warp_checks.locked), 1782);
	assert_int_equal(report_get_worst_warp_ns(&report, &report.facts.warp_checks.lock_free), 4);
}

TEST(a_record_without_a_pass_has_no_offsets)
{
	analyse();
	assert_int_equal(skew->pass_count, 0);
	assert_int_equal(skew->passes[0].offsets.cores, 0);
	assert_string_equal(skew->kind_reason, "");
	assert_false(offset_is_known(first_offset(1)) || offset_is_known(drift(1)));
}

TEST(offsets_are_between_the_smallest_differences_of_both_directions)
{
	put(1, START, pingpong(0, 1, 300, 100));
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 2000000, 0x3);
	analyse();
	assert_true(skew->pass_count > 0);
	assert_int_equal(skew->passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
	assert_string_equal(skew->kind_reason, "");
	assert_offset(first_offset(1), 300 - 50 - 1, 300 + 50 + 1);
	assert_offset(first_offset(0), 0, 0);
	assert_int_equal(skew->passes[0].offsets.cores, 2);
	assert_int_equal(skew->passes[0].concurrency, 2);
	assert_int_equal(skew->passes[0].rounds, 5);
	assert_int_equal(skew->passes[0].elapsed_ns, 1000000);
	assert_int_equal(skew->passes[0].pingpongs, 1);
	assert_int_equal(skew->passes[0].again, 0);
	assert_int_equal(report.figures.cores[0].pingpongs, 1);
	assert_int_equal(report.figures.cores[1].pingpongs, 1);
	assert_int_equal(report.figures.cores[2].pingpongs, 0);
	assert_int_equal(skew->best_trip_ns, 50);
	assert_int_equal(skew->median_trip_ns, 50);
	assert_int_equal(skew->passes[0].offsets.begin_tsc, START);
	assert_int_equal(skew->passes[0].offsets.end_tsc, START + 2000000);
	assert_int_equal(offsets_get_time_of_pair(&skew->passes[0].offsets, 0, 1).begin_tsc, START);
	assert_int_equal(offsets_get_time_of_pair(&skew->passes[0].offsets, 0, 1).end_tsc, START + 1000);
	assert_false(skew->pass_count > 1 || offset_is_known(last_offset(1)));
}

/* According to the latest entry `scale` before the ping-pong, the TSC advances by 40 ticks at once. */
TEST(the_resolution_of_the_tsc_widens_an_offset)
{
	put_resolution(40);
	put(1, START, pingpong(0, 1, 0, 100));
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 2000, 0x3);
	put_resolution(90);
	analyse();
	assert_offset(first_offset(1), -90, 90);
}

TEST(the_first_pass_gives_the_median_and_the_shortest_round_trip)
{
	put(1, START, pingpong(0, 1, 0, 80));
	put(1, START + 10000, pingpong(0, 2, 0, 100));
	put(1, START + 20000, pingpong(1, 2, 0, 120));
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 30000, 0x7);
	put(2, START + 40000, pingpong(0, 1, 0, 20));
	put_pass(2, RECORD_PASS_LAST, ALL, START + 40000, START + 50000, 0x7);
	assert_int_equal(analyse()->best_trip_ns, 40);
	assert_int_equal(skew->median_trip_ns, 50);
}

TEST(a_core_that_is_far_ahead_is_the_outlier_of_both_passes)
{
	static const int64_t ahead[CORES] = { 0, 0, 0, 1000000, 0 };

	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, CORES);
	put_all_pairs(2, RECORD_PASS_LAST, START + 100000000, ahead, CORES);
	analyse();
	assert_int_equal(skew->passes[0].summary.outliers, 0);
	assert_int_equal(skew->passes[1].summary.outliers, 1);
	for (size_t i = 0; i < CORES; i++) {
		assert_false(skew->passes[0].outlier[i]);
		assert_int_equal(skew->passes[1].outlier[i], i == 3);
	}
	assert_offset(first_offset(3), -51, 51);
	assert_offset(last_offset(3), 1000000 - 51, 1000000 + 51);
	assert_int_equal(skew->passes[0].summary.pairs, 10);
	assert_int_equal(report.figures.cores[3].pingpongs, 4);
}

/* The offset grows by 10^6 ticks in 10^8 ticks. This is 1 %, or 10^7 ppb. */
TEST(a_drift_is_the_change_of_the_offset_divided_by_the_time)
{
	static const int64_t ahead[CORES] = { 0, 0, 1000000 };

	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	put_all_pairs(2, RECORD_PASS_LAST, START + 100000000, ahead, 3);
	analyse();
	assert_int_equal(skew->pass_count, 2);
	assert_int_equal(skew->drift_span_ns, 100000000 / 2);
	assert_offset(drift(0), 0, 0);
	assert_in_range(drift(2).low, 9997000, 10000000);
	assert_in_range(drift(2).high, 10000000, 10003000);
	assert_in_range(-drift(1).low, 1, 3000);
	assert_in_range(drift(1).high, 1, 3000);
	assert_in_range(report_get_pair_drift(&report, 1, 2).low, 9997000, 10000000);
}

TEST(a_last_pass_without_a_pingpong_has_no_offsets_and_no_drift)
{
	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	put_pass(2, RECORD_PASS_LAST, ALL, START + 100000000, START + 100010000, 0x7);
	assert_true(analyse()->pass_count > 0);
	assert_false(skew->pass_count > 1);
	assert_int_equal(skew->passes[1].offsets.cores, 0);
	assert_false(offset_is_known(last_offset(1)) || offset_is_known(drift(1)));
}

/* The first pass gives the round trips and the number of ping-pongs, so a later pass cannot take its place. */
TEST(without_a_pingpong_in_the_first_pass_there_are_no_passes)
{
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 20000, 7);
	put_all_pairs(2, RECORD_PASS_LAST, START + 1000000, in_step, 3);
	assert_int_equal(analyse()->pass_count, 0);
	assert_int_equal(report.figures.cores[1].pingpongs, 0);
}

TEST(a_middle_pass_distinguishes_a_step_from_a_drift)
{
	static const int64_t ahead[CORES] = { 0, 1000000, 0 };

	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	put_all_pairs(2, RECORD_PASS_MIDDLE, START + 50000000, ahead, 3);
	put_all_pairs(3, RECORD_PASS_LAST, START + 100000000, ahead, 3);
	analyse();
	assert_int_equal(skew->pass_count, REPORT_PASSES);
	assert_int_equal(motion_of_pair(0, 1), MOTION_STEP_EARLY);
	assert_int_equal(motion_of_pair(0, 2), MOTION_UNKNOWN);
}

TEST(a_later_pass_is_compared_with_the_first_and_replaces_the_previous_pass)
{
	static const int64_t ahead[CORES] = { 0, 500 };

	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 2);
	put_all_pairs(2, RECORD_PASS_LAST, START + 100000000, in_step, 2);
	put_all_pairs(3, RECORD_PASS_LAST, START + 200000000, ahead, 2);
	assert_int_equal(analyse()->drift_span_ns, 200000000 / 2);
	assert_offset(last_offset(1), 500 - 51, 500 + 51);
}

/*
 * The two directions of the ping-pong give a lower bound of the offset that is 400 ticks above the upper bound. The
 * resolution of one tick on each side explains only 2 of them.
 */
TEST(a_pair_that_moved_during_its_pingpong_is_a_contradiction_without_offset)
{
	struct record_pingpong moved = pingpong(0, 1, 0, 100);

	moved.least_to_second = -200;
	moved.least_to_first = -200;
	put(1, START, moved);
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 2000, 0x3);
	analyse();
	assert_true(skew->pass_count > 0);
	assert_int_equal(skew->passes[0].pingpongs, 1);
	assert_false(offset_is_known(first_offset(1)));
	assert_int_equal(offsets_get_movement_ticks(&skew->passes[0].offsets, 0, 1), 398);
	assert_int_equal(skew->passes[0].summary.contradictions, 1);
}

TEST(a_repeated_pair_keeps_its_narrowest_offset_with_its_time_and_counts_once)
{
	put(1, START, pingpong(0, 1, 0, 5000));
	put(1, START + 10000, pingpong(0, 1, 0, 200));
	put(1, START + 20000, pingpong(0, 1, 0, 900));
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 30000, 0x3);
	analyse();
	assert_offset(first_offset(1), -101, 101);
	assert_int_equal(offsets_get_time_of_pair(&skew->passes[0].offsets, 0, 1).begin_tsc, START + 10000);
	assert_int_equal(skew->passes[0].pingpongs, 1);
	assert_int_equal(skew->passes[0].again, 2);
	assert_int_equal(report.figures.cores[1].pingpongs, 1);
	assert_int_equal(skew->passes[0].summary.contradictions, 0);
}

TEST(a_repeated_pair_that_contradicts_keeps_its_first_offset)
{
	put(1, START, pingpong(0, 1, 0, 5000));
	put(1, START + 10000, pingpong(0, 1, 100000, 200));
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 30000, 0x3);
	analyse();
	assert_offset(first_offset(1), -2501, 2501);
	assert_int_equal(offsets_get_movement_ticks(&skew->passes[0].offsets, 0, 1), 100000 - 101 - 2501);
	assert_int_equal(skew->passes[0].summary.contradictions, 1);
}

/*
 * Core 3 did not take part, so core 4 is the fourth core of the schedule. A ping-pong of cores 1 and 2 does not belong
 * to a star schedule.
 */
TEST(a_star_schedule_has_only_pairs_with_the_boot_core_and_a_reason)
{
	const struct record_pass star = { .pass = 1, .stage = RECORD_PASS_FIRST, .schedule = STAR,
					  .reason = RECORD_PASS_TOO_LONG, .begin_tsc = START, .end_tsc = START + 50000 };

	lay_out(CORES, CORES - 1);
	for (size_t i = 1; i < CORES; i++)
		put(1, START + i * 10000, pingpong(0, i, (int64_t)i * 1000, 100));
	put(1, START + 60000, pingpong(1, 2, 5000, 100));
	record_put(&record, RECORD_PASS, &star, &(struct record_members){ 0x17 }, 1);
	analyse();
	assert_int_equal(skew->passes[0].offsets.kind, PAIR_SCHEDULE_STAR);
	assert_string_equal(skew->kind_reason, "Measuring all pairs would take longer than this profile allows.");
	assert_int_equal(skew->passes[0].offsets.cores, 4);
	assert_int_equal(skew->core_of[3], 4);
	assert_int_equal(skew->passes[0].pingpongs, 3);
	assert_int_equal(skew->passes[0].again, 0);
	assert_int_equal(skew->passes[0].summary.contradictions, 0);
	assert_offset(first_offset(2), 2000 - 51, 2000 + 51);
	assert_offset(first_offset(4), 4000 - 51, 4000 + 51);
	assert_false(offset_is_known(first_offset(3)));
	assert_int_equal(report.figures.cores[3].pingpongs, 0);
}

TEST(a_star_schedule_for_lack_of_memory_says_so)
{
	const struct record_pass star = { .pass = 1, .stage = RECORD_PASS_FIRST, .reason = RECORD_PASS_NO_MEMORY };

	record_put(&record, RECORD_PASS, &star, &(struct record_members){ 0x3 }, 1);
	assert_string_equal(analyse()->kind_reason, "There is not enough memory for all pairs of cores.");
	assert_false(skew->pass_count > 0);
}

/* A rehearsal (a trial run) comes before the first pass, and the rounds of a soak come after that pass. */
TEST(pingpongs_outside_of_passes_count_for_warps_only)
{
	struct record_pingpong of_soak = pingpong(0, 2, -5000, 100);

	of_soak.warps = 100;
	put(0, START - 20000, pingpong(0, 1, 3000, 20));
	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	put(0, START + 900000, of_soak);
	analyse();
	assert_int_equal(skew->pass_count, 1);
	assert_int_equal(skew->passes[0].pingpongs, 3);
	assert_int_equal(skew->passes[0].again, 0);
	assert_offset(first_offset(1), -51, 51);
	assert_int_equal(skew->best_trip_ns, 50);
	assert_int_equal(skew->warps, 101);
	assert_int_equal(skew->worst_warp_ticks, 4950);
	assert_int_equal(skew->worst_warp_ns, 2475);
	assert_int_equal(skew->worst_warp_a, ID_OF(0));
	assert_int_equal(skew->worst_warp_b, ID_OF(2));
}

TEST(the_core_that_is_ahead_in_the_worst_warp_may_be_the_second)
{
	static const int64_t ahead[CORES] = { 0, 0, 300 };

	put_all_pairs(1, RECORD_PASS_FIRST, START, ahead, 3);
	assert_int_equal(analyse()->warps, 2);
	assert_int_equal(skew->worst_warp_ticks, 250);
	assert_int_equal(skew->worst_warp_a, ID_OF(2));
	assert_int_equal(skew->worst_warp_b, ID_OF(0));
}

/* An exception or a reset ended the pass, so the record has no entry for its end. */
TEST(a_pass_that_did_not_end_has_no_offsets)
{
	put(1, START, pingpong(0, 1, 0, 100));
	assert_false(analyse()->pass_count > 0);
	assert_false(offset_is_known(first_offset(1)));
	assert_int_equal(report.figures.cores[1].pingpongs, 0);
}

TEST(if_there_are_two_first_passes_the_second_counts)
{
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 1000, 0x7);
	put_all_pairs(2, RECORD_PASS_FIRST, START + 2000, in_step, 2);
	assert_int_equal(analyse()->passes[0].pingpongs, 1);
	assert_int_equal(skew->passes[0].offsets.cores, 2);
}

TEST(a_first_pass_that_is_not_accepted_does_not_change_the_cores_of_the_accepted_one)
{
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 1000, 0x6); /* cores 1 and 2 */
	put(1, START, pingpong(1, 2, 500, 100));
	put_pass(2, RECORD_PASS_FIRST, ALL, START + 2000, START + 3000, 0x1);
	assert_int_equal(analyse()->passes[0].pingpongs, 1);
	assert_int_equal(skew->core_of[0], 1);
	assert_int_equal(skew->core_of[1], 2);
}

TEST(a_last_pass_does_not_count_after_another_first_pass)
{
	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	put_all_pairs(2, RECORD_PASS_LAST, START + 100000000, in_step, 3);
	put_all_pairs(3, RECORD_PASS_FIRST, START + 200000000, in_step, 2);
	assert_true(analyse()->pass_count > 0);
	assert_false(skew->pass_count > 1);
	assert_int_equal(skew->passes[0].offsets.cores, 2);
}

TEST(a_cut_record_gives_its_complete_passes)
{
	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	size_t length = record.length;
	/* ping-pongs that fill the record's first block, so that the entry for the last pass is in the second block */
	for (unsigned i = 0; i < 100; i++)
		put(2, START + 100000000, pingpong(0, 1, 0, 100));
	put_pass(2, RECORD_PASS_LAST, ALL, START + 100000000, START + 200000000, 0x7);
	assert_true(record.blocks > 1 && record.length > length + 4096);
	assert_true(analyse()->pass_count > 1);
	analysis_calculate_offsets(bytes, record.length - 1, &report, &report.figures);
	assert_true(skew->pass_count > 0);
	assert_false(skew->pass_count > 1 || offset_is_known(last_offset(1)));
	assert_int_equal(skew->passes[1].offsets.cores, 0);
}

/* The report has 5 cores. Further cores in the record, and ping-pongs with them, are ignored. */
TEST(unknown_cores_are_left_out)
{
	put(1, START, pingpong(0, 1, 0, 100));
	put(1, START + 10000, pingpong(0, CORES, 9000, 100));
	put(1, START + 20000, pingpong(65535, 1, 9000, 100));
	put(1, START + 30000, pingpong(1, 1, 0, 100));
	put(1, START + 40000, pingpong(2, 1, 0, 100));
	put(1, START + 50000, pingpong(0, 4, 0, 100));
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 60000, 0xffff);
	report.facts.core_count = CORES - 1;
	assert_int_equal(analyse()->passes[0].offsets.cores, CORES - 1);
	assert_int_equal(skew->passes[0].pingpongs, 1);
	report.facts.core_count = CORES;
	assert_int_equal(analyse()->passes[0].offsets.cores, CORES);
	assert_int_equal(skew->passes[0].pingpongs, 2);
	assert_int_equal(report.figures.cores[1].pingpongs, 1);
	assert_int_equal(skew->warps, 0);
}

TEST(a_pass_with_more_pairs_than_there_is_space_for_is_left_out)
{
	lay_out(CORES, CORES - 1);
	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, CORES);
	assert_false(analyse()->pass_count > 0);
	assert_int_equal(skew->passes[0].offsets.cores, 0);
}

TEST(a_later_pass_with_another_schedule_is_left_out)
{
	put_all_pairs(1, RECORD_PASS_FIRST, START, in_step, 3);
	put(2, START + 100000000, pingpong(0, 1, 0, 100));
	put_pass(2, RECORD_PASS_LAST, STAR, START + 100000000, START + 100010000, 0x7);
	assert_true(analyse()->pass_count > 0);
	assert_false(skew->pass_count > 1);
}

TEST(passes_with_an_unknown_stage_or_without_a_number_are_left_out)
{
	put(0, START, pingpong(0, 1, 0, 100));
	put_pass(0, RECORD_PASS_FIRST, ALL, START, START + 10000, 0x3);
	put(1, START, pingpong(0, 1, 0, 100));
	put_pass(1, 0, ALL, START, START + 10000, 0x3);
	put_pass(1, 4, ALL, START, START + 10000, 0x3);
	assert_false(analyse()->pass_count > 0);
	assert_int_equal(skew->passes[0].offsets.cores, 0);
}

TEST(a_second_call_gives_the_same_figures_and_keeps_the_warp_checks)
{
	static const int64_t ahead[CORES] = { 0, 300, 0 };

	report.facts.warp_checks.locked = (struct report_contended){ .measured = true, .warps = 3 };
	put_all_pairs(1, RECORD_PASS_FIRST, START, ahead, 3);
	put_all_pairs(2, RECORD_PASS_LAST, START + 100000000, ahead, 3);
	struct report_skew before = *analyse();
	analyse();
	assert_memory_equal(&before, skew, sizeof(before));
	assert_int_equal(report.facts.warp_checks.locked.warps, 3);
	assert_int_equal(report.figures.cores[1].pingpongs, 2);
	assert_int_equal(report_count_warps(&report), 3 + 2 + 2);
}

/* The 2,016 pairs of 64 cores do not fit into a record of less than 1,000 bytes, so their pass is not read. */
TEST(memory_for_pairs_is_limited_by_the_length_of_the_record)
{
	assert_int_equal(analysis_max_pairs_in_pass(bytes, record.length, 64), 0);
	put_pass(1, RECORD_PASS_FIRST, ALL, START, START + 1000, UINT64_MAX);
	assert_in_range(record.length, 100, 1000);
	assert_int_equal(analysis_max_pairs_in_pass(bytes, record.length, 64), 0);
	put_pass(2, RECORD_PASS_FIRST, STAR, START, START + 1000, UINT64_MAX);
	assert_int_equal(analysis_max_pairs_in_pass(bytes, record.length, 64), 63);
	assert_int_equal(analysis_max_pairs_in_pass(bytes, record.length, 8), 28);
}

/* A replay once had memory for pairs with the boot core only, because all pairs of 5,000 cores need too much memory. */
TEST(all_pairs_of_a_few_cores_out_of_thousands_have_offsets)
{
	static const int64_t ahead[CORES] = { 0, 300, 0 };

	put_all_pairs(1, RECORD_PASS_FIRST, START, ahead, 3);
	assert_int_equal(analysis_max_pairs_in_pass(bytes, record.length, 5000), 3);
	lay_out(5000, 3);
	assert_int_equal(analyse()->passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
	assert_true(offset_is_known(first_offset(1)) && first_offset(1).low > 0);
}

/* Each item of a pass's entry has the bits of 64 cores, so core 70 is in the second item. */
TEST(a_pass_may_have_more_than_64_cores)
{
	const struct record_pass star = { .pass = 1, .stage = RECORD_PASS_FIRST, .begin_tsc = START, .end_tsc = START + 1 };
	const struct record_members sets[] = { { 1 }, { 1 << 6 } };

	lay_out(71, 70);
	put(1, START, pingpong(0, 70, 800, 100));
	record_put(&record, RECORD_PASS, &star, sets, 2);
	assert_int_equal(analyse()->passes[0].offsets.cores, 2);
	assert_int_equal(skew->core_of[1], 70);
	assert_offset(first_offset(70), 800 - 51, 800 + 51);
}

/* The bounds of an offset in a soak's row do not include the TSC's resolution, which is 5 ticks in this record. */
TEST(an_offset_in_a_row_of_a_soak_includes_the_resolution_of_the_tsc)
{
	put_resolution(5);
	for (unsigned calls = 0; calls < 2; calls++)
		analysis_calculate_offsets(record.bytes, record.length, &report, &report.figures);
	struct offset offset = series_add_resolution(report.figures.tsc_resolution_ticks, (struct offset){ -20, 30 });
	assert_int_equal(offset.low, -25);
	assert_int_equal(offset.high, 35);
	assert_false(offset_is_known(series_add_resolution(report.figures.tsc_resolution_ticks, OFFSET_UNKNOWN)));
}
