/*
 * Checks of the HPET against its specification, on the simulated machine. A tick takes 100 ns, and an access to a
 * register takes 300 ns.
 */
#include "check_rows.h"
#include "sim_internal.h"

#define BUDGET_NS (50 * MS_NS)
#define ROLLOVER  (UINT64_C(1) << 32)

TEST_FIXTURE(reset, NULL);

TEST(a_healthy_hpet_passes_all_checks)
{
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 5);
	assert_passed("hpet-period", "The period register reads 100000000 fs (valid: 100000 to 100000000).");
	assert_passed("hpet-base", "The HPET's ACPI table gives the base address fed00000h, below 4 GiB.");
	assert_passed("hpet-stops", "The counter stops at e5h with ENABLE_CNF 0 and continues from there.");
	assert_not_checked("hpet-torn", "The test takes 429498 ms, until the low half has rolled over, but only 49 ms were "
			   "left for this device's checks. As it rolls over only once in 429 s, few runs can make this test.");
	assert_int_equal(row_of("hpet-torn", 0)->unchecked, UNCHECKED_TIME);
	assert_passed("hpet-pc10", "CPUID 5h reports no C-state as deep as PC10.");
	assert_int_equal(sim.hpet.configuration, 1);
	hpet_driver.close(&device);
	assert_int_equal(sim.hpet.configuration, 0);
}

TEST(an_impossible_period_has_a_row_although_the_clock_is_broken)
{
	sim.hpet.capability = UINT64_C(100000001) << 32 | (uint32_t)sim.hpet.capability;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(clocks[0].state, CLOCK_BROKEN);
	assert_int_equal(rows.count, 2);
	assert_only("hpet-period", "The period register reads 100000001 fs (valid: 100000 to 100000000).");
}

/* Without a TSC no clock is opened, so the checks use the address in the ACPI table. */
TEST(without_a_tsc_the_registers_are_read_at_the_acpi_address)
{
	platform.cpu.has_tsc = false;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(clocks[0].state, CLOCK_ABSENT);
	assert_int_equal(rows.count, 2);
	assert_passed("hpet-period", "The period register reads 100000000 fs (valid: 100000 to 100000000).");
	assert_passed("hpet-base", "The HPET's ACPI table gives the base address fed00000h, below 4 GiB.");
}

static uint64_t
read_above_4_gib(uint64_t address, unsigned width_bytes)
{
	return sim_hpet_read(address - (UINT64_C(1) << 32), width_bytes);
}

TEST(a_base_above_4_gib_is_reported)
{
	platform.acpi.hpet.base = UINT64_C(0x1fed00000);
	open_and_check(&hpet_driver, BUDGET_NS);
	/* nothing is mapped at this address, so the driver has already reported a broken HPET */
	assert_int_equal(rows.count, 0);
	sim_map_region((struct sim_region){ UINT64_C(0x1fed00000), 4096, read_above_4_gib, NULL });
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-base", "The HPET's ACPI table gives the base address 1fed00000h, above 4 GiB.");
}

TEST(an_hpet_that_counts_while_it_is_off_is_a_fault)
{
	sim.hpet.counts_when_off = true;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-stops", "The counter counts while ENABLE_CNF is 0: from 100h to 4ebh.");
}

TEST(an_hpet_that_loses_its_value_is_a_fault)
{
	sim.hpet.loses_value = true;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-stops", "When ENABLE_CNF became 0, the counter jumped to 0h from e2h.");
}

TEST(an_hpet_that_the_firmware_left_on_is_not_stopped)
{
	sim.hpet.configuration = 3;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_not_checked("hpet-stops", "The firmware left the HPET running and may use it.");
	assert_int_equal(sim.hpet.configuration_writes, 0);
}

/* Lets the low half of the counter roll over after MS milliseconds. The high half changes LATE_PS later. */
static void
roll_over(uint64_t ms, uint64_t late_ps)
{
	sim.hpet.counter.origin_ticks = ROLLOVER - ms * 10000;
	sim.hpet.high_late_ps = late_ps;
	open_and_check(&hpet_driver, BUDGET_NS);
}

TEST(a_reading_torn_at_the_rollover_is_a_fault)
{
	roll_over(20, 5 * SIM_PS_PER_US);
	assert_only("hpet-torn", "At the rollover of the low half the HPET read fffffffah, then 1h.");
}

TEST(healthy_readings_across_the_rollover_pass)
{
	roll_over(20, 0);
	assert_passed("hpet-torn",
		      "366 readings across the rollover of the low half are in order, whether read by one access or "
		      "by several.");
	reset();
	become_a_guest(); /* in a guest, 64-bit accesses are not tried */
	roll_over(20, 0);
	assert_passed("hpet-torn", "272 readings across the rollover of the low half are in order.");
}

TEST(an_hpet_of_32_bits_has_no_torn_readings)
{
	sim.hpet.capability &= ~UINT64_C(0x2000);
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_not_checked("hpet-torn", "The HPET is 32 bits wide, so one access reads all of it.");
	assert_none_bad();
}

static void
a_processor_with_deep_c_states(uint64_t limit)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, 0x00200008, 0x00000210 });
	sim_cpuid_set(5, 0, (struct hw_cpuid){ 0x40, 0x40, 3, 0x11142120 });
	sim_msr_set(0xe2, limit);
}

TEST(on_a_package_that_may_reach_pc10_the_hpet_may_stop)
{
	a_processor_with_deep_c_states(0x1e008408);
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-pc10", "The package's C-state limit (MSR E2h) is 8, which allows PC10.");
	a_processor_with_deep_c_states(0x1e008407);
	check_opened(&hpet_driver, BUDGET_NS);
	assert_passed("hpet-pc10", "The package's C-state limit (MSR E2h) is 7, which excludes PC10.");
}

/* A read of the absent MSR would end the test. */
TEST(in_a_guest_the_msr_is_not_read)
{
	a_processor_with_deep_c_states(8);
	sim.msr_count--;
	become_a_guest();
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_not_checked("hpet-pc10", "This is checked only on Intel processors on bare metal.");
}

TEST(a_preempted_guest_is_never_accused)
{
	unsigned torn_seen = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		reset();
		become_a_guest();
		sim.hpet.counter.origin_ticks = ROLLOVER - seed * 10000;
		open_and_check_preempted(&hpet_driver, 1 + seed * seed * 100, seed, 5000 * MS_NS);
		assert_none_bad();
		assert_true(row_of("hpet-stops", 0)->checked);
		torn_seen += row_of("hpet-torn", 0)->checked;
	}
	assert_true(torn_seen > 0);
}

TEST(an_absent_hpet_has_no_rows)
{
	platform.acpi.hpet.found = false;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
	reset();
	sim.hpet.absent = true;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
}
