/*
 * Tests of soaks that simulate a day. A fault that appears only after hours must be found, together with its time. A
 * healthy machine must have no findings. In each round the machine rests for most of a quarter of an hour, so that a
 * day has few accesses.
 */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "sim.h"
#include "base/text.h"
#include "threads.h"

#define S        UINT64_C(1000000000)
#define HOUR_PS  (3600 * SIM_PS_PER_S)
#define DAY_PS   (24 * HOUR_PS)
#define REST_PS  (600 * SIM_PS_PER_S)
/*
 * Factor for the duration of each access, so that a day has fewer accesses. Slow accesses are no fault in these tests.
 * Tests of a rate use half of this factor.
 */
#define SLOW     20
/* denominator of the HPET's rate in Hz, so that the rate of 10 MHz can change in relative steps of 10^-15 */
#define PER_TICK UINT64_C(100000000)

static const char *const clocks[] = { "tsc", "hpet", "acpi_pm", NULL };

static struct {
	struct bench *bench;
	uint64_t begin_ps, round;
	int64_t walk_ppb;   /* change of the HPET's rate over the whole day, in ppb */
	bool interference;  /* true if time is stolen in the eleventh hour */
} day;

static void
set_hpet_rate(int64_t ppb)
{
	sim_counter_set(&sim.hpet.counter, sim_counter_get_ticks(&sim.hpet.counter));
	sim.hpet.counter.hz = (struct rate){ 10000000 * PER_TICK + (uint64_t)(ppb * (int64_t)(PER_TICK / 100)), PER_TICK };
}

static void
pass_time(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	const struct survey *survey = &day.bench->run.survey;
	uint64_t into_ps;

	assert_true(done_ns <= total_ns);
	if (!text_equal(what, "gaps") || survey->soak.round == day.round)
		return;
	day.round = survey->soak.round;
	sim_advance_ps(REST_PS);
	into_ps = sim.now_ps - day.begin_ps;
	if (day.walk_ppb)
		set_hpet_rate(day.walk_ppb * (int64_t)(into_ps / SIM_PS_PER_S) / (int64_t)(DAY_PS / SIM_PS_PER_S));
	sim.preempt_every = day.interference && into_ps > 10 * HOUR_PS && into_ps < 11 * HOUR_PS ? 1000 : 0;
}

static const struct report *
soak_for_a_day(size_t cores, int64_t drift_ppb, uint64_t seed)
{
	struct options *options;
	struct bench *bench;

	sim_reset();
	sim.accesses_max = UINT64_MAX;
	for (size_t i = 0; i < SIM_ACCESSES; i++)
		sim.cost_ps[i] *= day.walk_ppb ? SLOW / 2 : SLOW;
	sim_slow_tsc_reads(8);
	sim.preempt_ps = 50 * SIM_PS_PER_US;
	sim.preempt_seed = seed;
	sim_advance_ps(seed * 7654321987);
	if (cores == 1) /* with threads, one nanosecond is always one tick of the TSC, so its rate cannot change */
		sim_counter_speed_up(&sim.tsc.counter, (int64_t)(seed % 7) * 10 - 30);
	day.bench = bench = bench_new();
	bench->duration_ns = 144 * (S / 4) / (cores == 1 ? 5 : 6);
	bench->interval_ns = S;
	bench->deadline_ms = (sim.now_ps + 2 * DAY_PS) / SIM_PS_PER_MS; /* the rests between the rounds are not planned */
	bench->clocks = clocks;
	bench_open(bench, cores);
	options = &bench->run.report.facts.options;
	options->limits[options->limit_count++] = (struct options_limit){ "clock-slow", 1000000 };
	options->limits[options->limit_count++] = (struct options_limit){ "tsc-step", 1000000 };
	if (cores > 1)
		bench_use_threads(bench);
	if (cores > 1)
		threads_cores[1].drift_ppb = drift_ppb;
	bench->machine.hooks.progress = bench->run.survey.hooks.progress = pass_time;
	day.begin_ps = sim.now_ps;
	day.round = 0;
	(void)bench_run(bench);
	assert_false(bench->run.report.facts.run.incomplete);
	assert_in_range(sim.now_ps - day.begin_ps, 23 * HOUR_PS, 26 * HOUR_PS);
	assert_true(bench->run.report.facts.series.count > 100);
	return &bench->run.report;
}

static void
end(void)
{
	bench_free(day.bench);
	memset(&day, 0, sizeof(day));
}

TEST_FIXTURE(NULL, end);

TEST(a_healthy_machine_has_no_finding)
{
	for (uint64_t seed = 0; seed < 4; seed++) {
		const struct report *report = soak_for_a_day(1, 0, seed);

		assert_no_finding(report);
		for (size_t i = 0; i < report->notes.count; i++)
			print_message("%s\n", report->notes.sentences[i]);
		assert_int_equal(report->notes.count, 0);
		end();
	}
}

TEST(a_clock_whose_rate_changes_by_300_ppb_is_found_with_the_time)
{
	const struct report *report;
	const struct finding *finding;

	day.walk_ppb = 300;
	report = soak_for_a_day(1, 0, 1);
	finding = assert_only_finding(report, "rate-trend", "hpet");
	assert_in_range(finding->low, 101, 300);
	assert_in_range(finding->high, 298, 500);
	assert_non_null(strstr(finding->text, "The rate of hpet changed by +0.3 ppm"));
	assert_non_null(strstr(finding->text, "from its rate between 10.0 s and "));
	assert_non_null(strstr(finding->text, " to its rate between 8"));
}

TEST(a_core_that_drifts_by_2_ppb_is_found_and_each_row_shows_it)
{
	const struct report *report = soak_for_a_day(2, 2, 1);
	const struct finding *finding = assert_only_finding(report, "tsc-drift", "tsc");
	const struct series *series = &report->facts.series;

	assert_in_range(finding->low, 1, 2);
	assert_in_range(finding->high, 2, 3);
	for (size_t r = 20; r < series->count; r += 20)
		assert_true(series->rows[r].offsets[1].low > series->rows[r - 20].offsets[1].high);
}

TEST(an_hour_with_stolen_time_is_found_with_the_time)
{
	const struct report *report;
	uint64_t in = 0, out = 0;

	day.interference = true;
	report = soak_for_a_day(1, 0, 1);
	assert_no_finding(report);
	for (size_t r = 0; r < report->facts.series.count; r++) {
		const struct series_row *row = &report->facts.series.rows[r];
		uint64_t from_s = (row->from_tsc - report->facts.run.start_tsc) / S,
				  to_s = (row->to_tsc - report->facts.run.start_tsc) / S;

		if (to_s > 10 * 3600 && from_s < 11 * 3600)
			in += row->gaps;
		else
			out += row->gaps;
	}
	assert_true(in > 32);
	assert_int_equal(out, 0);
	assert_int_equal(report->notes.count, 1);
	assert_non_null(strstr(report->notes.sentences[0], "Time was stolen mostly between 3"));
}
