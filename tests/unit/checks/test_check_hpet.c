/* The HPET's promises, on the simulated machine: a tick is 100 ns, an access of its registers 300. */
#include "check_rows.h"
#include "sim_internal.h"

#define BUDGET_NS (50 * MS_NS)
#define ROLLOVER  (UINT64_C(1) << 32)

static void
a_healthy_hpet_keeps_its_promises(void **state)
{
	(void)state;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 5);
	assert_passed("hpet-period", "The period register reads 100000000 fs (valid: 100000 to 100000000).");
	assert_passed("hpet-base", "Its table gives the base address fed00000h, below 4 GiB.");
	assert_passed("hpet-stops", "It stops at e5h with ENABLE_CNF 0 and continues from there.");
	assert_not_checked("hpet-torn", "The low half rolls over in 429496 ms, beyond the time left.");
	assert_passed("hpet-pc10", "CPUID 5h reports no C-state as deep as PC10.");
	assert_int_equal(sim.hpet.configuration, 1);
	hpet_driver.close(&device);
	assert_int_equal(sim.hpet.configuration, 0);
}

static void
a_period_that_can_not_be_has_a_row_though_the_clock_is_broken(void **state)
{
	(void)state;
	sim.hpet.capability = UINT64_C(100000001) << 32 | (uint32_t)sim.hpet.capability;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(clocks[0].state, CLOCK_BROKEN);
	assert_int_equal(rows.count, 2);
	assert_only("hpet-period", "The period register reads 100000001 fs (valid: 100000 to 100000000).");
}

/* Where the CPU has no TSC no clock is opened: what is read is where the table says. */
static void
without_a_tsc_its_registers_are_read_where_they_are(void **state)
{
	(void)state;
	platform.cpu.has_tsc = false;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(clocks[0].state, CLOCK_ABSENT);
	assert_int_equal(rows.count, 2);
	assert_passed("hpet-period", "The period register reads 100000000 fs (valid: 100000 to 100000000).");
	assert_passed("hpet-base", "Its table gives the base address fed00000h, below 4 GiB.");
}

static uint64_t
read_above_4_gib(uint64_t address, unsigned width_bytes)
{
	return sim_hpet_read(address - (UINT64_C(1) << 32), width_bytes);
}

static void
a_base_above_4_gib_is_told(void **state)
{
	(void)state;
	platform.acpi.hpet.base = UINT64_C(0x1fed00000);
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0); /* nothing is mapped there: open called it broken */
	sim_map((struct sim_region){ UINT64_C(0x1fed00000), 4096, read_above_4_gib, NULL });
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-base", "Its table gives the base address 1fed00000h, above 4 GiB.");
}

static void
counting_while_it_is_off_is_a_fault(void **state)
{
	(void)state;
	sim.hpet.counts_when_off = true;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-stops", "It counts while ENABLE_CNF is 0: from 100h to 4ebh.");
}

static void
so_is_losing_its_value(void **state)
{
	(void)state;
	sim.hpet.loses_value = true;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-stops", "With ENABLE_CNF 0 it reads 0h, after e2h.");
}

static void
an_hpet_that_the_firmware_left_on_is_not_stopped(void **state)
{
	(void)state;
	sim.hpet.configuration = 3;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_not_checked("hpet-stops", "The firmware left it running and may use it.");
	assert_int_equal(sim.hpet.configuration_writes, 0);
}

/* The high half late by LATE_PS at a rollover that comes in MS. */
static void
roll_over(uint64_t ms, uint64_t late_ps)
{
	sim.hpet.counter.origin_ticks = ROLLOVER - ms * 10000;
	sim.hpet.high_late_ps = late_ps;
	open_and_check(&hpet_driver, BUDGET_NS);
}

static void
a_reading_torn_at_the_rollover_is_a_fault(void **state)
{
	(void)state;
	roll_over(20, 5 * SIM_PS_PER_US);
	assert_only("hpet-torn", "At the rollover of the low half it read fffffffah, then 1h.");
}

static void
readings_across_the_rollover_follow_each_other(void **state)
{
	(void)state;
	roll_over(20, 0);
	assert_passed("hpet-torn",
		      "366 readings across the rollover of the low half are in order, by one access or by several.");
	reset(state);
	become_a_guest(); /* where an access of 64 bits is not tried */
	roll_over(20, 0);
	assert_passed("hpet-torn", "272 readings across the rollover of the low half are in order.");
}

static void
thirty_two_bits_are_not_torn(void **state)
{
	(void)state;
	sim.hpet.capability &= ~UINT64_C(0x2000);
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_not_checked("hpet-torn", "It is 32 bits wide, which one access reads.");
	assert_none_bad();
}

static void
a_processor_with_deep_c_states(uint64_t limit)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, 0x00200008, 0x00000210 });
	sim_cpuid_set(5, 0, (struct hw_cpuid){ 0x40, 0x40, 3, 0x11142120 });
	sim_msr_set(0xe2, limit);
}

static void
a_package_that_may_reach_pc10_stops_it(void **state)
{
	(void)state;
	a_processor_with_deep_c_states(0x1e008408);
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_only("hpet-pc10", "The package's C-state limit (MSR E2h) is 8, which allows PC10.");
	a_processor_with_deep_c_states(0x1e008407);
	check_opened(&hpet_driver, BUDGET_NS);
	assert_passed("hpet-pc10", "The package's C-state limit (MSR E2h) is 7, which excludes PC10.");
}

/* An MSR that is not there would end the test. */
static void
a_guest_is_not_asked_for_the_msr(void **state)
{
	(void)state;
	a_processor_with_deep_c_states(8);
	sim.msr_count--;
	become_a_guest();
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_not_checked("hpet-pc10", "Checked on Intel processors on bare metal only.");
}

static void
a_preempted_guest_is_never_accused(void **state)
{
	unsigned torn_seen = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		reset(state);
		become_a_guest();
		sim.hpet.counter.origin_ticks = ROLLOVER - seed * 10000;
		open_and_check_preempted(&hpet_driver, 1 + seed * seed * 100, seed, 5000 * MS_NS);
		assert_none_bad();
		assert_true(row_of("hpet-stops", 0)->checked);
		torn_seen += row_of("hpet-torn", 0)->checked;
	}
	assert_true(torn_seen > 0);
}

static void
an_hpet_that_is_not_there_has_no_rows(void **state)
{
	(void)state;
	platform.acpi.hpet.found = false;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
	reset(state);
	sim.hpet.absent = true;
	open_and_check(&hpet_driver, BUDGET_NS);
	assert_int_equal(rows.count, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_healthy_hpet_keeps_its_promises, reset),
		cmocka_unit_test_setup(a_period_that_can_not_be_has_a_row_though_the_clock_is_broken, reset),
		cmocka_unit_test_setup(a_base_above_4_gib_is_told, reset),
		cmocka_unit_test_setup(without_a_tsc_its_registers_are_read_where_they_are, reset),
		cmocka_unit_test_setup(counting_while_it_is_off_is_a_fault, reset),
		cmocka_unit_test_setup(so_is_losing_its_value, reset),
		cmocka_unit_test_setup(an_hpet_that_the_firmware_left_on_is_not_stopped, reset),
		cmocka_unit_test_setup(a_reading_torn_at_the_rollover_is_a_fault, reset),
		cmocka_unit_test_setup(readings_across_the_rollover_follow_each_other, reset),
		cmocka_unit_test_setup(thirty_two_bits_are_not_torn, reset),
		cmocka_unit_test_setup(a_package_that_may_reach_pc10_stops_it, reset),
		cmocka_unit_test_setup(a_guest_is_not_asked_for_the_msr, reset),
		cmocka_unit_test_setup(a_preempted_guest_is_never_accused, reset),
		cmocka_unit_test_setup(an_hpet_that_is_not_there_has_no_rows, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
