/*
 * Measurement passes over pairs of cores, contended reads and warp checks with many cores. The cores are simulated on
 * host threads, and the test knows their true offsets and drifts. The host's speed does not matter: one tick is one
 * nanosecond of simulated time, and delays are a number of ticks.
 */

#include <pthread.h>

#include "test.h"
#include "findings.h"
#include "sim.h"
#include "analysis/analysis.h"
#include "judge/judge.h"
#include "report/report.h"
#include "measure/survey.h"
#include "measure/skew/survey_skew.h"
#include "measure/survey_plan.h"
#include "measure/clocks/survey_clocks.h"
#include "threads.h"

#define GHZ          UINT64_C(1000000000)
#define TICKS_PER_MS UINT64_C(1000000) /* TSC ticks at 1 GHz */
#define ID_OF(core)  (2 * (uint32_t)(core) + 100) /* the APIC id of a core, which differs from its number */
#define NONE         SIZE_MAX
#define ALL          (SIZE_MAX - 1)
#define CLOCKS       4

static struct {
	struct report report;
	struct survey survey;
	struct smp smp;
	struct sample samples[SURVEY_SAMPLES_MIN];
	void *memory;
	/* time added to each batch, which is one call that runs ping-pongs on one or several pairs at once */
	uint64_t batch_ticks;
	/*
	 * held_up: number of the first delayed batch, from 1. held_up_batches: number of delayed batches.
	 * held_up_ticks: delay of each of these batches.
	 */
	uint64_t held_up;
	uint64_t held_up_batches, held_up_ticks;
	size_t dies;            /* number of the core that dies during a ping-pong, or NONE */
	/*
	 * number of ping-pongs that the dying core completes; in the next ping-pong, this core dies at its 5th TSC
	 * reading
	 */
	uint64_t dies_pingpongs;
	/* ping-pongs of one pair that are disturbed in the measurement pass, but not in its rehearsal (a trial run) */
	struct {
		size_t first, second;  /* the two cores of the pair; `first` may also be NONE, or ALL for all pairs */
		uint64_t pingpongs;    /* number of the pair's disturbed ping-pongs */
		/* true if these ping-pongs do not take place at all, false if they are delayed */
		bool missed;
		uint64_t late_ticks;   /* delay of the second core's TSC readings */
		int64_t moves_ticks;   /* step of the second core's TSC after the delay */
		uint64_t count;        /* number of the pair's ping-pongs so far */
	} spoilt;
	uint64_t pingpongs[1024]; /* number of each core's ping-pongs in passes */
	uint64_t expires_pingpongs; /* the run's deadline passes after this many ping-pongs of core 1; 0 for never */
	pthread_barrier_t barrier;
	size_t turns;           /* number of calls of run_all() from now on in which the cores run one after another */
} bench;

static uint64_t
ticks_left(void *context)
{
	return bench.expires_pingpongs && bench.pingpongs[1] >= bench.expires_pingpongs ? 0 : UINT64_MAX;
}

static void
progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	assert_non_null(what);
	assert_in_range(done_ns, 0, total_ns);
}

static void
core_facts(struct core_facts *facts)
{
	*facts = (struct core_facts){ .has_tsc_aux = true, .tsc_aux = 7 + (uint32_t)threads_get_core() };
}

/*
 * Returns true if this batch includes the pair with disturbed ping-pongs. A disturbance delays all pairs of the batch,
 * because they run at the same time.
 */
static bool
has_spoilt_pair(const uint32_t *cores, size_t count)
{
	bool is_begun = bench.survey.passes.count != 0;

	for (size_t i = 0; i < count; i += 2)
		if (is_begun && cores[i] == bench.spoilt.first && cores[i + 1] == bench.spoilt.second)
			return true;
	return is_begun && bench.spoilt.first == ALL;
}

static size_t
run_some(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
	 uint64_t bound_ns)
{
	bool spoilt = has_spoilt_pair(cores, count) && bench.spoilt.count++ < bench.spoilt.pingpongs;
	bool held_up;
	size_t finished = count;

	if (bench.dies != NONE && !threads_cores[bench.dies].dies_reading &&
	    bench.pingpongs[bench.dies] == bench.dies_pingpongs && bench.survey.passes.count)
		threads_cores[bench.dies].dies_reading = threads_count_tsc_reads(bench.dies) + 5;
	if (spoilt)
		threads_cores[bench.spoilt.second].late_ticks = bench.spoilt.late_ticks;
	if (!spoilt || !bench.spoilt.missed)
		finished = threads_smp.run_some(context, cores, count, job, argument, bound_ns);
	for (size_t i = 0; i < count && bench.survey.passes.stage; i++)
		bench.pingpongs[cores[i]]++;
	if (spoilt) {
		threads_cores[bench.spoilt.second].late_ticks = 0;
		if (bench.spoilt.count == bench.spoilt.pingpongs)
			threads_cores[bench.spoilt.second].offset_ticks += bench.spoilt.moves_ticks;
	}
	held_up = threads_count_batches() - bench.held_up < bench.held_up_batches;
	threads_advance_ticks(bench.batch_ticks + (held_up ? bench.held_up_ticks : 0));
	return finished;
}

/*
 * Opens a bench, and calls START to start CORES cores. The bench has memory for these cores and for schedules up to
 * WIDEST.
 */
static void
open_bench_of(void (*start)(size_t cores), size_t cores, enum pair_schedule widest, uint64_t hz)
{
	memset(&bench, 0, sizeof(bench));
	bench.dies = bench.spoilt.first = NONE;
	start(cores);
	bench.smp = threads_smp;
	bench.smp.run_some = run_some;
	bench.report.facts.options.profile = PROFILE_QUICK;
	bench.report.facts.core_count = cores;
	bench.report.figures.tsc = (struct rate){ hz, 1 };
	bench.survey = (struct survey){
		.report = &bench.report,
		.smp = &bench.smp,
		.hooks = {
			.tsc_ordered = threads_read_tsc,
			.pause = threads_pause,
			.core_facts = core_facts,
			.ticks_left = ticks_left,
			.progress = progress,
		},
		.buffer.samples = bench.samples,
		.buffer.sample_max = SURVEY_SAMPLES_MIN,
		.tsc.resolution_ticks = 1,
	};
	scale_init(&bench.survey.scale, bench.report.figures.tsc);
	bench.memory = sim_allocate_zeros(PINGPONG_LINE, survey_memory_bytes(cores, widest, 0));
	survey_divide_memory(&bench.survey, bench.memory, cores, widest, 0);
	record_begin(&bench.survey.record, bench.survey.memory.record, bench.survey.memory.record_size);
	record_put(&bench.survey.record, RECORD_SCALE, &(struct record_scale){ .hz_num = hz, .hz_den = 1, .step_ticks = 1 },
		   NULL, 0);
	for (size_t i = 0; i < cores; i++)
		bench.report.facts.cores[i].apic_id = ID_OF(i);
}

static void
open_bench(size_t cores, enum pair_schedule widest, uint64_t hz)
{
	open_bench_of(threads_start_in_turns, cores, widest, hz);
}

static void
close_bench(void)
{
	threads_stop();
	free(bench.memory);
}

TEST_FIXTURE(NULL, close_bench);

/* Runs a measurement pass, and calculates the report's figures from the record. */
static void
run_pass(void (*pass)(struct survey *survey))
{
	pass(&bench.survey);
	analysis_calculate_offsets(bench.survey.record.bytes, bench.survey.record.length, &bench.report,
				   &bench.report.figures);
	assert_int_equal(bench.survey.record.dropped, 0);
}

/* Returns the offset of CORE against the boot core in the first pass. */
static struct offset
offset_of(size_t core)
{
	return report_get_core_offset(&bench.report, &bench.report.figures.skew.passes[0], &bench.report.facts.cores[core]);
}

static struct offset
drift_of(size_t core)
{
	return report_get_core_drift(&bench.report, &bench.report.facts.cores[core]);
}

/*
 * Asserts that the interval in the report contains CORE's true offset from the boot core. The boot core's TSC is the
 * simulated time.
 */
static void
assert_offset_holds(size_t core, int64_t truth)
{
	struct offset offset = offset_of(core);

	assert_true(offset_is_known(offset));
	assert_true(offset.low <= truth && truth <= offset.high);
}

static void
all_pairs_of(void (*start)(size_t cores), size_t cores)
{
	const struct report_skew *skew = &bench.report.figures.skew;

	open_bench_of(start, cores, PAIR_SCHEDULE_ALL, GHZ);
	run_pass(survey_measure_offsets);
	assert_true(skew->pass_count > 0);
	assert_int_equal(skew->passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
	assert_string_equal(skew->kind_reason, "");
	assert_int_equal(skew->passes[0].rounds, cores % 2 ? cores : cores - 1);
	assert_int_equal(skew->passes[0].pingpongs, cores * (cores - 1) / 2);
	assert_int_equal(skew->passes[0].summary.pairs, cores * (cores - 1) / 2);
	assert_int_equal(skew->passes[0].summary.contradictions, 0);
	assert_int_equal(skew->passes[0].summary.outliers, 0);
	assert_true(skew->passes[0].summary.bound_ticks < UINT64_MAX);
	assert_int_equal(skew->warps, 0);
	assert_in_range(skew->passes[0].concurrency, 1, cores / 2);
	assert_true(skew->best_trip_ns > 0 && skew->best_trip_ns <= skew->median_trip_ns);
	assert_in_range(skew->passes[0].offsets.begin_tsc, THREADS_WORLD_0, skew->passes[0].offsets.end_tsc - 1);
	assert_in_range(skew->passes[0].offsets.end_tsc, skew->passes[0].offsets.begin_tsc + 1, threads_get_time_ticks());
	for (size_t i = 0; i < cores; i++) {
		assert_int_equal(bench.report.figures.cores[i].pingpongs, cores - 1);
		assert_int_equal(skew->core_of[i], i);
		assert_false(skew->passes[0].outlier[i]);
		assert_offset_holds(i, 0);
	}
	assert_false(bench.report.facts.run.incomplete);
	assert_int_equal(bench.report.notes.count, 0);
}

TEST(one_core_has_no_pair)
{
	open_bench(1, PAIR_SCHEDULE_ALL, GHZ);
	run_pass(survey_measure_offsets);
	survey_measure_contended_latencies(&bench.survey);
	survey_check_for_warps(&bench.survey);
	assert_false(bench.report.figures.skew.pass_count > 0);
	assert_false(bench.report.facts.warp_checks.locked.measured);
	assert_false(bench.report.facts.warp_checks.lock_free.measured);
	assert_int_equal(threads_count_batches(), 0);
}

TEST(all_pairs_of_2_3_and_5_cores_are_measured_in_1_3_and_5_rounds)
{
	all_pairs_of(threads_start, 2);
	close_bench();
	all_pairs_of(threads_start, 3);
	close_bench();
	all_pairs_of(threads_start, 5);
}

TEST(all_2016_pairs_of_64_cores_are_measured_in_63_rounds)
{
	all_pairs_of(threads_start_in_turns, 64);
}

/* Asserts that each core had one ping-pong with the boot core, and no other (a complete star schedule). */
static void
assert_whole_star(size_t cores)
{
	const struct report_skew *skew = &bench.report.figures.skew;

	assert_int_equal(skew->passes[0].offsets.kind, PAIR_SCHEDULE_STAR);
	assert_int_equal(skew->passes[0].rounds, cores - 1);
	assert_int_equal(skew->passes[0].pingpongs, cores - 1);
	assert_int_equal(skew->passes[0].concurrency, 1);
	assert_int_equal(bench.report.figures.cores[0].pingpongs, cores - 1);
	for (size_t i = 1; i < cores; i++) {
		assert_int_equal(bench.report.figures.cores[i].pingpongs, 1);
		assert_offset_holds(i, 0);
	}
	assert_int_equal(skew->warps, 0);
	assert_int_equal(bench.report.notes.count, 0);
}

/*
 * A batch takes 20 ms. Even with 127 pairs per batch, the pass over all pairs takes 5.1 s, which is longer than a quick
 * run allows.
 */
TEST(a_quick_run_of_255_slow_cores_measures_a_star_schedule_and_says_so)
{
	open_bench(255, PAIR_SCHEDULE_ALL, GHZ);
	bench.batch_ticks = 20 * TICKS_PER_MS;
	run_pass(survey_measure_offsets);
	assert_whole_star(255);
	assert_non_null(strstr(bench.report.figures.skew.kind_reason, "longer than this profile allows"));
	run_pass(survey_measure_offsets);
	assert_true(bench.report.figures.skew.pass_count > 1);
	assert_int_equal(bench.report.figures.skew.passes[1].offsets.kind, PAIR_SCHEDULE_STAR);
}

/* The 15 pairs take 5 to 15 batches of one second. A quick run does not allow so much time, but a standard run does. */
TEST(six_very_slow_cores_have_a_star_schedule_in_a_quick_run_only)
{
	open_bench(6, PAIR_SCHEDULE_ALL, GHZ);
	bench.batch_ticks = 1000 * TICKS_PER_MS;
	run_pass(survey_measure_offsets);
	assert_int_equal(bench.report.figures.skew.passes[0].offsets.kind, PAIR_SCHEDULE_STAR);
	close_bench();
	open_bench(6, PAIR_SCHEDULE_ALL, GHZ);
	bench.batch_ticks = 1000 * TICKS_PER_MS;
	bench.report.facts.options.profile = PROFILE_STANDARD;
	run_pass(survey_measure_offsets);
	assert_int_equal(bench.report.figures.skew.passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 15);
}

TEST(without_memory_for_all_pairs_1024_cores_have_a_star_schedule)
{
	open_bench(1024, PAIR_SCHEDULE_STAR, GHZ);
	bench.batch_ticks = 3 * TICKS_PER_MS; /* the pass takes 3.07 s, so no time is left to repeat ping-pongs */
	run_pass(survey_measure_offsets);
	assert_whole_star(1024);
	assert_non_null(strstr(bench.report.figures.skew.kind_reason, "not enough memory"));
	/*
	 * Without a rehearsal (a trial run), the survey does not know whether pairs can be measured at the same time.
	 * Therefore each pair was measured alone.
	 */
	assert_int_equal(threads_get_largest_batch(), 2);
	assert_int_equal(threads_count_batches(), 1023);
}

/* 16 cores have 120 pairs, and a batch has up to 8 of them. The host delays one batch by 2 s. */
TEST(one_delayed_batch_of_the_rehearsal_does_not_cause_a_star_schedule)
{
	for (uint64_t batch = 1; batch <= 8; batch++) {
		open_bench(16, PAIR_SCHEDULE_ALL, GHZ);
		bench.batch_ticks = TICKS_PER_MS;
		bench.held_up = batch;
		bench.held_up_batches = 1;
		bench.held_up_ticks = 2000 * TICKS_PER_MS;
		run_pass(survey_measure_offsets);
		assert_int_equal(bench.report.figures.skew.passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
		assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 120);
		close_bench();
	}
	open_bench(16, PAIR_SCHEDULE_ALL, GHZ);
}

/*
 * The first two of three batches take 1.2 s each. An estimate from these two would be 3.6 s, which is above the limit.
 * But the rehearsal (a trial run) did all three batches in 2.4 s.
 */
TEST(few_pairs_that_were_all_rehearsed_in_time_do_not_cause_a_star_schedule)
{
	open_bench(3, PAIR_SCHEDULE_ALL, GHZ);
	bench.held_up = 1;
	bench.held_up_batches = 2;
	bench.held_up_ticks = 1200 * TICKS_PER_MS;
	run_pass(survey_measure_offsets);
	assert_int_equal(bench.report.figures.skew.passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 3);
}

/* 12 batches of half a second take 6 s, which is twice the time limit of a quick run. */
TEST(a_pass_that_takes_twice_its_time_limit_keeps_its_results)
{
	open_bench(16, PAIR_SCHEDULE_ALL, GHZ);
	bench.batch_ticks = 500 * TICKS_PER_MS;
	run_pass(survey_measure_offsets);
	assert_int_equal(bench.report.figures.skew.passes[0].offsets.kind, PAIR_SCHEDULE_STAR);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 12);
	assert_int_equal(bench.report.figures.skew.passes[0].rounds, 12);
	assert_true(offset_is_known(offset_of(12)));
	assert_false(offset_is_known(offset_of(13)));
	assert_int_equal(bench.report.notes.count, 1);
	assert_non_null(strstr(bench.report.notes.sentences[0], "stopped after 6 s, with 12 of 15 rounds"));
	assert_false(bench.report.facts.run.incomplete);
}

/* 12 rounds of half a second end exactly at the limit of 6 s. A pass with 13 rounds is cut short. */
TEST(a_pass_that_ends_with_its_last_batch_was_not_cut_short)
{
	for (size_t cores = 13; cores <= 14; cores++) {
		open_bench(cores, PAIR_SCHEDULE_STAR, GHZ);
		bench.batch_ticks = 500 * TICKS_PER_MS;
		run_pass(survey_measure_offsets);
		assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 12);
		assert_int_equal(bench.report.notes.count, cores - 13);
		if (cores == 13)
			close_bench();
	}
	assert_non_null(strstr(bench.report.notes.sentences[0], "stopped after 6 s, with 12 of 13 rounds"));
}

TEST(the_deadline_keeps_the_results_of_a_pass)
{
	const struct report_skew *skew = &bench.report.figures.skew;
	size_t count = 0;

	open_bench(8, PAIR_SCHEDULE_ALL, GHZ);
	bench.expires_pingpongs = 3;
	run_pass(survey_measure_offsets);
	assert_true(bench.report.facts.run.incomplete);
	assert_true(skew->pass_count > 0);
	/* core 1 has seven of the 28 pairs, and the deadline passes after its third ping-pong */
	assert_in_range(skew->passes[0].pingpongs, 5, 19);
	assert_int_equal(bench.report.figures.cores[1].pingpongs, 3);
	for (size_t a = 0; a < 8; a++)
		for (size_t b = a + 1; b < 8; b++)
			count += offset_is_known(offsets_get_offset(&skew->passes[0].offsets, a, b));
	assert_int_equal(count, skew->passes[0].pingpongs);
	run_pass(survey_measure_offsets);
	survey_check_for_warps(&bench.survey);
	assert_false(skew->pass_count > 1);
	assert_false(bench.report.facts.warp_checks.locked.measured);
}

static bool
holds(struct offset offset, int64_t ticks)
{
	return offset.low <= ticks && ticks <= offset.high;
}

/*
 * Returns the number of entries `exchange` in the record before the first pass, or after it if AFTER is true. Stores
 * the last ping-pong of these entries in LAST.
 */
static size_t
count_outside(bool after, struct record_pingpong *last)
{
	struct record_exchange exchange;
	struct record_reader reader;
	struct record_entry entry;
	bool is_after = false;
	size_t count = 0;

	reader = record_open(bench.survey.record.bytes, bench.survey.record.length);
	while (record_read_next(&reader, &entry)) {
		is_after |= entry.kind == RECORD_PASS;
		if (entry.kind != RECORD_EXCHANGE)
			continue;
		record_read_fixed_part(&entry, &exchange);
		assert_true(exchange.begin_tsc < exchange.end_tsc && entry.item_count <= exchange.concurrency);
		if (exchange.pass || is_after != after)
			continue;
		record_read_item(&entry, entry.item_count - 1u, last);
		count++;
	}
	return count;
}

TEST(a_rehearsal_is_recorded_outside_of_a_pass_and_its_warps_count)
{
	struct record_pingpong last;

	open_bench(2, PAIR_SCHEDULE_ALL, GHZ);
	threads_cores[1].offset_ticks = 1000000000;
	run_pass(survey_measure_offsets);
	assert_int_equal(count_outside(false, &last), 1);
	assert_int_equal(last.trips, 200);
	assert_int_equal(count_outside(true, &last), 0);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 1);
	assert_int_equal(bench.report.figures.skew.passes[0].again, 0);
	assert_int_equal(last.warps, 200);
	assert_int_equal(bench.report.figures.skew.warps, 400);
}

/* A soak may have any number of rounds, so the record has only one sum for each core. */
TEST(rounds_of_a_soak_are_recorded_as_one_sum_for_each_core)
{
	size_t bytes = series_size_bytes(1, 3, 4), length;
	struct record_pingpong last;
	void *memory = calloc(1, bytes);
	uint64_t warps;

	open_bench(3, PAIR_SCHEDULE_ALL, GHZ);
	assert_non_null(memory);
	series_init(&bench.report.facts.series, memory, 1, 3, 4, GHZ);
	series_start_row(&bench.report.facts.series, threads_get_time_ticks());
	threads_cores[2].offset_ticks = -1000000000;
	run_pass(survey_measure_offsets);
	warps = bench.report.figures.skew.warps;
	run_pass(survey_measure_soak_row_offsets);
	assert_int_equal(count_outside(true, &last), 2);
	length = bench.survey.record.length;
	run_pass(survey_measure_soak_row_offsets);
	threads_cores[2].offset_ticks -= 1000000;
	run_pass(survey_measure_soak_row_offsets);
	assert_int_equal(bench.survey.record.length, length);
	assert_int_equal(count_outside(true, &last), 2);
	assert_int_equal(last.second, 2);
	assert_int_equal(last.trips, 600);
	assert_in_range(last.warps, 590, 600);
	assert_int_equal(bench.report.figures.skew.warps, warps + last.warps);
	assert_true(-1001000000 <= last.least_to_second && last.least_to_second < -1000900000);
	assert_true(1000000000 <= last.least_to_first && last.least_to_first < 1000100000);
	assert_true(offset_is_known(series_get_open_row(&bench.report.facts.series)->offsets[2]));
	free(memory);
}

/* The following tests are about pairs that have a second ping-pong. */

#define LATE_TICKS UINT64_C(100000) /* 100 us at 1 GHz, longer than a round trip on any machine */

/* Opens a bench with four cores. The first PINGPONGS ping-pongs of cores 1 and 3 are disturbed. */
static void
open_bench_with_spoilt_pair(uint64_t pingpongs)
{
	open_bench(4, PAIR_SCHEDULE_ALL, GHZ);
	bench.spoilt.first = 1;
	bench.spoilt.second = 3;
	bench.spoilt.pingpongs = pingpongs;
	bench.spoilt.late_ticks = LATE_TICKS;
}

static uint64_t
width_of_spoilt_pair(void)
{
	struct offset offset = offsets_get_offset(&bench.report.figures.skew.passes[0].offsets, 1, 3);

	assert_true(offset_is_known(offset));
	return (uint64_t)(offset.high - offset.low);
}

TEST(a_pair_whose_first_pingpong_was_disturbed_is_narrow_after_a_second)
{
	const struct report_skew *skew = &bench.report.figures.skew;

	open_bench_with_spoilt_pair(1);
	threads_cores[3].offset_ticks = 2000;
	run_pass(survey_measure_offsets);
	assert_true(skew->passes[0].again > 0);
	assert_true(bench.spoilt.count > 1);
	assert_in_range(width_of_spoilt_pair(), 1, LATE_TICKS - 1);
	assert_offset_holds(3, 2000);
	/* one ping-pong for each pair; second ping-pongs are counted in skew->passes[0].again */
	assert_int_equal(skew->passes[0].pingpongs, 6);
	assert_int_equal(bench.report.figures.cores[3].pingpongs, 3);
	assert_int_equal(skew->passes[0].summary.contradictions, 0);
	assert_int_equal(bench.report.notes.count, 0);
}

TEST(a_pair_that_is_always_disturbed_has_one_more_pingpong)
{
	open_bench_with_spoilt_pair(UINT64_MAX);
	run_pass(survey_measure_offsets);
	assert_true(width_of_spoilt_pair() >= LATE_TICKS);
	assert_in_range(bench.spoilt.count, 2, 1 + 3 * 6);
	assert_in_range(bench.report.figures.skew.passes[0].again, 1, 3 * 6);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 6);
	assert_offset_holds(3, 0);
}

TEST(a_pair_without_a_first_pingpong_has_another)
{
	open_bench_with_spoilt_pair(2);
	bench.spoilt.missed = true;
	run_pass(survey_measure_offsets);
	assert_true(bench.spoilt.count > 2);
	assert_in_range(width_of_spoilt_pair(), 1, LATE_TICKS - 1);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 6);
	assert_int_equal(bench.report.figures.skew.passes[0].summary.pairs, 6);
}

/*
 * Core 1's pairs have wide intervals, and the pair (2, 3) has no result. Core 1's long round trips cause batches of one
 * pair. Six batches of 460 ms leave time for one further ping-pong, which the pair without a result must get.
 */
TEST(a_pair_without_a_result_has_another_pingpong_before_wide_pairs)
{
	open_bench_with_spoilt_pair(1);
	bench.spoilt.first = 2;
	bench.spoilt.missed = true;
	threads_cores[1].late_ticks = LATE_TICKS;
	bench.batch_ticks = 460 * TICKS_PER_MS;
	run_pass(survey_measure_offsets);
	assert_int_equal(bench.report.figures.skew.passes[0].offsets.kind, PAIR_SCHEDULE_ALL);
	assert_int_equal(bench.report.figures.skew.passes[0].pingpongs, 6);
	assert_int_equal(bench.report.figures.skew.passes[0].again, 0);
}

/*
 * No ping-pong succeeds. A quick run has 3 s for 3 rounds and 2 further ping-pongs, each of 600 ms. A standard run has
 * 60 s, but only 10 s for further ping-pongs: it has 3 rounds and 4 further ping-pongs, each of 2.5 s.
 */
TEST(pairs_have_another_pingpong_only_while_the_budget_lasts_and_for_10_s_at_most)
{
	for (unsigned quick = 0; quick < 2; quick++) {
		open_bench_with_spoilt_pair(UINT64_MAX);
		bench.report.facts.options.profile = quick ? PROFILE_QUICK : PROFILE_STANDARD;
		bench.spoilt.first = ALL;
		bench.spoilt.missed = true;
		bench.batch_ticks = (quick ? 600 : 2500) * TICKS_PER_MS;
		run_pass(survey_measure_offsets);
		assert_int_equal(bench.survey.passes.kind, PAIR_SCHEDULE_ALL);
		assert_int_equal(bench.spoilt.count, quick ? 5 : 7);
		assert_false(bench.report.figures.skew.pass_count > 0);
		if (!quick)
			close_bench();
	}
}

/* Measures two cores twice. The first PINGPONGS ping-pongs of the last pass are disturbed. */
static void
measure_with_spoilt_last_pass(uint64_t pingpongs)
{
	open_bench(2, PAIR_SCHEDULE_ALL, GHZ);
	run_pass(survey_measure_offsets);
	bench.spoilt.first = 0;
	bench.spoilt.second = 1;
	bench.spoilt.pingpongs = pingpongs;
	bench.spoilt.late_ticks = LATE_TICKS;
	run_pass(survey_measure_offsets);
	assert_int_equal(bench.report.figures.skew.pass_count, 2);
	bench.report.facts.machine.cores_listed = bench.report.facts.machine.cores_started = 2;
	judge_report(&bench.report, &bench.report.outcomes);
}

/* The whole last pass is disturbed, so its own median width does not show it. */
TEST(a_last_pass_that_the_host_spoilt_is_repeated_until_it_is_as_exact_as_the_first)
{
	const struct report_pass *passes = bench.report.figures.skew.passes;

	measure_with_spoilt_last_pass(12);
	assert_int_equal(passes[1].again, 12);
	assert_in_range(passes[1].summary.bound_ticks, 1, 4 * passes[0].summary.bound_ticks);
	assert_true(bench.report.outcomes.sync.synchronised);
	assert_false(bench.report.outcomes.sync.one_is_exact);
}

TEST(the_exact_one_of_two_passes_counts_if_the_other_stays_wide)
{
	const struct report_pass *passes = bench.report.figures.skew.passes;

	measure_with_spoilt_last_pass(UINT64_MAX);
	assert_true(passes[1].summary.bound_ticks >= LATE_TICKS);
	assert_false(bench.report.outcomes.sync.synchronised);
	assert_true(bench.report.outcomes.sync.one_is_exact);
	assert_int_equal(bench.report.outcomes.sync.exact, 0);
}

/*
 * Returns the interval of a pair whose first ping-pong has a wide interval. After this ping-pong, the pair's offset
 * changes by MOVED_TICKS.
 */
static struct offset
pair_that_moves(int64_t moved_ticks)
{
	open_bench_with_spoilt_pair(1);
	bench.spoilt.moves_ticks = moved_ticks;
	run_pass(survey_measure_offsets);
	return offsets_get_offset(&bench.report.figures.skew.passes[0].offsets, 1, 3);
}

/*
 * The offset changes to a value just inside or just outside of the first ping-pong's interval. In both cases the
 * second interval overlaps the first.
 */
TEST(the_interval_of_a_pair_that_moved_contains_one_of_its_offsets)
{
	struct offset first = pair_that_moves(4 * (int64_t)LATE_TICKS), second;

	assert_true(offset_width(first) >= LATE_TICKS && holds(first, 0));
	close_bench();
	second = pair_that_moves(0);
	assert_true(second.low < 0); /* the second interval extends beyond the end of the first, and they overlap */
	for (int64_t beyond = second.low - 2; beyond <= second.high + 2; beyond++) {
		int64_t moved = first.high + beyond;
		struct offset pair;

		close_bench();
		pair = pair_that_moves(moved);
		assert_true(holds(pair, 0) || holds(pair, moved));
	}
}

/*
 * After the first ping-pong the offset changes so much that the second ping-pong contradicts the first. The first
 * result is kept, and the report says so.
 */
TEST(a_tsc_that_moves_before_the_second_pingpong_is_reported_as_contradiction)
{
	const struct offsets_summary *summary = &bench.report.figures.skew.passes[0].summary;

	open_bench_with_spoilt_pair(1);
	bench.spoilt.moves_ticks = 1000000000;
	run_pass(survey_measure_offsets);
	assert_int_equal(summary->contradictions, 1);
	assert_int_equal(summary->contradiction_b, 3);
	assert_in_range(summary->contradiction_ticks, 900000000, 1000000000);
	assert_true(width_of_spoilt_pair() >= LATE_TICKS);
}

/* ---- drift ---- */

static const char *
drift_told(void)
{
	const struct finding *finding;

	judge_report(&bench.report, &bench.report.outcomes);
	finding = assert_only_finding(&bench.report, bench.report.outcomes.sync.cores[2].stepped ? "tsc-offset" : "tsc-drift",
				      "tsc");
	assert_int_equal(finding->core, ID_OF(2));
	if (bench.report.outcomes.sync.cores[2].stepped) {
		/* 50,000,000 ticks of 1 GHz */
		assert_in_range(finding->low, 49990000, 50000000);
		assert_in_range(finding->high, 50000000, 50010000);
	}
	return finding->text;
}

/* Two passes cannot distinguish a drift from a step. A third pass in the middle can. */
TEST(a_middle_pass_distinguishes_a_drift_from_a_step)
{
	static const struct { bool drifts, early, middle; const char *told; } cases[] = {
		{ true, false, true, ", steadily, unlike " },
		{ false, true, true, " between 0 ms and 1000." },
		{ false, false, true, " between 1000." },
		{ false, true, false, ", steadily or by a step, unlike " },
		{ true, false, false, ", steadily or by a step, unlike " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_bench(4, PAIR_SCHEDULE_ALL, GHZ);
		bench.report.duration_ns = UINT64_MAX / 1000; /* a long run, so that it has a middle pass */
		threads_cores[2].drift_ppb = cases[i].drifts ? 50000 : 0;
		run_pass(survey_measure_offsets);
		bench.report.facts.run.start_tsc = bench.report.figures.skew.passes[0].offsets.begin_tsc;
		threads_cores[2].offset_ticks += cases[i].early && !cases[i].drifts ? 50000000 : 0;
		threads_advance_ticks(UINT64_C(1000000000000));
		if (cases[i].middle)
			run_pass(survey_run_middle_pair_pass);
		assert_int_equal(bench.report.figures.skew.pass_count, 1 + cases[i].middle);
		threads_cores[2].offset_ticks += !cases[i].early && !cases[i].drifts ? 50000000 : 0;
		threads_advance_ticks(UINT64_C(1000000000000));
		run_pass(survey_measure_offsets);
		assert_non_null(strstr(drift_told(), cases[i].told));
		assert_int_equal(bench.report.outcomes.sync.cores[2].stepped, !cases[i].drifts && cases[i].middle);
		threads_stop();
		free(bench.memory);
	}
	open_bench(4, PAIR_SCHEDULE_ALL, GHZ); /* open again, because close_bench() needs an open bench */
}

/* The middle pass is done only if the first pass took at most a twentieth of the planned run. */
TEST(a_middle_pass_is_done_only_if_a_pass_is_short)
{
	const struct report_skew *skew = &bench.report.figures.skew;

	for (unsigned fits = 0; fits < 2; fits++) {
		open_bench(4, PAIR_SCHEDULE_ALL, GHZ);
		run_pass(survey_run_middle_pair_pass);
		assert_int_equal(skew->pass_count, 0); /* there is no middle pass before the first pass */
		run_pass(survey_measure_offsets);
		bench.survey.passes.elapsed_ns = survey_planned_run_ns(&bench.survey) / 20 + !fits;
		run_pass(survey_run_middle_pair_pass);
		assert_int_equal(skew->pass_count, 1 + fits);
		if (fits) {
			assert_true(skew->passes[1].offsets.begin_tsc > skew->passes[0].offsets.end_tsc);
			assert_int_equal(skew->passes[1].offsets.cores, 4);
			for (size_t a = 0; a < 4; a++)
				for (size_t b = 0; b < 4; b++)
					assert_true(offset_is_known(offsets_get_offset(&skew->passes[1].offsets, a, b)));
			return;
		}
		threads_stop();
		free(bench.memory);
	}
}

/* Each later pass is compared with the first. A step just before the third pass must show in the third. */
TEST(a_third_pass_is_compared_with_the_first)
{
	open_bench(2, PAIR_SCHEDULE_ALL, GHZ);
	run_pass(survey_measure_offsets);
	threads_advance_ticks(UINT64_C(1000000000000));
	run_pass(survey_measure_offsets);
	threads_cores[1].offset_ticks = 100000000; /* a step of 50 ppm in 2 * 10^12 ticks */
	threads_advance_ticks(UINT64_C(1000000000000));
	run_pass(survey_measure_offsets);
	assert_in_range(bench.report.figures.skew.drift_span_ns, UINT64_C(2000000000000), UINT64_C(2100000000000));
	assert_in_range(drift_of(1).low, 40000, 50000);
	assert_in_range(drift_of(1).high, 50000, 60000);
}

/*
 * The partner of a dead core waits for 250 ms before it gives up a ping-pong. The TSC runs at 50 MHz only, so that the
 * simulation takes 13 million steps for this wait, and not more.
 */
TEST(a_core_that_dies_in_its_second_pingpong_loses_only_its_own_pairs)
{
	const struct report_skew *skew = &bench.report.figures.skew;

	open_bench(5, PAIR_SCHEDULE_ALL, 50 * TICKS_PER_MS);
	bench.dies = 3;
	bench.dies_pingpongs = 1;
	run_pass(survey_measure_offsets);
	assert_false(bench.smp.alive(bench.smp.context, 3));
	/* core 3 dies before three of its four ping-pongs, so three of 10 pairs are missing */
	assert_int_equal(skew->passes[0].pingpongs, 7);
	assert_int_equal(skew->passes[0].rounds, 5);
	assert_int_equal(bench.report.figures.cores[3].pingpongs, 1);
	for (size_t i = 0; i < 5; i++) {
		if (i != 3)
			assert_offset_holds(i, 0);
		assert_in_range(bench.report.figures.cores[i].pingpongs, 1, 4);
	}
	run_pass(survey_measure_offsets);
	assert_true(skew->pass_count > 1);
	assert_int_equal(drift_of(3).high, INT64_MAX);
	assert_true(drift_of(4).high < INT64_MAX);
	survey_check_for_warps(&bench.survey);
	assert_int_equal(bench.report.facts.warp_checks.locked.cores, 4);
	assert_int_equal(bench.survey.memory.warp->slots[3].turns, 0);
	assert_int_equal(bench.survey.memory.warp->slots[4].turns, 20000);
}

static struct {
	smp_job *job;
	void *argument;
} shared;

static void
read_tsc_before_shared_job(void *argument, size_t core)
{
	threads_read_tsc();
	shared.job(shared.argument, core);
}

/* Runs JOB on all cores. Core 3 dies before JOB. */
static size_t
run_all_but_core_3(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	shared.job = job;
	shared.argument = argument;
	if (bench.smp.alive(context, 3))
		threads_cores[3].dies_reading = threads_count_tsc_reads(3) + 1;
	return threads_smp.run_all(context, read_tsc_before_shared_job, NULL, bound_ns);
}

TEST(a_core_that_dies_before_its_first_turn_makes_a_warp_check_inconclusive)
{
	open_bench(4, PAIR_SCHEDULE_ALL, 50 * TICKS_PER_MS);
	run_pass(survey_measure_offsets);
	bench.smp.run_all = run_all_but_core_3;
	survey_check_for_warps(&bench.survey);
	assert_false(bench.smp.alive(bench.smp.context, 3));
	assert_int_equal(bench.report.facts.warp_checks.locked.cores, 3);
	assert_int_equal(bench.survey.memory.warp->slots[3].turns, 0);
	assert_true(bench.report.facts.warp_checks.locked.starved);
	assert_false(bench.report.facts.warp_checks.lock_free.starved);
}

TEST(each_living_core_reports_its_own_facts)
{
	open_bench(3, PAIR_SCHEDULE_ALL, 10 * TICKS_PER_MS);
	threads_cores[1].dies_reading = 1;
	run_pass(survey_measure_offsets);
	survey_read_core_facts(&bench.survey);
	assert_true(bench.report.facts.cores[0].facts_known);
	assert_false(bench.report.facts.cores[1].facts_known);
	assert_int_equal(bench.report.facts.cores[2].facts.tsc_aux, 9);
}

TEST(without_memory_the_cores_are_not_measured)
{
	open_bench(2, PAIR_SCHEDULE_ALL, GHZ);
	bench.survey.memory.cores = 0;
	survey_read_core_facts(&bench.survey);
	run_pass(survey_measure_offsets);
	survey_measure_contended_latencies(&bench.survey);
	survey_check_for_warps(&bench.survey);
	assert_int_equal(threads_count_batches(), 0);
}

/*
 * A reading takes 100 ticks, but 300 ticks on core 2. If the cores read at the same time, each core first waits until
 * all cores are ready.
 */
static void
sample(void *device, struct sample *samples, size_t count)
{
	uint64_t ticks = threads_get_core() == 2 ? 300 : 100;

	if (!bench.turns)
		pthread_barrier_wait(&bench.barrier);
	for (size_t i = 0; i < count; i++)
		samples[i] = (struct sample){ 1000 + i * ticks, i, 1000 + (i + 1) * ticks };
}

static void
never_sample(void *device, struct sample *samples, size_t count)
{
	fail_msg("%zu samples of a clock that is not asked for", count);
}

static size_t
run_all(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	if (!bench.turns)
		return threads_smp.run_all(context, job, argument, bound_ns);
	for (uint32_t core = 0; core < threads_smp.count; core++)
		threads_smp.run_some(context, &core, 1, job, argument, bound_ns);
	bench.turns--;
	return threads_smp.count;
}

static void
dont_wait(void)
{
}

/*
 * Measures four clocks on CORES cores: a main clock, a clock that only one core may read at a time, an alternative
 * read method, and a stuck clock. In the first TURNS attempts the cores read one after another.
 */
static void
contend(size_t cores, size_t turns)
{
	static const struct clock clocks[CLOCKS] = {
		{ .id = "a", .main = "a", .state = CLOCK_PRESENT, .sample = sample },
		{ .id = "b", .main = "b", .state = CLOCK_PRESENT, .sample = never_sample, .one_core_only = true },
		{ .id = "c", .main = "a", .state = CLOCK_PRESENT, .sample = never_sample },
		{ .id = "d", .main = "d", .state = CLOCK_STUCK, .sample = never_sample },
	};

	open_bench_of(threads_start, cores, PAIR_SCHEDULE_ALL, GHZ);
	bench.report.facts.clock_count = CLOCKS;
	for (size_t i = 0; i < CLOCKS; i++)
		bench.report.facts.clocks[i].clock = clocks[i];
	bench.smp.run_all = run_all;
	bench.turns = turns;
	if (turns)
		bench.survey.hooks.pause = dont_wait;
	pthread_barrier_init(&bench.barrier, NULL, (unsigned)cores);
	survey_measure_contended_latencies(&bench.survey);
	pthread_barrier_destroy(&bench.barrier);
}

static void
assert_figures_of(size_t cores)
{
	for (size_t i = 0; i < cores; i++) {
		const struct core_latency *contended = bench.report.facts.cores[i].contended;

		assert_int_equal(contended[0].count, SURVEY_CONTENDED_SAMPLES);
		assert_int_equal(contended[0].min_ns, i == 2 ? 300 : 100);
		assert_int_equal(contended[0].p99_ns, i == 2 ? 300 : 100);
		for (size_t c = 1; c < CLOCKS; c++)
			assert_int_equal(contended[c].count, 0);
	}
}

TEST(a_clock_that_all_cores_read_at_once_has_a_figure_from_each_core)
{
	contend(4, 0);
	assert_figures_of(4);
	assert_int_equal(threads_count_batches(), 1);
}

TEST(a_clock_that_the_cores_read_one_after_another_was_not_contended)
{
	contend(3, 100);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(bench.report.facts.cores[i].contended[0].count, 0);
	assert_int_equal(bench.turns, 96); /* turns was 100 before, so there were four attempts */
}

TEST(cores_that_did_not_read_at_the_same_time_are_measured_again)
{
	contend(3, 2);
	assert_int_equal(bench.turns, 0);
	assert_figures_of(3);
}

TEST(equal_cores_have_no_warp)
{
	open_bench(4, PAIR_SCHEDULE_ALL, GHZ);
	survey_check_for_warps(&bench.survey);
	assert_true(bench.report.facts.warp_checks.locked.measured && bench.report.facts.warp_checks.lock_free.measured);
	assert_int_equal(bench.report.facts.warp_checks.locked.cores, 4);
	assert_int_equal(bench.report.facts.warp_checks.lock_free.cores, 4);
	assert_int_equal(bench.report.facts.warp_checks.locked.iterations, 80000);
	assert_int_equal(bench.report.facts.warp_checks.lock_free.iterations, 80000);
	assert_int_equal(bench.report.facts.warp_checks.locked.warps, 0);
	assert_int_equal(bench.report.facts.warp_checks.lock_free.warps, 0);
	assert_int_equal(bench.survey.memory.warp->slots[1].turns, 20000);
}

TEST(a_core_a_billion_ticks_ahead_has_warps_with_and_without_a_lock)
{
	open_bench(4, PAIR_SCHEDULE_ALL, GHZ);
	threads_cores[2].offset_ticks = 1000000000;
	survey_check_for_warps(&bench.survey);
	assert_true(bench.report.facts.warp_checks.locked.warps > 0 && bench.report.facts.warp_checks.lock_free.warps > 0);
	assert_int_equal(bench.report.facts.warp_checks.locked.worst_a, ID_OF(2));
	assert_int_equal(bench.report.facts.warp_checks.lock_free.worst_a, ID_OF(2));
	assert_int_not_equal(bench.report.facts.warp_checks.locked.worst_b, ID_OF(2));
	assert_in_range(bench.report.facts.warp_checks.lock_free.worst_ticks, 1, 999999999);
}

static void
read_own_tsc(void *device, struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		samples[i].begin = threads_read_tsc();
		samples[i].ticks = samples[i].end = threads_read_tsc();
		threads_pause();
	}
}

/*
 * Opens a bench with four cores. The boot core's TSC stops at the simulated time STOPS_AT, or all TSCs if ALL_STOP is
 * true. If STOPS_AT is 0, no TSC stops.
 */
static void
open_bench_that_stops(uint64_t stops_at, bool all_stop)
{
	static struct latency latency;

	open_bench(4, PAIR_SCHEDULE_ALL, GHZ);
	bench.report.facts.clock_count = 1;
	bench.report.facts.clocks[0] = (struct report_clock){
		.clock = { .id = "tsc", .main = "tsc", .state = CLOCK_PRESENT, .sample = read_own_tsc },
		.latency = &latency,
	};
	for (size_t i = 0; i < (all_stop ? 4 : 1); i++)
		threads_cores[i].stops_at = stops_at;
}

/* Does all measurements that need several cores, in the order of a run. */
static void
measure_together(void)
{
	struct survey *survey = &bench.survey;

	run_pass(survey_measure_offsets);
	survey_measure_latencies_on_cores(survey);
	survey_measure_contended_latencies(survey);
	survey_check_for_warps(survey);
	run_pass(survey_measure_offsets);
	judge_report(&bench.report, &bench.report.outcomes);
}

/*
 * Asserts that earlier results are kept, and that the interrupted measurement has no result: neither a warp nor an
 * offset of 0 ns.
 */
static void
assert_only_the_tsc_is_said_to_have_stopped(void)
{
	const struct report *report = &bench.report;

	(void)assert_only_finding(report, "clock-stuck", "tsc");
	assert_true(report->facts.run.incomplete);
	assert_int_equal(report->figures.skew.warps, 0);
	assert_int_equal(report->figures.skew.passes[0].summary.contradictions, 0);
	assert_false(report->facts.warp_checks.lock_free.measured && !report->facts.warp_checks.locked.measured);
	for (size_t i = 0; i < 4; i++) {
		const struct report_core *core = &report->facts.cores[i];

		assert_true(!core->latency[0].count || core->latency[0].min_ns > 0);
		assert_true(!core->contended[0].count || core->contended[0].min_ns > 0);
		assert_true(!offset_is_known(offset_of(i)) || holds(offset_of(i), 0));
	}
}

/*
 * Each run of the loop stops the TSC about 10 % later than the run before. The first run stops it a few ticks after the
 * start of the rehearsal (a trial run).
 */
TEST(whenever_the_boot_cores_tsc_stops_no_core_is_named)
{
	uint64_t lasted_ticks;

	open_bench_that_stops(0, false);
	measure_together();
	assert_no_finding(&bench.report);
	assert_true(bench.report.figures.skew.pass_count > 1 && bench.report.facts.warp_checks.lock_free.measured);
	assert_true(bench.report.facts.cores[3].latency[0].count && bench.report.facts.cores[3].contended[0].count);
	lasted_ticks = threads_get_time_ticks() - THREADS_WORLD_0;
	for (unsigned all = 0; all < 2; all++)
		for (uint64_t ticks = 300; ticks < lasted_ticks; ticks += ticks / 10) {
			close_bench();
			open_bench_that_stops(THREADS_WORLD_0 + ticks, all);
			measure_together();
			assert_only_the_tsc_is_said_to_have_stopped();
		}
}

TEST(a_tsc_that_stops_during_contended_reads_leaves_no_figure)
{
	for (uint64_t ticks = 100; ticks <= 2000; ticks += 100) {
		open_bench_that_stops(THREADS_WORLD_0 + ticks, false);
		survey_measure_contended_latencies(&bench.survey);
		assert_true(bench.survey.tsc.is_stopped);
		assert_int_equal(threads_count_batches(), 1); /* the measurement is not tried again */
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(bench.report.facts.cores[i].contended[0].count, 0);
		if (ticks < 2000)
			close_bench();
	}
}

/*
 * If the TSC stops during the warp check with a lock, neither this check nor the later one without a lock has a
 * result.
 */
TEST(a_tsc_that_stops_during_the_warp_check_leaves_no_result)
{
	for (unsigned all = 0; all < 2; all++) {
		open_bench_that_stops(THREADS_WORLD_0 + 10000, all);
		survey_check_for_warps(&bench.survey);
		assert_true(threads_get_time_ticks() > THREADS_WORLD_0 + 10000);
		assert_true(bench.survey.tsc.is_stopped);
		assert_false(bench.report.facts.warp_checks.locked.measured || bench.report.facts.warp_checks.lock_free.measured);
		assert_int_equal(bench.report.facts.warp_checks.locked.iterations, 0);
		if (!all)
			close_bench();
	}
}

/* Returns the planned duration of a run with this number of cores. */
static uint64_t
planned_ns(size_t cores)
{
	bench.smp.count = cores;
	return survey_planned_run_ns(&bench.survey);
}

/*
 * A quick run plans 2 ms for each pair in each of two passes, but at most 3 s per pass. It adds SURVEY_SPIN_NS for each
 * core except the boot core, because such a core spins before its measurements.
 */
TEST(the_plan_has_time_for_two_passes)
{
	struct report *report = &bench.report;
	uint64_t alone_ns, pair_ns;

	open_bench(1, PAIR_SCHEDULE_ALL, GHZ);
	alone_ns = planned_ns(1);
	pair_ns = planned_ns(2);
	assert_int_equal(pair_ns - alone_ns, 4 * TICKS_PER_MS + 1000 * TICKS_PER_MS + SURVEY_SPIN_NS);
	assert_int_equal(planned_ns(1000) - alone_ns, 7000 * TICKS_PER_MS + 999 * SURVEY_SPIN_NS);
	report->facts.options.profile = PROFILE_STANDARD;
	alone_ns = planned_ns(1);
	assert_int_equal(planned_ns(1000) - alone_ns, 121000 * TICKS_PER_MS + 999 * SURVEY_SPIN_NS);
}

/*
 * Each clock's check is planned with 7 ms in addition to the clock's own time, because the check wakes all cores
 * together and then each core alone.
 */
TEST(the_plan_has_time_for_a_warp_check_of_each_hypervisors_clock)
{
	struct report *report = &bench.report;
	uint64_t pair_ns[2];

	open_bench(1, PAIR_SCHEDULE_ALL, GHZ);
	for (int i = 0; i < 2; i++) {
		pair_ns[i] = planned_ns(2) - planned_ns(1);
		report->facts.clocks[report->facts.clock_count++].clock = (struct clock){ .id = "kvmclock",
											  .by_tsc = true,
									      .state = CLOCK_PRESENT };
	}
	assert_int_equal(pair_ns[1] - pair_ns[0], 507 * TICKS_PER_MS);
}
