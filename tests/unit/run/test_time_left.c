/*
 * Compares the displayed remaining time with the true one in whole simulated runs, on idle and busy hosts. After a
 * tenth of the run, the display may be wrong by a factor of two at most. Times below a second are displayed as one
 * second.
 */
#include <stdio.h>

#include "test.h"
#include "bench.h"
#include "findings.h"
#include "sim.h"
#include "base/text.h"
#include "threads.h"

#define PS_PER_NS   1000
#define SHOWN_MAX   100000
#define SHOWN_NS    UINT64_C(1000000000) /* unit of the displayed time: a second */
#define MS          UINT64_C(1000000)
#define MANY        40 /* number of cores of a large machine, which has more cores than its host has processors */
#define PREEMPT_PS  UINT64_C(8000000000)
/*
 * Duration of a reading on a busy host, in ticks. In a ping-pong, each reading waits until both virtual cores run at
 * the same time, which rarely happens. In a loop of readings on one core, only the host's share of the time is lost.
 */
#define PAIR_TICKS  1000000
#define LOOP_TICKS  25000

static struct {
	uint64_t begin_ps;
	size_t cores; /* number of cores of a busy host; 0 for an idle host */
	uint64_t interval_ns; /* interval of a soak's rows; 0 for a run without rounds */
	const char *ends_in; /* text of the displayed progress at which the user ends the run; NULL for never */
	uint64_t asked_ns;   /* time at which the user ended the run, or 0 */
	uint64_t left_ns;    /* remaining time in ns that was displayed when the user ended the run */
	size_t count;
	struct {
		uint64_t at_ns, left_ns;
		const char *what;
	} shown[SHOWN_MAX];
} told;

static uint64_t
elapsed_ns(void)
{
	return (sim.now_ps - told.begin_ps) / PS_PER_NS;
}

static void
be_late(uint64_t ticks)
{
	for (size_t i = 0; i < told.cores; i++)
		threads_cores[i].late_ticks = ticks;
}

static void
note(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	be_late(text_equal(what, "warp check") || text_equal(what, "contention") ? LOOP_TICKS : PAIR_TICKS);
	if (told.count == SHOWN_MAX)
		return;
	if (told.ends_in && !told.asked_ns && text_equal(what, told.ends_in)) {
		told.asked_ns = elapsed_ns();
		told.left_ns = survey_remaining_time_ns(done_ns, total_ns, elapsed_ns());
		told.count = 0;
		return;
	}
	told.shown[told.count].what = what;
	told.shown[told.count].at_ns = elapsed_ns();
	told.shown[told.count++].left_ns = survey_remaining_time_ns(done_ns, total_ns, told.asked_ns ? 0 : elapsed_ns());
}

static bool
user_ends_run(void *context)
{
	return told.asked_ns != 0;
}

/* Asserts that the run went through all phases, and ended early only if the user ended it. */
static void
assert_whole(const struct report *report)
{
	assert_true(report->facts.run.ended_early == (told.ends_in != NULL));
	assert_false(report->facts.run.incomplete);
	assert_no_finding(report);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report->facts.clocks[i].clock.state == CLOCK_PRESENT)
			assert_true(report->facts.clocks[i].latency->count != 0);
	for (size_t i = 0; i < report->facts.core_count; i++)
		assert_true(report->figures.cores[i].observed_ns != 0);
	assert_true(report->facts.core_count == 1 || report->figures.skew.pass_count > 0);
}

static void
play(size_t cores, enum options_profile profile, uint64_t duration_ns, uint64_t preempt_every)
{
	struct bench *bench;

	sim_reset();
	sim.preempt_every = preempt_every;
	sim.preempt_ps = PREEMPT_PS;
	sim.accesses_max = UINT64_MAX;
	if (!preempt_every) /* slow accesses, so that the test makes few of them */
		sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 4 * SIM_PS_PER_US;
	sim_slow_tsc_reads(8);
	bench = bench_new();
	bench->duration_ns = duration_ns;
	bench->interval_ns = told.interval_ns;
	bench_open(bench, cores);
	bench->run.report.facts.options.profile = profile;
	if (cores > 1)
		bench_use_threads(bench);
	told.cores = preempt_every ? cores : 0;
	be_late(PAIR_TICKS);
	bench->machine.hooks.progress = bench->run.survey.hooks.progress = note;
	bench->machine.hooks.asked = bench->run.survey.hooks.asked = user_ends_run;
	told.count = 0;
	told.asked_ns = 0;
	told.begin_ps = sim.now_ps;
	(void)bench_run(bench);
	assert_whole(&bench->run.report);
	bench_free(bench);
}

/* Compares the times that were displayed from a tenth of the run until UNTIL_NS. */
static void
assert_told_right_until(uint64_t until_ns)
{
	uint64_t end_ns = elapsed_ns();
	size_t looked = 0;

	for (size_t i = 0; i < told.count; i++) {
		uint64_t left_ns = end_ns - told.shown[i].at_ns, said_ns = told.shown[i].left_ns;

		if (told.shown[i].at_ns < end_ns / 10 || told.shown[i].at_ns > until_ns)
			continue;
		looked++;
		if (said_ns > 2 * left_ns + SHOWN_NS || left_ns > 2 * said_ns + SHOWN_NS)
			fail_msg("%s, %lu ms of %lu: %lu ms said to be left", told.shown[i].what,
				 told.shown[i].at_ns / MS, end_ns / MS, said_ns / MS);
	}
	assert_true(looked > 10);
}

static void
assert_told_right(void)
{
	assert_told_right_until(UINT64_MAX);
}

TEST(quick_run_of_one_core)
{
	play(1, PROFILE_QUICK, 100 * MS, 0);
	assert_told_right();
}

TEST(standard_run_of_one_core)
{
	play(1, PROFILE_STANDARD, 300 * MS, 0);
	assert_told_right();
}

TEST(quick_run_of_four_cores)
{
	play(4, PROFILE_QUICK, 100 * MS, 0);
	assert_told_right();
}

TEST(quick_run_of_four_cores_on_a_busy_host)
{
	play(4, PROFILE_QUICK, 100 * MS, 20000);
	assert_told_right();
}

/*
 * The rounds of this soak take more than half of its time. Its end is not compared, because this machine's checks take
 * less than half of the planned 10 s.
 */
TEST(soak_with_rounds)
{
	told.interval_ns = SHOWN_NS;
	play(1, PROFILE_SOAK, 1500 * MS, 0);
	told.interval_ns = 0;
	assert_told_right_until(elapsed_ns() * 3 / 4);
}

/*
 * The user ends a soak. After the present measurement on a core, the rest of the run takes as long as in a quick run.
 * The display must show this shorter time at once.
 */
TEST(soak_that_is_ended_early)
{
	static const char *const moments[] = { "rates", "latency", "cores", "pairs of cores", "gaps" };
	const uint64_t duration_ns = 250 * MS;

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		told.ends_in = moments[i];
		play(2, PROFILE_SOAK, duration_ns, 0);
		told.ends_in = NULL;
		assert_true(told.asked_ns != 0);
		if (elapsed_ns() - told.asked_ns > told.left_ns / 2 + duration_ns)
			fail_msg("asked in %s: %lu ms were left, and it took %lu", moments[i], told.left_ns / MS,
				 (elapsed_ns() - told.asked_ns) / MS);
		assert_told_right();
	}
}

/*
 * Does a run with MANY cores on a host that takes JOB_MS to start a job on each core. The run must end before its
 * deadline, and pass.
 */
static struct bench *
play_many(uint64_t job_ms, uint64_t deadline_s)
{
	struct bench *bench;

	sim_reset();
	sim.accesses_max = UINT64_MAX;
	sim_slow_tsc_reads(8);
	bench = bench_new();
	bench->duration_ns = 10 * MS;
	bench_open(bench, MANY);
	bench_use_threads(bench);
	bench->run.begin_tsc = bench->run.survey.hooks.tsc_ordered();
	bench->job_ps = job_ms * SIM_PS_PER_MS;
	told.cores = MANY;
	be_late(PAIR_TICKS);
	bench->machine.hooks.progress = bench->run.survey.hooks.progress = note;
	told.count = 0;
	told.begin_ps = sim.now_ps;
	bench->deadline_ms = sim.now_ps / SIM_PS_PER_MS + deadline_s * 1000;
	bench->run.report.facts.options.deadline_ns = deadline_s * 1000 * MS;
	(void)bench_run(bench);
	assert_false(bench->run.report.facts.run.incomplete);
	assert_no_finding(&bench->run.report);
	assert_int_equal(bench->run.report.outcomes.verdict, VERDICT_PASS);
	return bench;
}

/* Returns the number of warp checks that were left out for lack of time. */
static size_t
count_left_out(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		count += strcmp(row->rule, "tsc-warp") == 0 && !row->checked && row->unchecked == UNCHECKED_TIME;
	}
	return count;
}

static size_t
count_facts(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < MANY; i++)
		count += report->facts.cores[i].facts_known;
	return count;
}

/* All parts of the run must end in time and have at least some figures, so no part may use the time of the others. */
TEST(forty_cores_that_start_in_5_ms_are_all_checked_for_warps)
{
	struct bench *bench = play_many(5, 24);
	const struct report *report = &bench->run.report;
	size_t read = 0, watched = 0;

	for (size_t i = 0; i < MANY; i++) {
		read += report->facts.cores[i].latency[0].count != 0;
		watched += report->figures.cores[i].observed_ns != 0;
	}
	assert_in_range(read, 2, MANY - 1);
	assert_int_equal(watched, MANY);
	assert_int_equal(count_facts(report), MANY);
	assert_true(report->facts.warp_checks.locked.measured && report->facts.warp_checks.lock_free.measured);
	assert_true(report->figures.skew.pass_count > 1);
	assert_int_equal(count_left_out(report), 0);
	assert_true(has_note(report, " of 40 cores: reading on more would have taken too much of the time left."));
	bench_free(bench);
}

TEST(forty_cores_that_start_in_50_ms_have_no_warp_checks_and_the_report_says_so)
{
	struct bench *bench = play_many(50, 24);
	const struct report *report = &bench->run.report;

	assert_int_equal(count_facts(report), MANY);
	assert_int_equal(count_left_out(report), 2);
	assert_false(report->facts.warp_checks.locked.measured || report->facts.warp_checks.lock_free.measured);
	assert_non_null(strstr(report->outcomes.unjudged, "3 for lack of time")); /* both warp checks, and hpet-torn */
	assert_true(report->figures.skew.pass_count > 1);
	bench_free(bench);
}

/* With 500 ms per core, one job on all cores takes 20 s, which is longer than any part of the run may take. */
TEST(forty_cores_that_start_in_500_ms_have_some_figures_and_a_note_on_the_rest)
{
	struct bench *bench = play_many(500, 60);
	const struct report *report = &bench->run.report;
	size_t facts = count_facts(report);
	char note[REPORT_SENTENCE];

	assert_in_range(facts, 2, MANY - 1);
	snprintf(note, sizeof(note), "were not checked on %zu of 40 cores", MANY - facts);
	assert_true(has_note(report, note));
	assert_int_equal(count_left_out(report), 2);
	bench_free(bench);
}
