/*
 * The PIT's driver on the simulated machine. The clock of 105/88 MHz has a period of 838.095 ns. A port access takes
 * 500 ns, so a reading takes 1,500 ns. Its first access latches the count. The bracket's TSC reads take 20 ns.
 */
#include "driver_checks.h"

enum { PIT, PIT_READBACK };

#define CHANNEL (&sim.pit.channels[2])

/* Returns the number of clocks from the load of the count to the time NS. */
static uint64_t
clocks_at(uint64_t ns)
{
	uint64_t ps = ns * SIM_PS_PER_NS - CHANNEL->loaded_ps;

	return (uint64_t)((unsigned __int128)ps * 105000000 / 88 / SIM_PS_PER_S);
}

TEST_FIXTURE(reset, NULL);

TEST(a_reading_is_a_port_write_and_two_reads_and_counts_up)
{
	struct sample samples[2];

	open_driver(&pit_driver);
	assert_int_equal(sim.pit.port_61, 1);
	assert_int_equal(sim_pit_get_status(2) & 0x3f, 0x34); /* mode 2, low byte first */
	assert_int_equal(CHANNEL->reload, 65536);
	for (size_t row = 0; row < 2; row++) {
		assert_state(row, CLOCK_PRESENT, "");
		assert_int_equal(clocks[row].width_bits, 16);
		assert_true(clocks[row].one_core_only);
		assert_int_equal(clocks[row].wrap_ticks, 0xffff);
		assert_int_equal(clocks[row].claimed.num, 105000000);
		assert_int_equal(clocks[row].claimed.den, 88);
		take(&clocks[row], SIM_PS_PER_MS, samples, 2);
		assert_sample(samples[0], 1000020, clocks_at(1000520), 1001540);
		assert_sample(samples[1], 1001540, clocks_at(1002040), 1003060);
	}
}

TEST(a_pit_wraps_from_65535_to_0_after_65536_clocks)
{
	struct sample before, after;
	uint64_t wrap_ns;

	open_driver(&pit_driver);
	wrap_ns = CHANNEL->loaded_ps / 1000 + 54925401; /* 65,536 * 88 / 105 us */
	take(&clocks[PIT], (wrap_ns - 520 - 10) * 1000, &before, 1);
	take(&clocks[PIT], (wrap_ns - 520 + 10) * 1000, &after, 1);
	assert_int_equal(before.ticks, 65535);
	assert_int_equal(after.ticks, 0);
}

/* Opens and closes the driver. CONTROL, PORT_61 and NULL_COUNT are the PIT's state before the open. */
static void
open_and_close(uint8_t control, uint8_t port_61, bool null_count)
{
	*CHANNEL = (struct sim_pit_channel){
		.control = control, .gate = port_61 & 1, .reload = 1193, .null_count = null_count
	};
	sim.pit.port_61 = port_61;
	open_driver(&pit_driver);
	assert_int_equal(clocks[PIT].state, CLOCK_PRESENT);
	assert_int_equal(sim.pit.port_61, (port_61 & 0x0c) | 1);
	pit_driver.close(&device);
	pit_driver.close(&device);
}

TEST(close_restores_mode_access_and_port_61h)
{
	static const uint8_t modes[] = { 0, 1, 2, 3, 4, 5 };

	for (size_t i = 0; i < sizeof(modes); i++)
		for (uint8_t access = 1; access <= 3; access++)
			for (uint8_t port_61 = 0; port_61 < 16; port_61++)
				for (int null = 0; null < 2; null++) {
					uint8_t control = (uint8_t)(access << 4 | modes[i] << 1);

					reset();
					open_and_close(control, port_61, null);
					assert_int_equal(sim_pit_get_status(2) & 0x7f,
							 control | null << 6);
					assert_int_equal(sim.pit.port_61, port_61);
					if (!null)
						assert_int_equal(CHANNEL->reload, 65536);
					/*
					 * The open writes 3 bytes. The close writes a control word and a count of one
					 * or two bytes, or no count.
					 */
					assert_int_equal(CHANNEL->writes,
							 null ? 4 : access == 3 ? 6 : 5);
				}
}

TEST(an_access_mode_of_0_becomes_two_bytes_and_the_mode_stays)
{
	open_and_close(0x06, 0, false); /* state after a reset of QEMU, whose access mode 0 means a latch command */
	assert_int_equal(sim_pit_get_status(2) & 0x7f, 0x36);
	assert_int_equal(sim.pit.port_61, 0);
}

TEST(channels_0_and_1_are_never_written)
{
	open_and_close(0x36, 3, false);
	assert_int_equal(sim.pit.channels[0].writes, 0);
	assert_int_equal(sim.pit.channels[1].writes, 0);
	assert_true(CHANNEL->writes > 0);
}

TEST(the_speaker_is_silent_from_open_to_close)
{
	sim.pit.port_61 = 3;
	open_driver(&pit_driver);
	assert_int_equal(sim.pit.port_61 & 2, 0);
	pit_driver.close(&device);
	assert_int_equal(sim.pit.port_61 & 2, 2);
}

#define GATED "Channel 2 does not count: likely the firmware has gated the 8254's clock, as many do."

TEST(a_pit_without_an_input_clock_is_disabled_and_restored)
{
	sim.pit.gated = true;
	sim.pit.port_61 = 2;
	open_driver(&pit_driver);
	assert_state(PIT, CLOCK_DISABLED, GATED);
	assert_state(PIT_READBACK, CLOCK_DISABLED, GATED);
	assert_int_equal(sim.pit.port_61, 2);
	assert_int_equal(sim_pit_get_status(2) & 0x3f, 0x36);
	/* The driver waits for 2^24 ticks of the TSC, or 16.8 ms. Each reading takes 1,510 ns. */
	assert_in_range(sim.count[SIM_OUT], 11100, 11200);
}

/* A guest's PIT has no input clock that a chip set can switch off, so it cannot be disabled. */
TEST(a_guests_pit_that_never_counts_is_stuck)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, 0x80200000, 0x00000210 });
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d });
	sim_describe_platform(&platform);
	sim.pit.gated = true;
	open_driver(&pit_driver);
	assert_state(PIT, CLOCK_STUCK, "Channel 2 does not count.");
}

TEST(a_pit_that_reads_all_ones_is_absent)
{
	sim.pit.absent = sim.pit.port_61_absent = true;
	open_driver(&pit_driver);
	assert_state(PIT, CLOCK_ABSENT, "Ports 42h and 43h read all ones: there is no PIT.");
	assert_state(PIT_READBACK, CLOCK_ABSENT,
		     "Ports 42h and 43h read all ones: there is no PIT.");
}

TEST(a_step_back_of_100_clocks_and_a_stop_are_visible)
{
	struct sample sound[2], sick[2];

	open_driver(&pit_driver);
	take(&clocks[PIT], SIM_PS_PER_MS, sound, 2);
	sim.pit.backward_at_ps = 1001 * SIM_PS_PER_US;
	sim.pit.backward_ticks = 100;
	take(&clocks[PIT], SIM_PS_PER_MS, sick, 2);
	assert_int_equal(sick[0].ticks, sound[0].ticks);
	assert_int_equal(sick[1].ticks, sound[1].ticks - 100);
	sim.pit.backward_at_ps = SIM_NEVER;
	sim.pit.gated_at_ps = SIM_PS_PER_MS;
	take(&clocks[PIT], SIM_PS_PER_MS, sick, 2);
	assert_int_equal(sick[0].ticks, sick[1].ticks);
	assert_int_not_equal(sound[0].ticks, sound[1].ticks);
}
