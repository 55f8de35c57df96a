/*
 * The PM timer's driver on the simulated machine. The timer counts at 3,579,545 Hz. A port read takes 500 ns, an MMIO
 * read 300 ns, and the bracket's TSC reads 20 ns.
 */
#include "driver_checks.h"

#define MMIO UINT64_C(0xfed80000)

static void
put_into_memory(void)
{
	sim.pm.is_memory = true;
	sim.pm.address = MMIO + 8;
	sim_map_region((struct sim_region){ MMIO, 4096, NULL, NULL });
	platform.acpi.fadt.has_x_pm_tmr = true;
	platform.acpi.fadt.x_pm_tmr_space = ACPI_SPACE_MEMORY;
	platform.acpi.fadt.x_pm_tmr_address = MMIO + 8;
}

static void
make_32_bits_wide(void)
{
	sim.pm.counter.wrap_bits = 32;
	platform.acpi.fadt.tmr_val_ext = true;
}

TEST_FIXTURE(reset, NULL);

TEST(a_reading_is_one_port_read_of_500_ns)
{
	struct sample samples[2];

	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_PRESENT, "");
	assert_string_equal(clocks[0].found_by, "ACPI FADT PM_TMR_BLK");
	assert_int_equal(clocks[0].width_bits, 24);
	assert_int_equal(clocks[0].wrap_ticks, 0xffffff);
	assert_int_equal(clocks[0].claimed.num / clocks[0].claimed.den, 3579545); /* and 5/11 */
	take(&clocks[0], SIM_PS_PER_S, samples, 2);
	assert_sample(samples[0], 1000000020, 3579546, 1000000540); /* read at 520 ns, which is tick 1.86 */
	assert_sample(samples[1], 1000000540, 3579548, 1000001060); /* read at 1,040 ns, which is tick 3.72 */
}

TEST(a_reading_in_memory_is_one_mmio_read_of_300_ns)
{
	struct sample sample;

	put_into_memory();
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_PRESENT, "");
	assert_string_equal(clocks[0].found_by, "ACPI FADT X_PM_TMR_BLK");
	take(&clocks[0], SIM_PS_PER_S, &sample, 1);
	assert_sample(sample, 1000000020, 3579546, 1000000340);
	assert_int_equal(sim.count[SIM_IN], 0);
}

TEST(a_24_bit_timer_that_wraps_from_fffffeh_to_3_advanced_by_5)
{
	struct sample samples[2];

	open_driver(&acpi_pm_driver);
	sim.pm.counter.origin_ticks = 0xfffffe - 1; /* the first reading is at 520 ns, which is tick 1.86 */
	take(&clocks[0], 0, &samples[0], 1);
	/* the second reading is at 1,917 ns, which is tick 6.86 */
	take(&clocks[0], 1397 * SIM_PS_PER_NS, &samples[1], 1);
	assert_int_equal(samples[0].ticks, 0xfffffe);
	assert_int_equal(samples[1].ticks, 3);
	assert_int_equal(clock_elapsed_ticks(&clocks[0], samples[0].ticks, samples[1].ticks), 5);
}

TEST(bits_above_24_are_ignored)
{
	struct sample sample;

	sim.pm.counter.wrap_bits = 32;
	sim.pm.counter.origin_ticks = 0xab000000;
	open_driver(&acpi_pm_driver);
	take(&clocks[0], 0, &sample, 1);
	assert_int_equal(sample.ticks, 1);
	make_32_bits_wide();
	open_driver(&acpi_pm_driver);
	assert_int_equal(clocks[0].width_bits, 32);
	assert_int_equal(clocks[0].wrap_ticks, UINT32_MAX);
	take(&clocks[0], 0, &sample, 1);
	assert_int_equal(sample.ticks, 0xab000001);
}

TEST(a_wrap_at_20_bits_is_a_step_back_of_2_to_the_20)
{
	struct sample sound, sick;

	open_driver(&acpi_pm_driver);
	take(&clocks[0], SIM_PS_PER_S, &sound, 1);
	sim.pm.counter.wrap_bits = 20;
	take(&clocks[0], SIM_PS_PER_S, &sick, 1);
	assert_int_equal(sound.ticks, 3579546);
	assert_int_equal(sick.ticks, 3579546 - 3 * (1 << 20));
}

TEST(a_timer_without_a_latch_has_a_wrong_reading)
{
	/*
	 * Tick 16 is 4,469,842 ps after the counter's start, and the reading is 158 ps later. The faulty timer sets bit
	 * 4 only 3 ns after the tick.
	 */
	uint64_t origin_ps = SIM_PS_PER_MS;
	uint64_t start_ps = origin_ps + 4470000 - 520 * SIM_PS_PER_NS;
	struct sample sound, sick;

	open_driver(&acpi_pm_driver);
	sim.pm.counter.origin_ps = origin_ps;
	take(&clocks[0], start_ps, &sound, 1);
	sim.pm.glitch_ps = 3 * SIM_PS_PER_NS;
	take(&clocks[0], start_ps, &sick, 1);
	assert_int_equal(sound.ticks, 16);
	assert_int_equal(sick.ticks, 0);
}

TEST(the_32_bit_field_is_used_if_the_64_bit_address_is_0_or_invalid)
{
	platform.acpi.fadt.has_x_pm_tmr = true;
	platform.acpi.fadt.x_pm_tmr_space = ACPI_SPACE_IO;
	platform.acpi.fadt.x_pm_tmr_address = 0;
	open_driver(&acpi_pm_driver);
	assert_string_equal(clocks[0].found_by, "ACPI FADT PM_TMR_BLK");
	assert_int_equal(clocks[0].state, CLOCK_PRESENT);
	platform.acpi.fadt.x_pm_tmr_space = 3;
	platform.acpi.fadt.x_pm_tmr_address = 0x999;
	open_driver(&acpi_pm_driver);
	assert_string_equal(clocks[0].found_by, "ACPI FADT PM_TMR_BLK");
	assert_int_equal(clocks[0].state, CLOCK_PRESENT);
}

TEST(without_a_timer_in_the_fadt_the_reason_is_a_sentence)
{
	platform.acpi.fadt.pm_tmr_len = 0;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_ABSENT,
		     "The FADT lists no PM timer (PM_TMR_LEN 0, PM_TMR_BLK 608h).");
	platform.acpi.fadt.hw_reduced = true;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_ABSENT, "ACPI is hardware-reduced, which has no PM timer.");
	platform.acpi.fadt.found = false;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_ABSENT, "There is no FADT in ACPI.");
	assert_int_equal(sim.count[SIM_IN] + sim.count[SIM_READ], 0);
}

TEST(an_address_that_cannot_be_read_is_not_read)
{
	platform.acpi.fadt.pm_tmr_blk = 0x10608;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_BROKEN, "The FADT gives the I/O port 10608h, but ports end at FFFFh.");
	put_into_memory();
	platform.acpi.fadt.x_pm_tmr_address = MMIO + 6;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_BROKEN, "The FADT gives the address fed80006h, which is not aligned.");
	sim_unmap_region(MMIO);
	platform.acpi.fadt.x_pm_tmr_address = MMIO + 8;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_BROKEN, "The firmware has not mapped the timer's address fed80008h.");
	assert_int_equal(sim.count[SIM_IN] + sim.count[SIM_READ], 0);
}

TEST(a_timer_that_does_not_move_is_stuck_and_all_ones_means_absent)
{
	sim.pm.counter.origin_ticks = 0x1234;
	sim.pm.counter.stuck_at_ps = 0;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_STUCK, "The timer reads 1234h every time.");
	/* The driver waits for 2^24 ticks of the TSC, or 16.8 ms. Each reading takes 510 ns. */
	assert_in_range(sim.count[SIM_IN], 32800, 33000);
	sim.pm.absent = true;
	open_driver(&acpi_pm_driver);
	assert_state(0, CLOCK_ABSENT, "The timer reads all ones: nothing answers at port 608h.");
}
