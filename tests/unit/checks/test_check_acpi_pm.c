/*
 * Checks of the PM timer against its specification, on the simulated machine. A reading takes 520 ns, and a tick takes
 * 279 ns.
 */
#include "check_rows.h"

#define BUDGET_NS (100 * MS_NS)

static void
open_with_32_bits(uint64_t ticks)
{
	sim.pm.counter.origin_ticks = ticks;
	platform.acpi.fadt.tmr_val_ext = true;
}

TEST_FIXTURE(reset, NULL);

TEST(a_healthy_timer_passes_all_checks)
{
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_int_equal(rows.count, 2);
	assert_passed("pm-high-bits", "The timer has 24 bits, as the FADT says: bits 24 to 31 are 0 in 64 readings.");
	assert_passed("pm-glitch", "None of 4096 single readings was wrong.");
}

TEST(set_bits_above_24_are_a_fault_of_a_24_bit_timer)
{
	sim.pm.high_bits = 0xa5000000;
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_only("pm-high-bits", "By the FADT the timer has 24 bits, but bits 24 to 31 are not 0: it reads "
		    "a5000007h.");
}

TEST(the_first_reading_beyond_24_bits_is_shown)
{
	sim.pm.counter.wrap_bits = 32;
	sim.pm.counter.origin_ticks = 0x1000000 - 40;
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_only("pm-high-bits", "By the FADT the timer has 24 bits, but bits 24 to 31 are not 0: it reads "
		    "1000000h.");
}

TEST(a_32_bit_timer_above_24_bits_passes_at_once)
{
	sim.pm.counter.wrap_bits = 32;
	open_with_32_bits(0x1000000);
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_passed("pm-width", "The timer has more than 24 bits, as the FADT says: it reads 1000007h.");
	assert_none_bad();
}

TEST(a_check_waits_for_bit_24_if_it_comes_in_time)
{
	sim.pm.counter.wrap_bits = 32;
	open_with_32_bits(0x1000000 - 200000); /* bit 24 becomes 1 after 55.9 ms */
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_passed("pm-width", "The timer has more than 24 bits, as the FADT says: it reads 1000000h.");
	reset();
	open_with_32_bits(0);
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_not_checked("pm-width", "The test takes 4692 ms, but only 99 ms were left for the checks of this device. "
			   "Checks have the least time with profile=quick, the most with profile=soak.");
	assert_int_equal(row_of("pm-width", 0)->unchecked, UNCHECKED_TIME);
}

TEST(a_32_bit_timer_that_wraps_at_24_bits_is_a_fault)
{
	open_with_32_bits(0x1000000 - 200000);
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_only("pm-width", "By the FADT the timer has 32 bits, but after fcf2c7h it read 45ebh: it wraps at 24 "
		    "bits.");
}

TEST(a_single_wrong_reading_is_a_glitch)
{
	sim.pm.glitch_ps = 3 * SIM_PS_PER_NS;
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_only("pm-glitch",
		    "12 of 4096 readings were wrong, such as 1cf8h after 1cfah; each time the next "
		    "reading was right.");
}

TEST(a_permanent_step_back_is_no_glitch)
{
	sim.pm.counter.backward_at_ps = SIM_PS_PER_MS;
	sim.pm.counter.backward_ticks = 1000;
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_none_bad();
	assert_true(row_of("pm-glitch", 0)->checked);
}

TEST(with_little_time_a_check_is_not_started)
{
	open_and_check(&acpi_pm_driver, 5 * MS_NS);
	assert_true(row_of("pm-high-bits", 0)->checked);
	assert_not_checked("pm-glitch", "The test takes 20 ms, but only 4 ms were left for the checks of this device. "
					"Checks have the least time with profile=quick, the most with profile=soak.");
}

TEST(a_preempted_guest_is_never_accused)
{
	unsigned seen = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		reset();
		become_a_guest();
		open_and_check_preempted(&acpi_pm_driver, 1 + seed * 4, seed, 5000 * MS_NS);
		assert_none_bad();
		seen += row_of("pm-glitch", 0)->checked;
		reset();
		sim.pm.counter.wrap_bits = 32;
		open_with_32_bits(0x1000000 - seed * 10000);
		open_and_check_preempted(&acpi_pm_driver, 1 + seed * 4, seed, 5000 * MS_NS);
		assert_none_bad();
	}
	assert_true(seen > 0);
}

TEST(an_absent_timer_has_no_rows)
{
	sim.pm.absent = true;
	open_and_check(&acpi_pm_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
}
