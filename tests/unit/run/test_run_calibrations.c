/*
 * Tests of the calibration loops in whole runs on the simulated machine. The machine has a TSC of 1 GHz, an HPET, a PM
 * timer and a PIT.
 */
#include "test.h"
#include "bench.h"
#include "calibrations/calibrations.h"
#include "measure/survey_plan.h"
#include "record/record.h"
#include "run/run_internal.h"
#include "sim.h"

static struct bench *bench;

static void
open_bench(void)
{
	sim_reset();
	sim_interrupts_add_controllers();
	bench = bench_new();
	bench->duration_ns = 1000000;
}

static void
close_bench(void)
{
	bench_free(bench);
}

TEST_FIXTURE(open_bench, close_bench);

static const struct report *
play(void)
{
	bench_open(bench, 1);
	bench->machine.calibrations = calibrations;
	bench_measure_rates(bench);
	sim.masked_longest_ps = 0;
	run_calibration_loops(&bench->run);
	return &bench->run.report;
}

static const struct calibration_figures *
row_of(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->figures.calibration_count; i++)
		if (strcmp(report->figures.calibrations[i].loop->id, id) == 0)
			return &report->figures.calibrations[i];
	fail_msg("no loop %s", id);
	return NULL;
}

static const struct report *
analyse(void)
{
	bench_close(bench);
	return &bench->run.report;
}

TEST(a_quick_run_has_up_to_three_runs_of_each_loop_in_300_ms)
{
	uint64_t begin_ps;
	const struct report *report;

	(void)play();
	begin_ps = sim.now_ps;
	run_calibration_loops(&bench->run);
	assert_true(sim.now_ps - begin_ps <= 300 * SIM_PS_PER_MS);
	report = analyse();
	for (size_t i = 0; calibrations[i]; i++) {
		const struct calibration_figures *row = &report->figures.calibrations[i];

		assert_ptr_equal(row->loop, calibrations[i]);
		assert_string_equal(row->reason, "");
		assert_true(row->runs >= 1);
		assert_int_equal(row->refused, 0);
		assert_true(row->median.known && row->worst.known);
	}
	assert_int_equal(row_of(report, "linux_pit")->runs, 6); /* this loop runs twice in each of the three rounds */
	assert_true(row_of(report, "linux_pit")->worst.high < 489000);
	assert_true(row_of(report, "linux_pit")->worst.low > -489000);
	assert_true(row_of(report, "linux_lapic")->worst.value < 10000);
	assert_true(row_of(report, "linux_lapic")->worst.value > -10000);
	assert_memory_equal(report->advice.calibrated,
			    "Linux's calibration loop for the TSC, run here, is wrong by up to ", 66);
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

/* Without a PIT, Linux's loop makes three tries of 50 ms each, so it needs more than 150 ms. */
TEST(linuxs_slower_loop_without_a_pit_is_run_only_if_151_ms_are_left)
{
	sim.pit.absent = true;
	bench_open(bench, 1);
	bench->machine.calibrations = (const struct calibration_loop *const[]){ &calibration_linux_reference, NULL };
	bench_measure_rates(bench);
	bench->deadline_ms = sim.now_ps / SIM_PS_PER_MS + 150;
	run_calibration_loops(&bench->run);
	assert_string_equal(bench->run.report.facts.calibrations[0].reason, "There was no time for this loop.");
	bench->deadline_ms = sim.now_ps / SIM_PS_PER_MS + 152;
	run_calibration_loops(&bench->run);
	assert_string_equal(bench->run.report.facts.calibrations[0].reason, "");
	assert_true(bench_ticks_left(bench) > 0);
}

static struct {
	uint64_t total_ns, last_ns;
	size_t count;
} shown;

static void
show_progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	assert_string_equal(what, "calibrations");
	assert_true(done_ns >= shown.last_ns && done_ns <= total_ns);
	shown.total_ns = total_ns;
	shown.last_ns = done_ns;
	shown.count++;
}

TEST(the_plan_has_time_for_the_loops_and_each_round_shows_progress)
{
	struct survey *survey = &bench->run.survey;
	uint64_t without_ns, begin_ns;

	bench_open(bench, 1);
	assert_false(survey->plan.has_calibrations);
	without_ns = survey_planned_run_ns(survey);
	bench->machine.calibrations = calibrations;
	survey->plan.has_calibrations = true;
	assert_int_equal(survey_planned_run_ns(survey) - without_ns, 300 * UINT64_C(1000000));
	survey_warm_up_and_estimate_tsc_rate(survey);
	survey_measure_rates(survey);
	shown.last_ns = 0;
	survey->hooks.progress = show_progress;
	survey->plan.part = SURVEY_CALIBRATIONS;
	survey_show_progress(survey, "calibrations", 0);
	begin_ns = shown.last_ns;
	shown.count = 0;
	run_calibration_loops(&bench->run);
	assert_int_equal(shown.count, 3); /* progress is shown once for each round of a quick run */
	assert_true(shown.last_ns > begin_ns);
	assert_int_equal(shown.total_ns, survey_planned_run_ns(survey));
}

static uint64_t
rate_by_edk2(const uint64_t *r)
{
	return (r[1] - r[0]) * 9861;
}

static uint64_t
rate_by_pit(const uint64_t *r)
{
	return (r[3] - r[1]) * 1193182 / (r[0] * 256000) * 1000;
}

static uint64_t
rate_by_valkey(const uint64_t *r)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < 6; i += 2)
		least = (r[i] << 24) / r[i + 1] < least ? (r[i] << 24) / r[i + 1] : least;
	return (UINT64_C(1000000) << 24) / least;
}

static uint64_t
rate_by_lapic(const uint64_t *r)
{
	return (r[1] - r[5]) * 16 / 25 * 250;
}

/*
 * Calculates the rate like Linux from the last four of the loop's eight readings, which are TSC, HPET, TSC, HPET.
 * Linux uses only these, because its first try already agrees with the PIT.
 */
static uint64_t
rate_by_reference(const uint64_t *r)
{
	uint64_t ns = ((r[7] - r[5]) & UINT32_MAX) * (sim.hpet.capability >> 32) / 1000000;

	return (r[6] - r[4]) * 1000000 / ns * 1000;
}

/* Calculates the rate like PostgreSQL from its last estimate, which covers the longest time. */
static uint64_t
rate_by_postgresql(const uint64_t *r)
{
	size_t last = 0;

	for (size_t i = 0; i < CALIBRATION_READINGS; i += 2)
		last = r[i] > r[last] ? i : last;
	return r[last + 1] * 1000000000 / r[last] / 1000 * 1000;
}

/* Copies the rates in the record's entries RECORD_CALIBRATION for LOOP to HZ. Returns their number. */
static size_t
rates_in_record(const struct report *report, const char *loop, uint64_t hz[8])
{
	struct record_reader reader;
	struct record_entry entry;
	struct record_calibration all;
	struct record_calibrated run;
	size_t count = 0;

	reader = record_open(report->record.bytes, report->record.length);
	while (record_read_next(&reader, &entry)) {
		if (entry.kind != RECORD_CALIBRATION)
			continue;
		record_read_fixed_part(&entry, &all);
		for (size_t i = 0; strncmp(all.loop, loop, sizeof(all.loop)) == 0 && i < entry.item_count; i++) {
			record_read_item(&entry, i, &run);
			hz[count++] = run.hz;
		}
	}
	return count;
}

TEST(the_record_has_the_readings_from_which_each_rate_follows)
{
	static const struct {
		const char *loop;
		size_t readings; /* expected number of readings; 0 if the loop has 22 or more readings */
		uint64_t (*rate)(const uint64_t *readings);
	} loops[] = {
		{ "edk2", 2, rate_by_edk2 }, { "linux_pit", 5, rate_by_pit }, { "valkey", 6, rate_by_valkey },
		{ "linux_lapic", 8, rate_by_lapic }, { "linux_reference", 8, rate_by_reference },
		{ "postgresql", 0, rate_by_postgresql },
	};
	const struct report *report;

	(void)play();
	report = analyse();
	for (size_t l = 0; l < sizeof(loops) / sizeof(loops[0]); l++) {
		uint64_t hz[8], readings[CALIBRATION_READINGS] = { 0 };
		struct record_reader reader;
		struct record_entry entry;
		struct record_loop loop;
		size_t count = rates_in_record(report, loops[l].loop, hz), found = 0;

		reader = record_open(report->record.bytes, report->record.length);
		while (record_read_next(&reader, &entry)) {
			if (entry.kind != RECORD_LOOP)
				continue;
			record_read_fixed_part(&entry, &loop);
			if (strncmp(loop.loop, loops[l].loop, sizeof(loop.loop)) != 0)
				continue;
			assert_int_equal(loop.run, found);
			assert_true(entry.item_count == loops[l].readings || (!loops[l].readings && entry.item_count >= 22));
			for (size_t i = 0; i < entry.item_count; i++)
				record_read_item(&entry, i, &readings[i]);
			assert_int_equal(loops[l].rate(readings), hz[found++]);
		}
		assert_int_equal(reader.state, RECORD_WHOLE);
		assert_true(count >= 1);
		assert_int_equal(found, count);
	}
}

TEST(a_soak_records_the_readings_of_fifty_runs_of_a_loop)
{
	static const struct calibration_loop *const fastest[] = { &calibration_edk2, NULL };
	const struct report *report;
	struct record_reader reader;
	struct record_entry entry;
	size_t found = 0;

	bench_open(bench, 1);
	bench->run.report.facts.options.profile = PROFILE_SOAK;
	bench->machine.calibrations = fastest;
	bench_measure_rates(bench);
	run_calibration_loops(&bench->run);
	report = analyse();
	assert_true(report->figures.calibrations[0].runs > 50);
	assert_int_equal(report->record.dropped, 0);
	reader = record_open(report->record.bytes, report->record.length);
	while (record_read_next(&reader, &entry))
		found += entry.kind == RECORD_LOOP;
	assert_int_equal(found, 50);
}

TEST(clocks_that_are_not_in_the_run_are_not_read)
{
	static const char *const ids[] = { "tsc", "hpet", NULL };
	const struct report *report;

	bench->clocks = ids;
	(void)play();
	report = analyse();
	assert_string_equal(row_of(report, "linux_pit")->reason, "The option clocks= leaves out the PIT.");
	assert_string_equal(row_of(report, "edk2")->reason, "The option clocks= leaves out the PM timer.");
	assert_string_equal(row_of(report, "linux_lapic")->reason, "The option clocks= leaves out the PM timer.");
	assert_int_equal(sim.pit.channels[2].writes, 0);
}

/* A clock that clocks= names, but that the machine lacks, is not left out. */
TEST(a_named_clock_that_is_absent_is_not_called_left_out)
{
	static const char *const ids[] = { "tsc", "pit", NULL };
	const struct report *report;

	bench->clocks = ids;
	sim.pit.absent = true;
	(void)play();
	report = analyse();
	assert_string_equal(row_of(report, "linux_pit")->reason, "No PIT can be read in this run.");
	assert_string_equal(row_of(report, "linux_reference")->reason,
			    "No PIT, HPET or PM timer can be read: the option clocks= leaves out at least one of them.");
}

TEST(no_loop_starts_that_cannot_end_before_the_deadline)
{
	const struct report *report;

	bench_open(bench, 1);
	bench->machine.calibrations = calibrations;
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	bench->deadline_ms = sim.now_ps / SIM_PS_PER_MS + 10;
	run_calibration_loops(&bench->run);
	report = analyse();
	assert_string_equal(row_of(report, "edk2")->reason, "");
	assert_string_equal(row_of(report, "linux_lapic")->reason, "There was no time for this loop.");
	assert_string_equal(row_of(report, "valkey")->reason, "There was no time for this loop.");
}

TEST(the_option_duration_shortens_the_loops_of_longer_profiles)
{
	static const struct {
		enum options_profile profile;
		uint64_t duration_ms, budget_ms;
	} rows[] = {
		{ PROFILE_QUICK, 10, 300 }, { PROFILE_QUICK, 1000, 300 },
		{ PROFILE_STANDARD, 10, 300 }, { PROFILE_STANDARD, 100, 1000 }, { PROFILE_STANDARD, 1000, 10000 },
		{ PROFILE_STANDARD, 10000, 10000 }, { PROFILE_SOAK, 1000, 10000 }, { PROFILE_SOAK, 10000, 60000 },
		/* 0: the option is not given */
		{ PROFILE_QUICK, 0, 300 }, { PROFILE_STANDARD, 0, 10000 }, { PROFILE_SOAK, 0, 60000 },
	};
	struct report *report = &bench->run.report;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report->facts.options.profile = rows[i].profile;
		report->facts.options.duration_ns = rows[i].duration_ms * UINT64_C(1000000);
		assert_int_equal(survey_planned_calibrations_ns(report), rows[i].budget_ms * UINT64_C(1000000));
	}
}
