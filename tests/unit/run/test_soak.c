/*
 * Tests of soaks (long runs with a series of rows) on the simulated machine: the rows of the series, and the end of
 * the soak.
 */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "sim.h"
#include "sim_internal.h"
#include "base/text.h"
#include "threads.h"

#define MS    UINT64_C(1000000)

#define SLOW  10 /* factor for the duration of each access, so that a simulated soak has fewer accesses */
#define S     (1000 * MS)

static const char *const clocks[] = { "tsc", "hpet", "acpi_pm", NULL };
static const char *const clocks_with_pit[] = { "tsc", "hpet", "acpi_pm", "pit", NULL };

static struct {
	struct bench *bench;
	size_t end_after_rows; /* number of rows after which the user ends the run; 0 for never */
	size_t leap_in_row;    /* number of the row in which the HPET jumps by a second; 0 for none */
	size_t bend_in_row;    /* number of the row in which the PIT becomes faster by 0.6 %; 0 for none */
	size_t rows_max;       /* maximum number of rows in the series; 0 for the default */
	size_t saved_rows;     /* number of rows in the latest checkpoint */
	bool saved_within;     /* true if a checkpoint within a phase had at least one row */
	size_t rows_shown;     /* number of rows that were shown when they were completed */
	size_t rates_shown;    /* number of rates in the rows that were shown */
} soak;

static void
save(const struct run *run, const struct run_phase *phase)
{
	struct report *report = test_malloc(sizeof(*report));

	run_make_report_so_far(run, phase, report);
	assert_true(report->facts.run.incomplete);
	assert_int_equal(report->facts.series.count, run->report.facts.series.count);
	assert_ptr_equal(report->facts.series.rows, run->report.facts.series.rows);
	soak.saved_rows = report->facts.series.count;
	test_free(report);
}

static void
begins(void *context, const struct run *run, const struct run_phase *phase)
{
	save(run, phase);
}

static void
progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	static const struct run_phase phase = { .id = "series" };
	const struct series *series = &soak.bench->run.report.facts.series;

	assert_true(done_ns <= total_ns);
	if (soak.leap_in_row && series->count == soak.leap_in_row && text_equal(what, "gaps")) {
		sim.hpet.counter.origin_ticks += 10000000;
		soak.leap_in_row = 0;
	}
	if (soak.bend_in_row && series->count == soak.bend_in_row) {
		struct sim_pit_channel *channel = &sim.pit.channels[2];

		channel->held_cycles += sim_count_clock_cycles(channel->loaded_ps, sim.now_ps, sim.pit.hz);
		channel->loaded_ps = sim.now_ps;
		sim.pit.hz.num += sim.pit.hz.num * 6 / 1000;
		soak.bend_in_row = 0;
	}
	if (series->open && series->count > soak.saved_rows) {
		save(&soak.bench->run, &phase);
		soak.saved_within = true;
	}
}

/* Counts the rates in the row that was completed last, as the console shows it during the run. */
static void
count_shown_rates(void *context, const struct report *report)
{
	const struct series_row *row = &report->facts.series.rows[report->facts.series.count - 1];

	soak.rows_shown++;
	for (size_t i = 0; i < report->facts.clock_count; i++)
		soak.rates_shown += report_get_soak_rate(report, &row->clocks[i])->ppb.known;
}

static bool
user_ends_run(void *context)
{
	return soak.end_after_rows && soak.bench->run.report.facts.series.count >= soak.end_after_rows;
}

static const struct report *
play(size_t cores, uint64_t duration_ns, uint64_t interval_ns)
{
	struct options *options;
	struct bench *bench;

	sim_reset();
	sim.accesses_max = UINT64_MAX;
	for (size_t i = 0; i < SIM_ACCESSES; i++)
		sim.cost_ps[i] *= SLOW;
	sim_slow_tsc_reads(4);
	soak.bench = bench = bench_new();
	bench->duration_ns = duration_ns;
	bench->interval_ns = interval_ns;
	bench->clocks = soak.bend_in_row ? clocks_with_pit : clocks;
	bench_open(bench, cores);
	options = &bench->run.report.facts.options;
	/* all reads of the TSC last a multiple of 400 ns here, which looks like the TSC's step */
	options->limits[options->limit_count++] = (struct options_limit){ "tsc-step", 1000000 };
	sim.tsc.offset_ticks[1] = 5000;
	if (cores > 1)
		bench_use_threads(bench);
	if (soak.rows_max)
		bench->run.report.facts.series.max = soak.rows_max;
	bench->machine.hooks.progress = bench->run.survey.hooks.progress = progress;
	bench->machine.hooks.asked = bench->run.survey.hooks.asked = user_ends_run;
	bench->machine.hooks.row = bench->run.survey.hooks.row = count_shown_rates;
	bench->machine.phase_starts = begins;
	return bench_run(bench);
}

static void
end(void)
{
	bench_free(soak.bench);
	memset(&soak, 0, sizeof(soak));
}

TEST_FIXTURE(NULL, end);

/* Returns the width of the first clock's rate in ROW of the series. */
static int64_t
get_width_of_rate(const struct report *report, size_t row)
{
	const struct interval_ppb *rate = &report_get_soak_rate(report, &report->facts.series.rows[row].clocks[0])->ppb;

	return rate->high - rate->low;
}

static uint64_t
length_ns(const struct series_row *row)
{
	return scale_ns(&soak.bench->run.survey.scale, row->to_tsc - row->from_tsc);
}

/*
 * Asserts that each row starts at the end of the previous row, and takes one to two intervals of the series. The last
 * row may be shorter.
 */
static void
assert_rows_follow_each_other(const struct series *series)
{
	for (size_t r = 0; r < series->count; r++) {
		const struct series_row *row = &series->rows[r];

		assert_true(row->from_tsc < row->to_tsc);
		if (r)
			assert_int_equal(row->from_tsc, row[-1].to_tsc);
		if (r + 1 < series->count)
			assert_in_range(length_ns(row), series->interval_ns, 2 * series->interval_ns);
	}
}

/*
 * Asserts that the row's values are right for a healthy machine. On this machine all reads on the boot core take the
 * same time.
 */
static void
assert_row_holds_the_truth(const struct report *report, const struct series_row *row)
{
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct series_clock *clock = &row->clocks[i];
		const struct interval_ppb *rate = &report_get_soak_rate(report, clock)->ppb;

		assert_true(clock->count != 0);
		assert_int_equal(clock->p50_ns, report->facts.clocks[i].latency->min_ns);
		assert_int_equal(clock->max_ns, report->facts.clocks[i].latency->max_ns);
		assert_int_equal(rate->known, report_clock_is_main_of_device(&report->facts.clocks[i]));
		if (rate->known)
			assert_true(rate->low <= 0 && rate->high >= 0 && rate->high - rate->low < 80000);
	}
	assert_true(row->observed_ns != 0);
	assert_int_equal(row->gaps, 0);
}

TEST(each_row_of_a_soak_has_all_figures)
{
	const struct report *report = play(1, S, S);
	const struct series *series = &report->facts.series;
	uint64_t reads[REPORT_CLOCKS_MAX] = { 0 }, observed_ns = 0;
	size_t main_clocks = 0;

	assert_false(report->facts.run.incomplete);
	assert_no_finding(report);
	assert_in_range(series->count, 5, 8);
	assert_null(series_get_open_row(series));
	assert_rows_follow_each_other(series);
	for (size_t r = 0; r < series->count; r++) {
		assert_row_holds_the_truth(report, &series->rows[r]);
		observed_ns += series->rows[r].observed_ns;
		for (size_t i = 0; i < report->facts.clock_count; i++)
			reads[i] += series->rows[r].clocks[i].count;
	}
	for (size_t i = 0; i < report->facts.clock_count; i++)
		assert_int_equal(reads[i], report->facts.clocks[i].latency->count);
	/* The observed time of a row is a sum of chunks of 10 ms, and each of them is rounded to a nanosecond. */
	assert_in_range(observed_ns, report->figures.interference.observed_ns - observed_ns / (10 * MS) / 2,
			report->figures.interference.observed_ns + observed_ns / (10 * MS) / 2);
	assert_true(soak.saved_within);
	assert_int_equal(soak.saved_rows, series->count);
	assert_int_equal(soak.rows_shown, series->count);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		main_clocks += report_clock_is_main_of_device(&report->facts.clocks[i]);
	assert_int_equal(soak.rates_shown, main_clocks * series->count);
}

TEST(each_row_has_the_offset_of_each_core)
{
	const struct report *report = play(2, 300 * MS, S);

	assert_in_range(report->facts.series.count, 2, 8);
	for (size_t r = 0; r < report->facts.series.count; r++) {
		const struct offset *offsets = report->facts.series.rows[r].offsets;
		struct offset offset = series_add_resolution(report->figures.tsc_resolution_ticks, offsets[1]);

		assert_false(offset_is_known(offsets[0]));
		assert_true(offset.low <= 5000 && offset.high >= 5000 && offset_width(offset) < 2000);
		assert_true(offset.low < offsets[1].low && offset.high > offsets[1].high);
	}
}

/*
 * If there is space for four rows only, rows are merged, and no measurement is lost. The rate in a longer row has a
 * narrower interval.
 */
TEST(a_soak_without_space_for_all_rows_has_longer_rows)
{
	const struct report *report;
	const struct series *series;
	int64_t second_ppb;

	second_ppb = get_width_of_rate(play(1, S, S), 1);
	end();
	soak.rows_max = 4;
	report = play(1, S, S);
	series = &report->facts.series;
	assert_int_equal(series->interval_ns, 2 * S);
	assert_in_range(series->count, 3, 4);
	assert_rows_follow_each_other(series);
	assert_in_range(length_ns(&series->rows[0]), 2 * S, 3 * S);
	for (size_t r = 0; r < series->count; r++)
		assert_row_holds_the_truth(&soak.bench->run.report, &series->rows[r]);
	assert_true(second_ppb > 0 && 4 * get_width_of_rate(report, 1) < 3 * second_ppb);
}

TEST(a_soak_that_is_ended_early_keeps_its_rows)
{
	const struct report *report;

	soak.end_after_rows = 2;
	report = play(1, S, S);
	assert_true(report->facts.run.ended_early);
	assert_false(report->facts.run.incomplete);
	assert_no_finding(report);
	assert_int_equal(report->facts.series.count, 3);
	assert_rows_follow_each_other(&report->facts.series);
	assert_true(length_ns(&report->facts.series.rows[2]) < S);
	assert_int_equal(soak.saved_rows, 3);
}

/* In the row in which a clock jumps, the clock has no rate. In the next row it has a rate again. */
TEST(no_rate_of_a_row_includes_a_discontinuity)
{
	const struct report *report;

	soak.leap_in_row = 2;
	report = play(1, S, S);
	assert_int_equal(report->figures.discontinuity_count, 1);
	assert_rows_follow_each_other(&report->facts.series);
	for (size_t r = 0; r < report->facts.series.count; r++)
		for (size_t i = 0; i < report->facts.clock_count; i++)
			if (report_clock_is_main_of_device(&report->facts.clocks[i]))
				assert_int_equal(report_get_soak_rate(report, &report->facts.series.rows[r].clocks[i])->ppb.known, r != 2);
}

/*
 * The PIT becomes faster by 0.6 %. Until the end of the soak, it therefore wraps more often than its rate in the rate
 * window implies. The record has the readings that show this.
 */
TEST(the_record_of_a_soak_shows_how_often_each_counter_wrapped)
{
	const struct report *report;
	const struct interval_ppb *change;
	const struct report_clock *pit;

	soak.bend_in_row = 1;
	report = play(1, 8 * S, S);
	pit = report_find_clock(report, "pit");
	change = &report_get_figures(report, pit)->change_since;
	assert_int_equal(report->figures.discontinuity_count, 0);
	assert_in_range(report->facts.series.count, 20, 100);
	assert_true(change->known && change->low > 5700000 && change->high < 6000000);
	for (size_t r = 2; r < report->facts.series.count; r++) {
		const struct series_clock *row = &report->facts.series.rows[r].clocks[pit - report->facts.clocks];
		const struct interval_ppb *rate = &report_get_soak_rate(report, row)->ppb;

		assert_true(rate->known && rate->low <= 6000000 && rate->high >= 6000000);
	}
}

TEST(a_run_that_is_no_soak_has_no_series)
{
	assert_int_equal(play(1, 20 * MS, 0)->facts.series.max, 0);
}
