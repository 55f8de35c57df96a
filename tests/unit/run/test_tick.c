/*
 * Tests with a firmware whose tick uses the HPET, and stops the HPET's counter for 10 us in each tick of 10 ms. EDK
 * II's HpetTimerDxe does this, so the HPET loses 1,000 ppm. This must not be a finding about a healthy HPET, and the
 * tick must be restored after the run.
 */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "sim.h"

#define INT_ENB UINT64_C(4)
/* duration of the firmware's work at the start of each phase, in which interrupts are enabled */
#define WORK_PS (100 * SIM_PS_PER_MS)

static struct {
	unsigned calls, phases;
	/* number of the first call that the firmware refuses; it also refuses all later calls; 0 if it refuses none */
	unsigned refuse_from;
} firmware;

/* Enables or disables the tick, like SetTimerPeriod() of EDK II's driver. */
static bool
quiet_tick(void *context, bool quiet)
{
	if (++firmware.calls >= firmware.refuse_from && firmware.refuse_from)
		return false;
	assert_int_equal(sim.hpet.timers[0] & INT_ENB, quiet ? INT_ENB : 0);
	sim.hpet.timers[0] ^= INT_ENB;
	return true;
}

/* Simulates the firmware's work while it writes to a volume. The firmware's tick continues during this work. */
static void
work(void *context, const struct run *run, const struct run_phase *phase)
{
	unsigned ticks = sim.hpet.ticks;

	for (uint64_t begin_ps = sim.now_ps; sim.now_ps - begin_ps < WORK_PS;) {
		sim_advance_ps(SIM_PS_PER_MS);
		run->machine->hooks.tsc_ordered();
	}
	if (sim.hpet.tick_ps)
		assert_in_range(sim.hpet.ticks - ticks, 8, 10);
	firmware.phases++;
}

static void
switch_on(uint64_t tick_stop_ps)
{
	sim_reset();
	sim_slow_tsc_reads(8);
	memset(&firmware, 0, sizeof(firmware));
	sim.accesses_max *= 4;
	sim.hpet.configuration = 1;
	if (!tick_stop_ps)
		return;
	sim.hpet.timers[0] = INT_ENB;
	sim.hpet.tick_ps = 10 * SIM_PS_PER_MS;
	sim.hpet.tick_stop_ps = tick_stop_ps;
}

static struct bench *bench;

/* Does a run with one core. The firmware can stop its tick if CAN_BE_QUIET is true. */
static void
play(bool can_be_quiet, enum options_cores way)
{
	bench = bench_new();
	bench_open(bench, 1);
	bench->run.report.facts.options.cores.method = way;
	bench->machine.phase_starts = work;
	bench->machine.set_tick_stopped = can_be_quiet ? quiet_tick : NULL;
	(void)bench_run(bench);
	assert_int_equal(sim.hpet.timers[0] & INT_ENB, sim.hpet.tick_ps ? INT_ENB : 0);
	assert_true(firmware.phases > 10);
}

static void
end(void)
{
	bench_free(bench);
}

TEST_FIXTURE(NULL, end);

static const struct behaviour *
rate_of_hpet(void)
{
	const struct behaviours *behaviours = &bench->run.report.outcomes.behaviours;

	for (size_t i = 0; i < behaviours->count; i++)
		if (strcmp(behaviours->rows[i].clock, "hpet") == 0 && strncmp(behaviours->rows[i].rule, "rate-", 5) == 0)
			return &behaviours->rows[i];
	fail_msg("nothing is said of the HPET's rate");
	return NULL;
}

static void
assert_no_clock_is_accused(void)
{
	const struct report *report = &bench->run.report;

	assert_no_finding(report);
	assert_int_equal(report->figures.discontinuity_count, 0);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

TEST(an_hpet_that_the_firmware_stops_in_each_tick_passes)
{
	switch_on(10 * SIM_PS_PER_US);
	play(true, CORES_SIPI);
	assert_no_clock_is_accused();
	assert_int_equal(rules_get_outcome(rate_of_hpet(), &bench->run.report.facts.options), OUTCOME_PASSED);
	assert_false(bench_find_figures(bench, "hpet")->rate_whole_run);
	assert_string_equal(bench_find_clock(bench, "hpet")->clock.reason,
			    "The HPET is on and sends interrupts: the firmware may use it as its timer tick.");
}

TEST(a_slow_hpet_is_accused_although_the_firmware_stops_it)
{
	switch_on(10 * SIM_PS_PER_US);
	sim_counter_speed_up(&sim.hpet.counter, -2000);
	play(true, CORES_SIPI);
	assert_in_range(-assert_only_finding(&bench->run.report, "rate-wrong", "hpet")->measured, 1990, 2010);
}

/*
 * The firmware's MP services need the tick while they run jobs on other cores. The HPET stops in each tick, so the time
 * of these jobs must not be part of its measured rate.
 */
TEST(the_tick_continues_while_the_firmware_runs_jobs_on_cores)
{
	unsigned quiet;

	switch_on(10 * SIM_PS_PER_US);
	play(true, CORES_SIPI);
	quiet = sim.hpet.ticks;
	bench_free(bench);
	switch_on(10 * SIM_PS_PER_US);
	play(true, CORES_MP);
	assert_no_clock_is_accused();
	assert_true(sim.hpet.ticks > quiet);
	assert_int_equal(rules_get_outcome(rate_of_hpet(), &bench->run.report.facts.options), OUTCOME_PASSED);
}

TEST(a_tick_that_cannot_be_stopped_leaves_the_hpets_rate_undetermined)
{
	/*
	 * in the first run the firmware has no protocol for its tick; in the second run its protocol refuses each call
	 */
	for (unsigned refuse_from = 0; refuse_from < 2; refuse_from++) {
		const struct behaviour *row;

		switch_on(10 * SIM_PS_PER_US);
		firmware.refuse_from = refuse_from;
		play(refuse_from > 0, CORES_SIPI);
		assert_no_clock_is_accused();
		row = rate_of_hpet();
		assert_int_equal(rules_get_outcome(row, &bench->run.report.facts.options), OUTCOME_NOT_DETERMINED);
		assert_string_equal(row->text,
				    "hpet: this clock drives the firmware's tick, which could not be stopped; the "
				    "tick may stop the clock's counter for short times.");
		assert_false(bench_find_figures(bench, "hpet")->implied.known);
		assert_true(bench_find_figures(bench, "acpi_pm")->implied.known);
		if (!refuse_from)
			bench_free(bench);
	}
}

/* The phases prepare and rates call the firmware four times. The firmware refuses the fifth call. */
TEST(an_hpet_whose_tick_cannot_be_stopped_later_is_not_compared)
{
	switch_on(10 * SIM_PS_PER_US);
	firmware.refuse_from = 5;
	play(true, CORES_SIPI);
	assert_no_clock_is_accused();
	assert_int_equal(rules_get_outcome(rate_of_hpet(), &bench->run.report.facts.options), OUTCOME_PASSED);
}

TEST(if_the_tick_does_not_use_the_hpet_the_firmware_is_not_called)
{
	switch_on(0);
	play(true, CORES_SIPI);
	assert_no_clock_is_accused();
	assert_int_equal(firmware.calls, 0);
	assert_true(bench_find_figures(bench, "hpet")->rate_whole_run);
}
