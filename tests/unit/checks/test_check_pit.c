/*
 * Checks of the PIT against its data sheet, on the simulated machine. A cycle of the PIT's input clock takes 838 ns,
 * and a port access takes 500 ns.
 */
#include "check_rows.h"

#define BUDGET_NS (50 * MS_NS)

static void
check_pit(void)
{
	open_and_check(&pit_driver, BUDGET_NS);
	assert_int_equal(rows.count, 6);
}

TEST_FIXTURE(reset, NULL);

TEST(a_healthy_pit_passes_all_checks)
{
	check_pit();
	assert_passed("pit-step", "In mode 2, all 256 readings differ by multiples of 1 (expected: 1).");
	assert_passed("pit-latch", "A latched count is held until it is read; a second latch command is ignored.");
	assert_passed("pit-status", "The status reads 70h in mode 0, f4h in mode 2, b4h after a count was loaded.");
	assert_passed("pit-out", "OUT rose between 2 us before and 1 us after the end of its count of 1194 clocks.");
	assert_passed("pit-end", "In modes 0 and 4 the counter goes on from FFFFh after the end of its count.");
	assert_passed("pit-modes", "Modes 6 and 7 count like modes 2 and 3.");
}

TEST(a_counter_that_stays_at_the_end_of_its_count_is_a_fault)
{
	sim.pit.stays_at_end = true;
	check_pit();
	assert_only("pit-end", "In mode 0 the counter stays after the end of its count.");
}

TEST(a_mode_7_that_counts_by_one_is_a_fault_on_bare_metal_only)
{
	sim.pit.mode_7_as_2 = true;
	check_pit();
	assert_only("pit-modes", "In mode 7 all counts are multiples of 1, in mode 3 of 2.");
	reset();
	sim.pit.mode_7_as_2 = true;
	become_a_guest();
	check_pit();
	assert_none_bad();
	assert_not_checked("pit-modes", "In mode 7 all counts are multiples of 1, in mode 3 of 2.");
}

TEST(a_mode_6_that_does_not_reload_its_count_is_a_fault)
{
	sim.pit.mode_6_as_4 = true;
	check_pit();
	assert_only("pit-modes", "In mode 6 the counter does not start again from its count, in mode 2 it does.");
}

TEST(the_checks_restore_the_pit)
{
	check_pit();
	assert_int_equal(sim_pit_get_status(2) & 0x7f, 0x34);
	assert_int_equal(sim.pit.channels[2].reload, 65536);
	assert_int_equal(sim.pit.port_61, 1);
	assert_int_equal(sim.pit.channels[0].writes + sim.pit.channels[1].writes, 0);
}

/* Each of the three accesses of a reading takes one cycle of the PIT's input clock, exact to a part in 10^5. */
TEST(readings_that_take_whole_clocks_are_no_fault)
{
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 838090;
	sim.cost_ps[SIM_PAUSE] = 0;
	sim.cost_ps[SIM_TSC] = sim.cost_ps[SIM_TSC_LFENCE] = sim.cost_ps[SIM_TSC_MFENCE] = 10;
	check_pit();
	assert_passed("pit-step", "In mode 2, all 256 readings differ by multiples of 1 (expected: 1).");
}

TEST(counting_by_two_is_a_fault)
{
	sim.pit.step = 2;
	check_pit();
	assert_only("pit-step", "In mode 2, all 256 readings differ by multiples of 2 (expected: 1).");
}

/* The check of OUT uses mode 0, in which this PIT counts correctly. */
TEST(counting_by_two_in_mode_2_only_is_a_fault)
{
	sim.pit.mode_2_as_3 = true;
	check_pit();
	assert_only("pit-step", "In mode 2, all 256 readings differ by multiples of 2 (expected: 1).");
	assert_passed("pit-out", "OUT rose between 2 us before and 1 us after the end of its count of 1194 clocks.");
}

/*
 * OUT rises at the right time, measured in cycles of the PIT's slow clock. If the counter hardly moves, OUT is not
 * checked, because the wait would take too long.
 */
TEST(a_slow_pit_passes_all_checks_measured_in_its_own_clocks)
{
	static const unsigned factors[] = { 2, 8, 10, 14, 17, 40, 100, 2000 };
	struct scale scale;

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		reset();
		sim.pit.hz.den *= factors[i];
		open_driver(&pit_driver);
		memset(&rows, 0, sizeof(rows));
		scale_init(&scale, sim.tsc.counter.hz);
		pit_check(&(struct checking){ &platform, &device, clocks, &scale, hw_tsc(), BUDGET_NS, NULL,
						     catalogue_limit, NULL, 1, false },
			  &rows);
		assert_none_bad();
		assert_int_equal(row_of("pit-out", 0)->checked, factors[i] <= 14);
		if (factors[i] > 16)
			assert_not_checked("pit-out", "The counter hardly counts.");
	}
}

TEST(a_latch_that_does_not_hold_is_a_fault)
{
	sim.pit.latch_ignored = true;
	check_pit();
	assert_only("pit-latch", "A latched count keeps counting: in 8 of 8 tries.");
}

TEST(a_latch_that_a_second_command_changes_is_a_fault)
{
	sim.pit.latches_again = true;
	check_pit();
	assert_only("pit-latch", "A second latch command latches a new count: in 8 of 8 tries.");
}

/*
 * The latch is judged by the PIT's measured rate. Here the assumed rate of the TSC is five times too high or too low.
 */
TEST(a_wrong_rate_is_no_broken_latch)
{
	static const uint64_t wrong_hz[] = { 5000000000, 200000000 };
	struct scale scale;

	for (size_t i = 0; i < 2; i++) {
		reset();
		open_driver(&pit_driver);
		memset(&rows, 0, sizeof(rows));
		scale_init(&scale, (struct rate){ wrong_hz[i], 1 });
		pit_check(&(struct checking){ &platform, &device, clocks, &scale, hw_tsc(), BUDGET_NS, NULL,
						     catalogue_limit, NULL, 1, false },
			  &rows);
		assert_passed("pit-latch",
			      "A latched count is held until it is read; a second latch command is ignored.");
	}
}

TEST(a_status_with_a_wrong_mode_is_a_fault)
{
	sim.pit.status_flipped = 0x02;
	check_pit();
	assert_only("pit-status", "The status reads 72h in mode 0, f6h in mode 2, b6h after a count was loaded.");
}

TEST(null_count_is_checked_on_bare_metal_only)
{
	sim.pit.null_count_never = true;
	check_pit();
	assert_only("pit-status",
		    "The status reads 30h in mode 0, b4h in mode 2, b4h after a count was loaded; NULL COUNT is never "
		    "set.");
	reset();
	sim.pit.null_count_never = true;
	become_a_guest();
	check_pit();
	assert_passed("pit-status",
		      "The status reads 30h in mode 0, b4h in mode 2, b4h after a count was loaded; NULL COUNT is "
		      "never set.");
	assert_none_bad();
}

TEST(a_null_count_that_stays_set_is_a_fault)
{
	sim.pit.status_flipped = 0x40;
	become_a_guest();
	check_pit();
	assert_only("pit-status",
		    "The status reads 30h in mode 0, b4h in mode 2, f4h after a count was loaded; NULL COUNT is never "
		    "set.");
}

TEST(an_out_that_never_rises_or_is_never_low_is_a_fault)
{
	sim.pit.out_never_high = true;
	check_pit();
	assert_only("pit-out", "OUT (port 61h bit 5) was set to rise after 1000 us and did not within 4000 us.");
	reset();
	sim.pit.out_never_low = true;
	check_pit();
	assert_only("pit-out", "OUT (port 61h bit 5) was set to rise after 1000 us, but was high at once.");
}

TEST(the_delay_of_a_late_out_is_measured)
{
	sim.pit.out_late_ps = 400 * SIM_PS_PER_US;
	check_pit();
	assert_only("pit-out", "OUT rose 398 to 401 us after the end of its count of 1194 clocks.");
	assert_int_equal(row_of("pit-out", 0)->low, 398);
	assert_int_equal(row_of("pit-out", 0)->high, 401);
}

TEST(without_port_61_out_is_not_checked)
{
	sim.pit.port_61_absent = true;
	sim.pit.channels[2].gate = true;
	check_pit();
	assert_not_checked("pit-out", "Port 61h, where OUT is read, reads FFh.");
	assert_none_bad();
}

TEST(a_preempted_guest_is_never_accused)
{
	unsigned latch = 0, out = 0, unclear = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		reset();
		become_a_guest();
		open_and_check_preempted(&pit_driver, 1 + seed * 4, seed, 5000 * MS_NS);
		assert_none_bad();
		latch += row_of("pit-latch", 0)->checked;
		out += row_of("pit-out", 0)->checked;
		unclear += !row_of("pit-latch", 0)->checked;
	}
	assert_true(latch > 0 && out > 0 && unclear > 0);
}

TEST(an_absent_pit_has_no_rows)
{
	sim.pit.absent = true;
	open_and_check(&pit_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
}
