/*
 * A TSC that never counts, or stops during the run. The TSC times everything, so the run ends at once. The run gives
 * the reason, and names no other clock. All times are simulated.
 */
#include "test.h"
#include "judge/judge.h"
#include "bench.h"
#include "findings.h"
#include "sim.h"

#define NOTE "The TSC stopped. It times all measurements, so nothing was measured after that."

static void
reset(void)
{
	sim_reset();
	/* slow accesses, so that the test makes few of them */
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 4 * SIM_PS_PER_US;
}

static void
measure(struct bench *bench)
{
	(void)bench_run(bench);
}

static void
assert_only_the_tsc_is_named(const struct report *report)
{
	(void)assert_only_finding(report, "clock-stuck", "tsc");
	assert_int_equal(report->outcomes.verdict, VERDICT_FAIL);
	assert_true(report->facts.run.incomplete);
	assert_string_equal(report->notes.sentences[report->notes.count - 1], NOTE);
}

static struct bench *
bench_whose_tsc_never_counts(void)
{
	struct bench *bench;

	reset();
	sim.tsc.counter.stuck_at_ps = 0;
	sim.accesses_max = 300000;
	bench = bench_new();
	bench_open(bench, 1);
	return bench;
}

/*
 * A run must not wait for a time that never comes. Before this wait had a limit, such a run took 1,972 s and
 * 920,445,498 accesses, and named the PIT and the RTC in addition to the TSC.
 */
TEST(a_tsc_that_never_counts_ends_the_run_within_10_ms_and_300000_accesses)
{
	struct bench *bench;
	struct report *report;

	bench = bench_whose_tsc_never_counts();
	report = &bench->run.report;
	measure(bench);
	assert_true(sim.now_ps < 10 * SIM_PS_PER_MS);
	assert_only_the_tsc_is_named(report);
	assert_int_equal(report->figures.tsc.den, 0);
	assert_int_equal(report->figures.rate_count, 0);
	assert_int_equal(report->outcomes.behaviours.count, 0);
	assert_false(report->figures.interference.measured);
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];
		bool is_tsc = strcmp(entry->clock.main, "tsc") == 0;

		assert_int_equal(report->outcomes.clocks[i].verdict, is_tsc ? VERDICT_FAIL : VERDICT_INCOMPLETE);
		assert_int_equal(entry->clock.state, is_tsc ? CLOCK_STUCK : CLOCK_PRESENT);
		assert_non_null(strstr(entry->clock.reason, is_tsc ? "The TSC reads the same every time." :
							    "No read could be timed: the TSC stopped."));
		assert_int_equal(entry->latency->count, 0);
		assert_false(report_get_figures(report, entry)->measured.known);
	}
	bench_free(bench);
}

TEST(a_stuck_tsc_that_was_not_requested_leaves_the_run_incomplete)
{
	struct bench *bench;
	struct report *report;
	size_t kept = 0;

	bench = bench_whose_tsc_never_counts();
	report = &bench->run.report;
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (strcmp(report->facts.clocks[i].clock.main, "tsc") != 0)
			report->facts.clocks[kept++] = report->facts.clocks[i];
	report->facts.clock_count = kept;
	measure(bench);
	assert_no_finding(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_INCOMPLETE);
	assert_string_equal(report->notes.sentences[0], NOTE);
	bench_free(bench);
}

/*
 * After the TSC stops, the run may last for up to a second more, because it may already wait for the RTC's next second.
 */
TEST(a_tsc_that_stops_ends_the_run_within_a_second_and_no_other_clock_is_named)
{
	for (uint64_t ms = 10; ms < 4000; ms += 130) {
		struct bench *bench;
		struct report_clock *tsc;
		uint64_t failed_ms;

		reset();
		sim_slow_tsc_reads(8);
		sim.tsc.counter.stuck_at_ps = ms * SIM_PS_PER_MS;
		bench = bench_new();
		bench_open(bench, 1);
		measure(bench);
		assert_true(sim.now_ps < (ms + 1000) * SIM_PS_PER_MS);
		assert_only_the_tsc_is_named(&bench->run.report);
		tsc = bench_find_clock(bench, "tsc");
		assert_true(tsc->failed_tsc);
		/* the reported time starts when the drivers were opened, which takes up to 2 ms */
		failed_ms = report_run_time_ns(&bench->run.report, tsc->failed_tsc) / 1000000;
		assert_true(failed_ms <= ms && ms <= failed_ms + 2);
		for (size_t i = 0; i < bench->run.report.facts.clock_count; i++) {
			const struct report_clock *entry = &bench->run.report.facts.clocks[i];

			assert_true(bench->run.report.outcomes.clocks[i].verdict != VERDICT_FAIL ||
				    strcmp(entry->clock.main, "tsc") == 0);
			assert_true(!entry->latency->count || entry->latency->min_ns > 0);
		}
		bench_free(bench);
	}
}
