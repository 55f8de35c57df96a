/*
 * Checks of the RTC against its data sheet, on the simulated machine. An access to a register takes 4 us, and the flag
 * UIP (update in progress) lasts 2,228 us.
 */
#include "check_rows.h"

#define BUDGET_NS (1500 * MS_NS)
#define LONG_NS   (5000 * MS_NS)

enum { HZ_8192, HZ_1024, HZ_64, HZ_2 }; /* order of the rows of rule rtc-periodic */

/* Makes accesses slow, so that the tests make few of them. */
static void
reset_slow(void)
{
	reset();
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 2 * SIM_PS_PER_US;
}

TEST_FIXTURE(reset_slow, NULL);

TEST(a_healthy_rtc_passes_all_checks)
{
	sim.rtc.seconds = 59;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_int_equal(rows.count, 7);
	assert_passed("rtc-battery", "VRT in register D is 1: the battery is good.");
	assert_passed("rtc-update",
		    "The update flag (UIP) stayed 1 for 2203 to 2236 us in the shortest update; updates seen: 1.");
	/* the observed update changed the seconds from 59 to 0 */
	assert_passed("rtc-seconds", "The seconds advanced by one each time; updates seen: 1.");
	assert_none_bad();
	for (unsigned i = HZ_8192; i <= HZ_2; i++) {
		const struct behaviour *row = row_of("rtc-periodic", i);

		assert_true(row->checked && row->has_figure);
		assert_true(row->low <= 0 && row->high >= 0 && row->high - row->low < 10000);
	}
	assert_true(sim.now_ps < 1100 * SIM_PS_PER_MS); /* the checks end within 100 ms of the update at 1 s */
}

/* The driver sees 59 change to 0 before the checks. */
TEST(minutes_that_do_not_follow_the_seconds_are_found)
{
	struct sample sample;

	sim.rtc.seconds = 59;
	sim.rtc.minutes_stuck = true;
	open_driver(&rtc_driver);
	take(&clocks[0], 10 * SIM_PS_PER_MS, &sample, 1);
	take(&clocks[0], 1010 * SIM_PS_PER_MS, &sample, 1);
	sim.rtc.index = 0x0d;
	check_opened(&rtc_driver, BUDGET_NS);
	assert_only("rtc-seconds", "The seconds changed from 59 to 0, and the minutes did not change.");
}

/*
 * If the flag is observed for 4 ms only, its rate error is between -104445 and 27026 ppm. This does not show whether
 * the rate is right, so the rule must not pass.
 */
TEST(the_periodic_flag_is_observed_long_enough_to_decide)
{
	static const struct options none;

	open_and_check(&rtc_driver, LONG_NS);
	for (unsigned i = HZ_8192; i <= HZ_2; i++)
		assert_int_equal(rules_get_outcome(row_of("rtc-periodic", i), &none), OUTCOME_PASSED);
	reset_slow();
	sim.rtc.pf_needs_pie = true;
	open_and_check(&rtc_driver, LONG_NS);
	assert_int_equal(rules_get_outcome(row_of("rtc-periodic", HZ_8192), &none), OUTCOME_NOT_DETERMINED);
	assert_int_equal(rules_get_outcome(row_of("rtc-periodic", HZ_1024), &none), OUTCOME_NOT_DETERMINED);
}

TEST(a_dead_battery_is_reported)
{
	sim.rtc.d = 0;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_only("rtc-battery", "VRT in register D is 0: the battery failed: time and settings are not valid.");
}

TEST(uip_that_is_stuck_is_a_fault)
{
	sim.rtc.uip_stuck = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_int_equal(clocks[0].state, CLOCK_BROKEN);
	assert_only("rtc-update", "The update flag (UIP) was 1 in all 98929 reads, for 1200 ms.");
	reset_slow();
	open_driver(&rtc_driver);
	sim.rtc.uip_stuck = true; /* later */
	check_opened(&rtc_driver, BUDGET_NS);
	assert_true(is_bad(row_of("rtc-update", 0)));
	assert_true(row_of("rtc-update", 0)->low > 1000000);
	assert_not_checked("rtc-seconds", "No update came in 1200 ms.");
}

TEST(uip_that_never_rises_is_a_fault)
{
	sim.rtc.uip_never = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_only("rtc-update", "The update flag (UIP) was never 1 in 843 ms, not even before the seconds changed.");
	reset_slow();
	become_a_guest();
	sim.rtc.uip_never = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_not_checked("rtc-update",
			   "In some updates, but fewer than 2, the update flag (UIP) was not 1 before the seconds "
			   "changed: too few to decide.");
	reset_slow();
	become_a_guest();
	sim.rtc.uip_never = true;
	open_and_check(&rtc_driver, LONG_NS);
	assert_true(is_bad(row_of("rtc-update", 0)));
}

TEST(uip_of_5_ms_is_a_fault_and_in_a_guest_only_three_times)
{
	sim.rtc.uip_late_ps = 5 * SIM_PS_PER_MS;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_only("rtc-update",
		    "The update flag (UIP) stayed 1 for 7213 to 7246 us in the shortest update; updates seen: 1.");
	assert_true(row_of("rtc-update", 0)->low <= 7228 && row_of("rtc-update", 0)->high >= 7228);
	reset_slow();
	become_a_guest();
	sim.rtc.uip_late_ps = 5 * SIM_PS_PER_MS;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_not_checked("rtc-update", "The update flag (UIP) stayed 1 for 7213 us, but fewer than 3 updates were seen, "
			"and a busy host may have cleared the flag late.");
	reset_slow();
	become_a_guest();
	sim.rtc.uip_late_ps = 5 * SIM_PS_PER_MS;
	open_and_check(&rtc_driver, LONG_NS);
	assert_only("rtc-update",
		    "The update flag (UIP) stayed 1 for 7213 to 7246 us in the shortest update; updates seen: 3.");
}

TEST(uip_of_244_us_as_in_qemu_is_noticed)
{
	become_a_guest();
	sim.rtc.uip_early_ps = 244 * SIM_PS_PER_US;
	sim.rtc.pf_needs_pie = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_none_bad();
	assert_passed("rtc-update",
		    "The update flag (UIP) stayed 1 for 238 to 263 us in the shortest update; updates seen: 1.");
	assert_true(row_of("rtc-seconds", 0)->checked);
}

/* In Intel's chip sets, UIP rises 488 us before the update cycle. */
TEST(uip_of_2472_us_is_no_fault)
{
	sim.rtc.uip_early_ps = 2472 * SIM_PS_PER_US;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_none_bad();
	assert_true(row_of("rtc-update", 0)->low <= 2472 && row_of("rtc-update", 0)->high >= 2472);
}

TEST(uip_that_only_one_poll_found_may_have_lasted_0_us)
{
	become_a_guest();
	/* polls are at least 280 us apart, and UIP lasts 244 us */
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 70 * SIM_PS_PER_US;
	sim.rtc.uip_early_ps = 244 * SIM_PS_PER_US;
	open_and_check(&rtc_driver, LONG_NS);
	assert_none_bad();
	assert_passed("rtc-update",
		    "The update flag (UIP) stayed 1 for 0 to 981 us in the shortest update; updates seen: 3.");
}

TEST(seconds_that_skip_are_a_fault)
{
	sim.rtc.second_step = 2;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_only("rtc-seconds", "The seconds changed from 0 to 2; updates seen: 1, with a wrong second: 1.");
	reset_slow();
	become_a_guest();
	sim.rtc.second_step = 2;
	open_and_check(&rtc_driver, LONG_NS);
	assert_only("rtc-seconds", "The seconds changed from 2 to 4; updates seen: 2, with a wrong second: 2.");
}

/* Such a jump looks as if the whole machine, including its TSC, was stopped. */
TEST(in_a_guest_a_single_jump_of_the_seconds_is_no_fault)
{
	become_a_guest();
	sim.rtc.second_step = 5;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_not_checked("rtc-seconds", "The seconds changed once from 0 to 5: the whole machine may have been "
			   "stopped.");
	assert_none_bad();
}

TEST(invalid_seconds_are_a_fault)
{
	sim.rtc.seconds_invalid = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_int_equal(clocks[0].state, CLOCK_BROKEN);
	assert_only("rtc-seconds", "The seconds register reads 7fh, which is not a second.");
}

TEST(values_during_an_update_are_ignored)
{
	sim.rtc.update_garbage = true;
	open_and_check(&rtc_driver, LONG_NS);
	assert_true(row_of("rtc-seconds", 0)->checked);
	assert_none_bad();
}

/*
 * Gives the periodic flag the rate of SELECT, whatever rate is programmed. All rows must fail, except the row for this
 * rate.
 */
static void
check_wrong_rate(uint8_t select, unsigned right)
{
	sim.rtc.pf_select = select;
	open_and_check(&rtc_driver, LONG_NS);
	for (unsigned i = HZ_8192; i <= HZ_2; i++)
		assert_int_equal(is_bad(row_of("rtc-periodic", i)), i != right);
	sim.rtc.pf_select = 0;
	for (size_t i = 0; i < rows.count; i++)
		if (is_bad(&rows.rows[i]))
			assert_string_equal(rows.rows[i].rule, "rtc-periodic");
}

TEST(a_periodic_flag_at_a_wrong_rate_is_a_fault)
{
	check_wrong_rate(3, HZ_8192);
	reset_slow();
	check_wrong_rate(10, HZ_64);
}

TEST(in_a_guest_the_flag_is_a_fault_only_if_all_windows_agree)
{
	become_a_guest();
	sim.rtc.pf_needs_pie = true;
	sim.rtc.pf_select = 6;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_only("rtc-periodic", "At 8192 Hz the periodic flag is off by -906972 to -809297 ppm, measured over 4 "
		    "edges.");
	assert_false(is_bad(row_of("rtc-periodic", HZ_1024)));
}

TEST(a_flag_that_needs_pie_is_tested_with_interrupts_masked)
{
	sim.rtc.pf_needs_pie = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_none_bad();
	assert_true(row_of("rtc-periodic", HZ_8192)->checked && row_of("rtc-periodic", HZ_1024)->checked);
	assert_false(row_of("rtc-periodic", HZ_64)->checked);
	assert_int_equal(rows.count, 6); /* the row for 2 Hz is missing */
}

TEST(a_periodic_flag_that_the_firmware_uses_is_not_changed)
{
	uint64_t reads;

	sim.rtc.b |= 0x40;
	sim.interrupts_masked = true; /* the simulated machine treats PIE with enabled interrupts as an error */
	memset(&device, 0, sizeof(device));
	rtc_driver.open(&platform, &device, clocks);
	reads = sim.rtc.c_reads;
	sim.interrupts_masked = false;
	sim.rtc.exposed_ps = 0;
	assert_int_equal(clocks[1].state, CLOCK_DISABLED);
	struct scale scale;

	scale_init(&scale, sim.tsc.counter.hz);
	memset(&rows, 0, sizeof(rows));
	rtc_check(&(struct checking){ &platform, &device, clocks, &scale, hw_tsc(), BUDGET_NS, NULL,
					     catalogue_limit, NULL, 1, false },
		  &rows);
	assert_int_equal(sim.rtc.c_reads, reads);
	assert_int_equal(sim.rtc.a_writes + sim.rtc.b_writes, 0);
	assert_not_checked("rtc-periodic",
			   "PIE is set: the firmware uses the periodic flag, so baretick does not read that flag.");
	assert_true(row_of("rtc-update", 0)->checked);
}

TEST(with_a_small_budget_an_update_may_not_come)
{
	open_and_check(&rtc_driver, 100 * MS_NS);
	assert_not_checked("rtc-update", "No update came in 91 ms.");
	assert_not_checked("rtc-seconds", "No update came in 91 ms.");
	assert_string_equal(row_of("rtc-periodic", HZ_2)->text, "There was time to poll the periodic flag at 2 Hz for 91 ms, "
			    "less than its period of 500 ms. Checks have the least time with profile=quick, the most with "
			    "profile=soak.");
	assert_int_equal(row_of("rtc-periodic", HZ_2)->unchecked, UNCHECKED_TIME);
	assert_none_bad();
	assert_true(row_of("rtc-battery", 0)->checked);
}

TEST(a_preempted_guest_is_never_accused)
{
	unsigned update = 0, periodic = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		reset_slow();
		become_a_guest();
		sim.rtc.pf_needs_pie = seed % 2;
		sim.rtc.uip_early_ps = seed % 3 ? 244 * SIM_PS_PER_US : sim.rtc.uip_early_ps;
		open_and_check_preempted(&rtc_driver, 1000 * seed * seed, seed, LONG_NS);
		assert_none_bad();
		update += row_of("rtc-update", 0)->checked;
		periodic += row_of("rtc-periodic", HZ_8192)->checked;
	}
	assert_true(update > 0 && periodic > 0);
}

static uint64_t stops_at_ps;

/* Stops the whole machine, except the RTC, for 0.9 s at the time STOPS_AT_PS. */
static void
stop_once(void)
{
	if (sim.now_ps < stops_at_ps)
		return;
	sim.rtc.ahead_ps += 900 * SIM_PS_PER_MS;
	stops_at_ps = SIM_NEVER;
}

TEST(a_guest_that_is_stopped_once_is_never_accused)
{
	unsigned sure = 0;

	for (unsigned i = 0; i < 60; i++) {
		reset_slow();
		become_a_guest();
		stops_at_ps = (10 + 30 * i) * SIM_PS_PER_MS;
		sim.before_access = stop_once;
		open_and_check(&rtc_driver, LONG_NS);
		assert_none_bad();
		for (unsigned row = HZ_8192; row <= HZ_2; row++)
			sure += row_of("rtc-periodic", row)->has_figure && row_of("rtc-periodic", row)->low > -1000 &&
				row_of("rtc-periodic", row)->high < 1000;
	}
	assert_true(sure > 4 * 60 / 2); /* most rows still prove that the flag is right */
}

/*
 * The flag is a fifth too fast, so its periods are a sixth shorter than programmed. Therefore even a gap that is
 * shorter than a programmed period may hide an edge.
 */
TEST(in_a_preempted_guest_each_interval_shows_that_the_flag_is_a_fifth_too_fast)
{
	unsigned figures = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		reset_slow();
		become_a_guest();
		sim.rtc.fast_ppm = 200000;
		begin_world();
		open_driver(&rtc_driver);
		sim.preempt_every = 1000 * seed;
		sim.preempt_seed = seed;
		sim.preempt_ps = 14 * SIM_PS_PER_MS; /* a period of 64 Hz takes 13 ms in this test */
		check_opened(&rtc_driver, LONG_NS);
		for (unsigned i = HZ_8192; i <= HZ_2; i++) {
			const struct behaviour *row = row_of("rtc-periodic", i);

			if (!row || !row->has_figure)
				continue;
			figures++;
			assert_true(row->low <= 200000 && 200000 <= row->high);
		}
	}
	assert_true(figures > 20);
}

TEST(an_absent_rtc_has_no_rows)
{
	sim.rtc.absent = true;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
}

TEST(in_a_halted_rtc_no_update_is_observed)
{
	sim.rtc.b |= 0x80;
	open_and_check(&rtc_driver, BUDGET_NS);
	assert_none_bad();
	assert_int_equal(clocks[0].state, CLOCK_STUCK);
}
