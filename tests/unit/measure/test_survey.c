/*
 * All measurements on the simulated machine. The test sets the duration of each access and the rates, so it knows
 * every result. Each fault that the test causes must be found.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "bench.h"
#include "judge/judge.h"
#include "sim.h"

#define CORES      4
#define MILLION    INT64_C(1000000)
#define NS_PER_MS  UINT64_C(1000000)

static struct bench *bench;

/* Makes a bench for the test, which may still change the machine. bench_open() then opens the drivers. */
static void
set_up(void)
{
	sim_reset();
	sim.accesses_max = UINT64_MAX;
	bench = bench_new();
}

static void
tear_down(void)
{
	bench_free(bench);
}

TEST_FIXTURE(set_up, tear_down);

static void
open_and_measure_rates(void)
{
	bench_open(bench, 1);
	bench_measure_rates(bench);
}

static void
measure(void)
{
	bench_measure_rates(bench);
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	survey_measure_latencies_on_cores(&bench->run.survey);
}

/*
 * Asserts that the interval contains the true rate, in thousandths of a hertz, and extends at most WIDTH_PPM to each
 * side.
 */
static void
assert_rate(const struct clock_figures *figures, uint64_t truth_millihz, uint64_t width_ppm)
{
	const struct interval_millihz *rate = &figures->measured;

	assert_true(rate->known);
	assert_in_range(truth_millihz, rate->low, rate->high);
	assert_in_range(rate->value, rate->low, rate->high);
	assert_true(rate->high - rate->low <= 2 * truth_millihz * width_ppm / MILLION + 2);
}

TEST(every_interval_contains_the_true_rate_and_is_within_5_ppm)
{
	bench_open(bench, 1);
	measure();
	assert_rate(bench_find_figures(bench, "tsc"), UINT64_C(1000000000000), 5);
	assert_rate(bench_find_figures(bench, "hpet"), UINT64_C(10000000000), 5);
	assert_rate(bench_find_figures(bench, "acpi_pm"), UINT64_C(3579545000), 5);
	assert_rate(bench_find_figures(bench, "pit"), UINT64_C(1193181818), 5);
	assert_rate(bench_find_figures(bench, "rtc"), 1000, 5);
}

TEST(latencies_are_the_durations_that_were_set)
{
	/*
	 * A latency includes 20 ns for the two bracketing TSC reads. A read of the HPET's low half takes 300 ns, and a
	 * port read of the PM timer 500 ns.
	 */
	static const struct {
		const char *id;
		uint64_t ns;
	} expected[] = { { "null", 20 }, { "tsc", 30 }, { "tsc_lfence", 40 }, { "tsc_rdtscp", 45 },
			 { "tsc_cpuid", 130 }, { "hpet_32", 320 }, { "acpi_pm", 520 } };

	bench_open(bench, 1);
	measure();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct latency *latency = bench_find_clock(bench, expected[i].id)->latency;

		assert_true(latency->count > 100);
		assert_int_equal(latency->min_ns, expected[i].ns);
		assert_int_equal(latency->max_ns, expected[i].ns);
		assert_int_equal(latency->exact[expected[i].ns], latency->count);
		assert_int_equal(latency_percentile_ns(latency, 50000), expected[i].ns);
		assert_int_equal(latency_loop_time_ps(latency, &bench->run.survey.scale), expected[i].ns * 1000);
	}
}

/*
 * If the RTC is the only reference, the TSC's rate is unknown before the first edge. A TSC of 4 GHz must not look like
 * a dead RTC.
 */
TEST(an_rtc_alone_gives_the_rate_of_a_fast_tsc)
{
	sim.tsc.counter.hz = (struct rate){ UINT64_C(4000000000), 1 };
	bench_open(bench, 1);
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++)
		if (strcmp(bench->run.report.facts.clocks[i].clock.id, "rtc") != 0 &&
		    strcmp(bench->run.report.facts.clocks[i].clock.id, "tsc") != 0)
			bench->run.report.facts.clocks[i].clock.state = CLOCK_ABSENT;
	bench_find_clock(bench, "tsc")->clock.claimed = (struct rate){ 0, 0 };
	measure();
	assert_int_equal(bench_find_clock(bench, "rtc")->clock.state, CLOCK_PRESENT);
	assert_rate(bench_find_figures(bench, "tsc"), UINT64_C(4000000000000), 2000);
	assert_int_equal(bench->run.report.notes.count, 1); /* the note that all rates depend on the RTC alone */
}

/*
 * The readings of the PIT are 40 ms apart, as if a host preempts the guest's core in every reading. In this time the
 * PIT counts through most of its range, because it wraps after 55 ms.
 */
TEST(a_pit_that_is_read_every_40_ms_never_steps_back)
{
	open_and_measure_rates();
	sim.pit.extra_ps = 20 * SIM_PS_PER_MS;
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	assert_in_range(bench_find_clock(bench, "pit")->latency->min_ns, 28 * NS_PER_MS, 54 * NS_PER_MS);
	assert_int_equal(bench_find_clock(bench, "pit")->monotonic.backward, 0);
	assert_int_equal(bench_find_clock(bench, "pit")->clock.state, CLOCK_PRESENT);
}

/* Without a nominal rate, it is not known how long the PIT takes to wrap. */
TEST(a_pit_without_a_nominal_rate_never_steps_back)
{
	bench_open(bench, 1);
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	bench_find_clock(bench, "pit")->clock.claimed = (struct rate){ 0, 0 };
	survey_measure_rates(&bench->run.survey);
	sim.preempt_every = 3000;
	sim.preempt_ps = 40 * SIM_PS_PER_MS; /* less than the 55 ms in which the PIT wraps */
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	assert_true(bench_find_clock(bench, "pit")->latency->count > 0);
	assert_int_equal(bench_find_clock(bench, "pit")->monotonic.backward, 0);
	assert_int_equal(bench_find_clock(bench, "pit")->clock.state, CLOCK_PRESENT);
}

static void
step_hpet_soon(void)
{
	sim.hpet.counter.backward_at_ps = sim.now_ps + 20 * SIM_PS_PER_US;
}

TEST(a_step_back_of_500_ticks_is_counted_once_with_its_size)
{
	open_and_measure_rates();
	sim.hpet.counter.backward_ticks = 500;
	bench_call_before_batch(bench, "hpet", 5, step_hpet_soon);
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	assert_int_equal(bench_find_clock(bench, "hpet")->monotonic.backward, 1);
	/* the observed step is smaller, because the HPET advances during a read */
	assert_in_range(bench_find_clock(bench, "hpet")->monotonic.worst_ticks, 480, 500);
	assert_int_equal(bench_find_clock(bench, "acpi_pm")->monotonic.backward, 0);
}

TEST(a_jump_of_500_ticks_is_counted_once_with_its_time)
{
	uint64_t jumped_us, failed_ns;

	open_and_measure_rates();
	sim.hpet.counter.backward_ticks = 0 - UINT64_C(500);
	bench_call_before_batch(bench, "hpet", 5, step_hpet_soon);
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	assert_int_equal(bench_find_clock(bench, "hpet")->monotonic.leaps, 1);
	/* the HPET may advance by 100 ticks during a read */
	assert_in_range(bench_find_clock(bench, "hpet")->monotonic.last_leap_ticks, 400, 500);
	analysis_calculate_discontinuities(bench->run.survey.record.bytes, bench->run.survey.record.length,
					   &bench->run.report, &bench->run.report.figures);
	judge_report(&bench->run.report, &bench->run.report.outcomes);
	assert_string_equal(bench->run.report.outcomes.findings[0].rule, "clock-jumped");
	assert_string_equal(bench->run.report.outcomes.findings[0].clock, "hpet");
	assert_non_null(strstr(bench->run.report.outcomes.findings[0].text, "hpet jumped ahead by 50."));
	failed_ns = report_run_time_ns(&bench->run.report,
				       report_get_failure_tsc(&bench->run.report, bench_find_clock(bench, "hpet")));
	jumped_us = sim.hpet.counter.backward_at_ps / SIM_PS_PER_US;
	assert_in_range(failed_ns / 1000, jumped_us, jumped_us + 5000);
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++) {
		bool is_hpet = strcmp(bench->run.report.facts.clocks[i].clock.id, "hpet") == 0;

		assert_int_equal(bench->run.report.facts.clocks[i].monotonic.backward, 0);
		assert_int_equal(bench->run.report.facts.clocks[i].monotonic.leaps, is_hpet);
		assert_int_equal(bench->run.report.facts.clocks[i].latency_discontinuities, is_hpet);
	}
}

TEST(a_preempted_core_causes_no_jump_and_no_step_back)
{
	open_and_measure_rates();
	sim.preempt_every = 3000;
	sim.preempt_ps = 7 * SIM_PS_PER_MS;
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++) {
		assert_int_equal(bench->run.report.facts.clocks[i].monotonic.backward, 0);
		assert_int_equal(bench->run.report.facts.clocks[i].monotonic.leaps, 0);
		assert_int_equal(bench->run.report.facts.clocks[i].clock.state, CLOCK_PRESENT);
	}
}

TEST(a_clock_that_stops_before_its_measurement_is_stuck_and_no_other_clock)
{
	open_and_measure_rates();
	sim.pm.counter.stuck_at_ps = sim.now_ps;
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	assert_int_equal(bench_find_clock(bench, "acpi_pm")->clock.state, CLOCK_STUCK);
	assert_non_null(strstr(bench_find_clock(bench, "acpi_pm")->clock.reason, "did not change"));
	assert_true(bench_find_clock(bench, "acpi_pm")->failed_tsc);
	assert_true(bench_find_clock(bench, "acpi_pm")->latency->count > 0);
	assert_int_equal(bench_find_clock(bench, "hpet")->clock.state, CLOCK_PRESENT);
}

TEST(an_rtc_whose_seconds_stop_delays_the_run_by_a_second_only)
{
	bench_open(bench, 1);
	sim.rtc.b |= 0x80; /* the SET bit in register B, which stops the RTC's updates */
	bench_measure_rates(bench);
	assert_int_equal(bench_find_clock(bench, "rtc")->clock.state, CLOCK_STUCK);
	assert_true(sim.now_ps < 4 * SIM_PS_PER_S);
	assert_rate(bench_find_figures(bench, "tsc"), UINT64_C(1000000000000), 5);
	sim.rtc.b &= 0x7f;
}

TEST(the_deadline_keeps_what_was_measured)
{
	open_and_measure_rates();
	/* the deadline passes during the measurement, in which each clock would be read for 20 ms */
	bench->deadline_ms = sim.now_ps / SIM_PS_PER_MS + 50;
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	survey_measure_latencies_on_cores(&bench->run.survey);
	assert_in_range(sim.now_ps / SIM_PS_PER_MS, bench->deadline_ms, bench->deadline_ms + 3);
	assert_true(bench->run.report.facts.run.incomplete);
	assert_true(bench_find_clock(bench, "tsc")->latency->count > 0);
	assert_true(bench_find_clock(bench, "null")->latency->count > 0);
	assert_int_equal(bench->run.report.notes.count, 1);
}

static void
spend_as_long_as_a_batch(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	sim.now_ps += 100 * SIM_PS_PER_US;
}

/* The time between batches, for example of their evaluation, belongs to the time of the clock. */
TEST(reading_the_clocks_takes_the_planned_time_although_batches_are_not_all_of_it)
{
	uint64_t begin_ps;

	open_and_measure_rates();
	bench->run.survey.hooks.progress = spend_as_long_as_a_batch;
	begin_ps = sim.now_ps;
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	assert_in_range((sim.now_ps - begin_ps) / SIM_PS_PER_MS, 18 * bench->run.report.facts.clock_count,
			22 * bench->run.report.facts.clock_count);
}

TEST(each_core_has_its_own_latency)
{
	size_t hpet;

	bench_open(bench, CORES);
	measure();
	hpet = (size_t)(bench_find_clock(bench, "hpet_32") - bench->run.report.facts.clocks);
	for (size_t core = 0; core < CORES; core++) {
		assert_true(bench->run.report.facts.cores[core].latency[hpet].count > 0);
		assert_int_equal(bench->run.report.facts.cores[core].latency[hpet].min_ns, 320);
		assert_int_equal(bench->run.report.facts.cores[core].latency[hpet].p99_ns, 320);
	}
}

/*
 * Simulates cores whose frequency is lower after a halt: all accesses except pauses take twice as long for 12 ms. A
 * core counts as halted if it had no job for 10 ms.
 */
static struct {
	bool (*run)(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns);
	uint64_t ended_ps[CORES], woken_ps[CORES];
	unsigned halts[CORES];
} cold;

static bool
run_cold(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	bool came_back;

	if (sim.now_ps - cold.ended_ps[core] > 10 * SIM_PS_PER_MS || !cold.halts[core]) {
		cold.woken_ps[core] = sim.now_ps;
		cold.halts[core]++;
	}
	came_back = cold.run(context, core, job, argument, bound_ns);
	cold.ended_ps[core] = sim.now_ps;
	return came_back;
}

static void
slow_down(enum sim_access access, uint64_t where)
{
	if (sim.core && access != SIM_PAUSE && sim.now_ps - cold.woken_ps[sim.core] < 12 * SIM_PS_PER_MS)
		sim.now_ps += sim.cost_ps[access];
}

TEST(a_core_that_is_slow_after_a_halt_is_measured_at_full_speed)
{
	bench_open(bench, CORES);
	memset(&cold, 0, sizeof(cold));
	cold.run = bench->run.smp.run;
	bench->run.survey.hooks.spin_ns = SURVEY_SPIN_NS;
	bench->run.smp.run = run_cold;
	sim.spent = slow_down;
	measure();
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++)
		for (size_t core = 1; core < CORES; core++) {
			const struct core_latency *boot = &bench->run.report.facts.cores[0].latency[i];
			const struct core_latency *latency = &bench->run.report.facts.cores[core].latency[i];

			assert_true(latency->count > 0);
			assert_int_equal(latency->min_ns, boot->min_ns);
			assert_int_equal(latency->p99_ns, boot->p50_ns);
		}
	sim.spent = NULL;
}

static uint64_t slow_ps; /* each access takes three times as long for 2/5 of this time, and then normally for 3/5 */

static void
slow_down_at_times(enum sim_access access, uint64_t where)
{
	if (access != SIM_PAUSE && sim.now_ps % slow_ps < slow_ps / 5 * 2)
		sim.now_ps += 2 * sim.cost_ps[access];
}

/*
 * A host is slow at times, which are longer than the time in which a core reads one clock. The cost of a read is the
 * difference of two typical durations, so the slow times must not fall on one of the two clocks only. A read of the TSC
 * takes 10 ns.
 */
TEST(a_host_that_is_slow_at_times_does_not_change_the_cost_of_a_read)
{
	static const uint64_t times_ms[] = { 50, 5 }; /* on the boot core, and on the others */
	struct report *report = &bench->run.report;

	bench_open(bench, CORES);
	bench_measure_rates(bench);
	sim.spent = slow_down_at_times;
	slow_ps = times_ms[0] * SIM_PS_PER_MS;
	survey_measure_latencies_on_boot_core(&bench->run.survey);
	slow_ps = times_ms[1] * SIM_PS_PER_MS;
	survey_measure_latencies_on_cores(&bench->run.survey);
	sim.spent = NULL;
	for (size_t core = 0; core < CORES; core++) {
		const struct core_latency *latency = report->facts.cores[core].latency;
		uint64_t tsc_ps = latency[bench_find_clock(bench, "tsc") - report->facts.clocks].typical_ps;
		uint64_t null_ps = latency[bench_find_clock(bench, "null") - report->facts.clocks].typical_ps;

		assert_in_range(tsc_ps - null_ps, 9000, 11000);
	}
}

static size_t
findings_of(const struct report *report, const char *rule)
{
	size_t count = 0;

	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		count += strcmp(report->outcomes.findings[i].rule, rule) == 0;
	return count;
}

static void
watch_and_judge(void)
{
	struct survey *survey = &bench->run.survey;

	survey_observe_gaps(survey);
	survey_read_and_compare_clocks(survey);
	analysis_calculate_gaps(survey->record.bytes, survey->record.length, &bench->run.report, &bench->run.report.figures);
	analysis_calculate_discontinuities(survey->record.bytes, survey->record.length, &bench->run.report,
					   &bench->run.report.figures);
	bench->machine.describe_cores(bench, &bench->run.report);
	judge_report(&bench->run.report, &bench->run.report.outcomes);
}

static void
step_hpet_back(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	if (done_ns < 1500 * NS_PER_MS || sim.hpet.counter.backward_ticks)
		return;
	sim.hpet.counter.backward_at_ps = sim.now_ps;
	sim.hpet.counter.backward_ticks = 1000000; /* 100 ms */
}

/*
 * The search for gaps reads only the TSC for 3 s. The PM timer may have wrapped after 1.17 s without a reading, so it
 * cannot confirm the fault.
 */
TEST(a_hpet_that_steps_back_in_the_search_for_gaps_is_named)
{
	static const char *const ids[] = { "tsc", "hpet", "acpi_pm", NULL };
	struct report *report = &bench->run.report;

	bench->clocks = ids;
	bench_open(bench, 1);
	measure();
	report->facts.options.profile = PROFILE_STANDARD;
	report->duration_ns = 3000 * NS_PER_MS;
	bench->run.survey.hooks.progress = step_hpet_back;
	sim.cost_ps[SIM_TSC_LFENCE] = SIM_PS_PER_US; /* slow readings, so that the test makes few of them */
	watch_and_judge();
	assert_int_equal(findings_of(report, "clocks-parted"), 0);
	assert_int_equal(findings_of(report, "clock-backward"), 1);
	assert_string_equal(report->outcomes.findings[0].clock, "hpet");
}

/* The host stops the core for 3 s in a job with a limit of 2 s. It also stops the boot core for 3 s. */
TEST(a_core_that_the_host_stops_longer_than_a_jobs_limit_is_not_missing)
{
	struct report *report = &bench->run.report;

	bench_open(bench, 2);
	bench_measure_rates(bench);
	sim.preempt_ps = 3000 * SIM_PS_PER_MS;
	sim.preempt_every = 5000;
	survey_measure_latencies_on_cores(&bench->run.survey);
	watch_and_judge();
	assert_true(bench->is_late);
	assert_string_equal(report->facts.cores[1].reason, "did not finish a job in time, and was stopped");
	assert_int_equal(findings_of(report, "core-missing"), 0);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

TEST(a_core_that_dies_on_a_quiet_host_is_missing)
{
	struct report *report = &bench->run.report;

	bench_open(bench, 2);
	bench->mute = 1;
	bench->mute_after_jobs = 5;
	measure();
	watch_and_judge();
	assert_int_equal(findings_of(report, "core-missing"), 1);
	assert_int_equal(report->outcomes.verdict, VERDICT_WARN);
}

TEST(a_core_that_falls_silent_leaves_the_others_measured)
{
	size_t null;

	bench_open(bench, CORES);
	bench->mute = 2;
	bench->mute_after_jobs = 5;
	measure();
	null = (size_t)(bench_find_clock(bench, "null") - bench->run.report.facts.clocks);
	assert_true(bench->is_dead);
	assert_int_equal(bench->run.report.facts.cores[2].latency[null].count, 0);
	assert_true(bench->run.report.facts.cores[2].latency[0].count >
		    0); /* the earlier results of this core are kept */
	assert_true(bench->run.report.facts.cores[3].latency[null].count > 0);
}
