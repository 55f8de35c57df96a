/*
 * The HPET driver on the simulated machine. The HPET counts at 10 MHz. An MMIO read takes 300 ns, the bracket's TSC
 * reads take 20 ns, and a TSC tick takes 1 ns.
 */
#include "driver_checks.h"

enum { HPET, HPET_32 };

#define ROLLOVER (UINT64_C(1) << 32)
#define TICK_PS  (100 * SIM_PS_PER_NS)

static void
switch_on(void)
{
	sim.hpet.configuration = 1;
}

static void
set_low_half_only(void)
{
	sim.hpet.capability &= ~(UINT64_C(1) << 13);
}

static void
set_period(uint32_t period_fs)
{
	sim.hpet.capability = (uint64_t)period_fs << 32 | (uint32_t)sim.hpet.capability;
}

TEST_FIXTURE(reset, NULL);

TEST(a_reading_of_64_bits_takes_three_reads_and_of_32_bits_one)
{
	struct sample samples[2];

	switch_on();
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_PRESENT, "");
	assert_int_equal(clocks[HPET].width_bits, 64);
	/* several cores may read at the same time, because a reading writes no register */
	assert_false(clocks[HPET].one_core_only);
	assert_int_equal(clocks[HPET].wrap_ticks, UINT64_MAX);
	assert_int_equal(clocks[HPET].claimed.num, 1000000000000000);
	assert_int_equal(clocks[HPET].claimed.den, 100000000);
	take(&clocks[HPET], 10 * SIM_PS_PER_US, samples, 2);
	/* The low half is the second of three reads, at 10,020 + 600 ns, in tick 106. */
	assert_sample(samples[0], 10020, 106, 10940);
	assert_sample(samples[1], 10940, 115, 11860);

	assert_state(HPET_32, CLOCK_PRESENT, "");
	assert_string_equal(clocks[HPET_32].main, "hpet");
	assert_int_equal(clocks[HPET_32].wrap_ticks, UINT32_MAX);
	take(&clocks[HPET_32], 10 * SIM_PS_PER_US, samples, 2);
	assert_sample(samples[0], 10020, 103, 10340);
	assert_sample(samples[1], 10340, 106, 10660);
}

#define INT_ENB  UINT64_C(4)
#define PERIODIC UINT64_C(8)

/* The firmware left timers armed that would interrupt if the counter was switched on. */
TEST(an_hpet_that_is_off_never_runs_with_armed_timers_and_is_restored)
{
	sim.hpet.timers[0] = INT_ENB | PERIODIC;
	sim.hpet.timers[2] = INT_ENB;
	open_driver(&hpet_driver);
	assert_int_equal(sim.hpet.configuration & 1, 1);
	assert_int_equal(sim.hpet.timers[0], PERIODIC);
	assert_int_equal(sim.hpet.timers[1], 0);
	assert_int_equal(sim.hpet.timers[2], 0);
	hpet_driver.close(&device);
	assert_int_equal(sim.hpet.configuration & 1, 0);
	assert_int_equal(sim.hpet.timers[0], INT_ENB | PERIODIC);
	assert_int_equal(sim.hpet.timers[1], 0);
	assert_int_equal(sim.hpet.timers[2], INT_ENB);
	assert_int_equal(sim.hpet.armed_while_on, 0);
}

/* The firmware uses this HPET for its tick. */
TEST(an_hpet_that_runs_keeps_its_armed_timers)
{
	switch_on();
	sim.hpet.timers[0] = INT_ENB | PERIODIC;
	open_driver(&hpet_driver);
	assert_int_equal(sim.hpet.timers[0], INT_ENB | PERIODIC);
	hpet_driver.close(&device);
	assert_int_equal(sim.hpet.timers[0], INT_ENB | PERIODIC);
	assert_int_equal(sim.hpet.configuration, 1);
}

TEST(a_32_bit_hpet_takes_one_read_and_has_no_second_read_method)
{
	struct sample sample;

	switch_on();
	set_low_half_only();
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_PRESENT, "");
	assert_int_equal(clocks[HPET].width_bits, 32);
	assert_int_equal(clocks[HPET].wrap_ticks, UINT32_MAX);
	take(&clocks[HPET], (ROLLOVER + 5) * TICK_PS, &sample, 1);
	assert_int_equal(sample.ticks, 5 + 3);
	assert_int_equal(sample.end - sample.begin, 320);
	assert_state(HPET_32, CLOCK_ABSENT,
		     "This HPET has 32 bits, so its reads are those of the clock hpet.");
}

/* Returns a reading without a check for a rollover: it reads the high half, and then the low half. */
static uint64_t
read_naively(uint64_t at_ps)
{
	sim.now_ps = at_ps;
	uint64_t high = hw_read32(SIM_HPET_BASE + 0xf4);

	return high << 32 | hw_read32(SIM_HPET_BASE + 0xf0);
}

TEST(a_reading_at_a_rollover_is_right_although_a_naive_reading_is_torn)
{
	/* the low half rolls over between the two reads */
	uint64_t start_ps = ROLLOVER * TICK_PS - 500 * SIM_PS_PER_NS;
	struct sample sample;

	switch_on();
	open_driver(&hpet_driver);
	assert_int_equal(read_naively(start_ps), 1); /* a torn reading, where 2^32 + 1 would be right */
	/*
	 * At 320 ns the high half is 0, at 620 ns the low half is 1, and at 920 ns the high half is 1. Therefore the
	 * low half is read again at 1,220 ns, which is 720 ns after the rollover.
	 */
	take(&clocks[HPET], start_ps, &sample, 1);
	assert_int_equal(sample.ticks, ROLLOVER + 7);
	assert_int_equal(sample.end - sample.begin, 1220);
}

TEST(every_reading_around_the_rollover_is_within_its_bracket)
{
	switch_on();
	open_driver(&hpet_driver);
	for (uint64_t before_ns = 0; before_ns < 2000; before_ns += 10) {
		struct sample sample;

		take(&clocks[HPET], ROLLOVER * TICK_PS - before_ns * SIM_PS_PER_NS, &sample, 1);
		assert_in_range(sample.ticks, sample.begin / 100, sample.end / 100);
	}
}

TEST(an_hpet_that_is_off_is_switched_off_again_and_its_counter_is_not_written)
{
	sim.hpet.configuration = 2; /* legacy replacement is on, and must stay on */
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_PRESENT,
		     "The HPET was off. It is switched on for the run, and off again afterwards.");
	assert_string_equal(clocks[HPET_32].reason, clocks[HPET].reason);
	assert_int_equal(sim.hpet.configuration, 3);
	hpet_driver.close(&device);
	assert_int_equal(sim.hpet.configuration, 2);
	hpet_driver.close(&device);
	assert_int_equal(sim.hpet.configuration_writes, 2);
	assert_int_equal(sim.hpet.counter_writes, 0);
}

TEST(an_hpet_that_is_on_is_not_written_at_all)
{
	sim.hpet.configuration = 3;
	open_driver(&hpet_driver);
	hpet_driver.close(&device);
	assert_int_equal(sim.count[SIM_WRITE], 0);
}

TEST(a_stuck_counter_is_found_in_time_and_restored)
{
	sim.hpet.dead = true;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_STUCK, "The HPET is on, but its main counter does not count.");
	assert_state(HPET_32, CLOCK_STUCK, "The HPET is on, but its main counter does not count.");
	assert_int_equal(sim.hpet.configuration, 0);
	assert_int_equal(sim.hpet.configuration_writes, 2);
	/* The driver waits for 2^24 ticks of the TSC, or 16.8 ms. Each reading takes 310 ns. */
	assert_in_range(sim.count[SIM_READ], 54000, 54200);
}

TEST(a_stuck_counter_is_found_even_if_the_tsc_is_stuck)
{
	sim.hpet.dead = true;
	sim.tsc.counter.stuck_at_ps = 0;
	open_driver(&hpet_driver);
	assert_int_equal(clocks[HPET].state, CLOCK_STUCK);
	assert_in_range(sim.count[SIM_READ], 100000, 100010);
}

TEST(without_a_table_or_with_a_bad_address_nothing_is_accessed)
{
	platform.acpi.hpet.base = 0xfed40000;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN, "The firmware has not mapped the HPET's base address fed40000h.");
	platform.acpi.hpet.base = SIM_HPET_BASE + 4;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN, "The HPET's ACPI table gives the base address fed00004h, which is 0 or not "
		     "aligned.");
	platform.acpi.hpet.base = 0;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN, "The HPET's ACPI table gives the base address 0h, which is 0 or not aligned.");
	platform.acpi.hpet.base = SIM_HPET_BASE;
	platform.acpi.hpet.space = ACPI_SPACE_IO;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN,
		     "The HPET's ACPI table names address space 1 instead of memory.");
	platform.acpi.hpet.found = false;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_ABSENT, "There is no HPET table in ACPI.");
	assert_state(HPET_32, CLOCK_ABSENT, "There is no HPET table in ACPI.");
	assert_int_equal(sim.count[SIM_READ] + sim.count[SIM_WRITE], 0);
}

TEST(a_capability_register_of_all_ones_or_zero_means_absent)
{
	sim.hpet.absent = true;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN,
		     "The HPET's capability register reads all ones: nothing answers at fed00000h.");
	sim.hpet.absent = false;
	sim.hpet.capability = 0;
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN,
		     "The HPET's capability register reads 0: nothing answers at fed00000h.");
	assert_int_equal(sim.count[SIM_WRITE], 0);
}

TEST(a_period_outside_of_100000_to_100000000_fs_is_reported)
{
	switch_on();
	set_period(100000);
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_PRESENT, "");
	set_period(99999);
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN,
		     "The HPET's period register reads 99999 fs, not 100000 to 100000000.");
	set_period(100000001);
	open_driver(&hpet_driver);
	assert_state(HPET, CLOCK_BROKEN,
		     "The HPET's period register reads 100000001 fs, not 100000 to 100000000.");
	set_period(0);
	open_driver(&hpet_driver);
	assert_state(HPET_32, CLOCK_BROKEN,
		     "The HPET's period register reads 0 fs, not 100000 to 100000000.");
}

TEST(a_step_back_of_30_ticks_is_visible)
{
	struct sample sound[2], sick[2];

	switch_on();
	open_driver(&hpet_driver);
	take(&clocks[HPET_32], 10 * SIM_PS_PER_US, sound, 2);
	sim.hpet.counter.backward_at_ps = 10400 * SIM_PS_PER_NS;
	sim.hpet.counter.backward_ticks = 30;
	take(&clocks[HPET_32], 10 * SIM_PS_PER_US, sick, 2);
	assert_int_equal(sick[0].ticks, sound[0].ticks);
	assert_int_equal(sick[1].ticks, sound[1].ticks - 30);
}

TEST(a_read_that_costs_50_us_more_is_50000_ticks_longer)
{
	struct sample sound, slow;

	switch_on();
	open_driver(&hpet_driver);
	take(&clocks[HPET_32], 0, &sound, 1);
	sim.hpet.counter.extra_ps = 50 * SIM_PS_PER_US;
	take(&clocks[HPET_32], 0, &slow, 1);
	assert_int_equal(sound.end - sound.begin, 320);
	assert_int_equal(slow.end - slow.begin, 50320);
}
