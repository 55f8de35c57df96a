/* The calibration loops in a run on the simulated machine: 1 GHz, an HPET, a PM timer and a PIT. */
#include "test.h"
#include "bench.h"
#include "calibrations/calibrations.h"
#include "measure/survey_plan.h"
#include "run/run_calibrations.h"
#include "sim.h"

static struct bench *bench;

static int
open_bench(void **state)
{
	(void)state;
	sim_reset();
	sim_interrupts_plug();
	bench = bench_new();
	bench->duration_ns = 1000000;
	return 0;
}

static int
close_bench(void **state)
{
	(void)state;
	bench_free(bench);
	return 0;
}

TEST_FIXTURE(open_bench, close_bench);

static const struct report *
play(void)
{
	bench_open(bench, 1);
	bench->machine.calibrations = calibrations;
	survey_prepare(&bench->run.survey);
	survey_rates(&bench->run.survey);
	sim.masked_longest_ps = 0;
	run_calibrations(&bench->run);
	return &bench->run.report;
}

static const struct report_calibration *
row_of(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->calibration_count; i++)
		if (strcmp(report->calibrations[i].loop->id, id) == 0)
			return &report->calibrations[i];
	fail_msg("no loop %s", id);
	return NULL;
}

static const struct report *
analyse(void)
{
	run_close(&bench->run);
	return &bench->run.report;
}

TEST(a_quick_run_has_up_to_three_runs_of_each_loop_in_300_ms)
{
	uint64_t begin_ps;
	const struct report *report;

	(void)play();
	begin_ps = sim.now_ps;
	run_calibrations(&bench->run);
	assert_true(sim.now_ps - begin_ps <= 300 * SIM_PS_PER_MS);
	report = analyse();
	for (size_t i = 0; calibrations[i]; i++) {
		const struct report_calibration *row = &report->calibrations[i];

		assert_ptr_equal(row->loop, calibrations[i]);
		assert_string_equal(row->reason, "");
		assert_true(row->runs >= 1);
		assert_int_equal(row->refused, 0);
		assert_true(row->median.known && row->worst.known);
	}
	assert_int_equal(row_of(report, "linux_pit")->runs, 6); /* it was played twice */
	assert_true(row_of(report, "linux_pit")->worst.high < 489000);
	assert_true(row_of(report, "linux_pit")->worst.low > -489000);
	assert_true(row_of(report, "linux_lapic")->worst.value < 10000);
	assert_true(row_of(report, "linux_lapic")->worst.value > -10000);
	assert_memory_equal(report->calibrated, "Linux's calibration loop for the TSC, run here, is wrong by up to "
						"", 66);
}

TEST(a_loop_whose_device_is_missing_has_the_reason)
{
	const struct report *report;

	sim.pit.absent = true;
	(void)play();
	report = analyse();
	assert_string_equal(row_of(report, "linux_pit")->reason, "No PIT can be read in this run.");
	assert_int_equal(row_of(report, "linux_pit")->runs, 0);
	assert_true(row_of(report, "linux_reference")->runs >= 1);
}

/* The third try has as much time as the first two: each takes 50 ms without a PIT. */
TEST(linuxs_slower_loop_without_a_pit_is_run_only_if_151_ms_are_left)
{
	sim.pit.absent = true;
	bench_open(bench, 1);
	bench->machine.calibrations = (const struct calibration_loop *const[]){ &calibration_linux_reference, NULL };
	survey_prepare(&bench->run.survey);
	survey_rates(&bench->run.survey);
	bench->run.survey.deadline_tsc = hw_tsc() + 150000000;
	run_calibrations(&bench->run);
	assert_string_equal(bench->run.report.calibrations[0].reason, "There was no time for it.");
	bench->run.survey.deadline_tsc = hw_tsc() + 152000000;
	run_calibrations(&bench->run);
	assert_string_equal(bench->run.report.calibrations[0].reason, "");
	assert_true((int64_t)(bench->run.survey.deadline_tsc - hw_tsc()) > 0);
}

static struct {
	uint64_t total_ns, last_ns;
	size_t count;
} shown;

static void
show_progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	(void)context;
	assert_string_equal(what, "calibrations");
	assert_true(done_ns >= shown.last_ns && done_ns <= total_ns);
	shown.total_ns = total_ns;
	shown.last_ns = done_ns;
	shown.count++;
}

TEST(the_plan_has_the_loops_time_and_each_round_is_shown)
{
	struct survey *survey = &bench->run.survey;

	bench_open(bench, 1);
	assert_int_equal(survey->calibrations_ns, 0);
	survey_prepare(survey);
	shown.total_ns = survey->total_ns;
	bench->machine.calibrations = calibrations;
	survey->calibrations_ns = survey_calibrations_ns(survey->report);
	survey_prepare(survey);
	assert_int_equal(survey->total_ns - shown.total_ns, 300 * UINT64_C(1000000));
	survey_rates(survey);
	shown.count = 0;
	shown.last_ns = 0;
	survey->hooks.progress = show_progress;
	run_calibrations(&bench->run);
	assert_int_equal(shown.count, 3); /* one for each round of quick */
	assert_true(shown.last_ns > survey->done_ns - survey->calibrations_ns);
	assert_int_equal(survey->done_ns + survey->timers_ns, survey->total_ns);
}

TEST(clocks_that_are_not_in_the_run_are_not_touched)
{
	static const char *const ids[] = { "tsc", "hpet", NULL };
	const struct report *report;

	bench->clocks = ids;
	(void)play();
	report = analyse();
	assert_string_equal(row_of(report, "linux_pit")->reason, "No PIT can be read in this run.");
	assert_string_equal(row_of(report, "edk2")->reason, "No PM timer can be read in this run.");
	assert_int_equal(sim.pit.channels[2].writes, 0);
}

TEST(before_the_deadline_nothing_is_begun_that_does_not_fit)
{
	const struct report *report;

	bench_open(bench, 1);
	bench->machine.calibrations = calibrations;
	survey_prepare(&bench->run.survey);
	bench->run.survey.deadline_tsc = hw_tsc() + 10000000; /* 10 ms */
	run_calibrations(&bench->run);
	report = analyse();
	assert_string_equal(row_of(report, "edk2")->reason, "");
	assert_string_equal(row_of(report, "linux_lapic")->reason, "There was no time for it.");
	assert_string_equal(row_of(report, "valkey")->reason, "There was no time for it.");
}

TEST(a_short_duration_shortens_the_loops_of_the_longer_profiles)
{
	static const struct {
		enum options_profile profile;
		uint64_t duration_ms, budget_ms;
	} rows[] = {
		{ PROFILE_QUICK, 10, 300 }, { PROFILE_QUICK, 1000, 300 },
		{ PROFILE_STANDARD, 10, 300 }, { PROFILE_STANDARD, 100, 1000 }, { PROFILE_STANDARD, 1000, 10000 },
		{ PROFILE_STANDARD, 10000, 10000 }, { PROFILE_SOAK, 1000, 10000 }, { PROFILE_SOAK, 10000, 60000 },
	};
	struct report *report = &bench->run.report;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report->options.profile = rows[i].profile;
		report->options.duration_ns = rows[i].duration_ms * UINT64_C(1000000);
		assert_int_equal(survey_calibrations_ns(report), rows[i].budget_ms * UINT64_C(1000000));
	}
}
