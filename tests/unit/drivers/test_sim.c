/* Tests of the simulated machine itself, on which the other tests depend. */
#include "driver_checks.h"

static int64_t
add_up(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	return (int64_t)(number + first + second + third);
}

TEST_FIXTURE(reset, NULL);

TEST(the_time_of_an_access_passes_before_its_effect_and_it_is_counted)
{
	sim_reset();
	assert_int_equal(hw_tsc(), 10);
	assert_int_equal(hw_tsc_lfence(), 30);
	assert_int_equal(hw_tsc_mfence(), 50);
	assert_int_equal(hw_tscp(), 75);
	assert_int_equal(hw_tsc_cpuid(), 185);
	hw_pause();
	(void)hw_in8(0x80);
	hw_out8(0x80, 0);
	(void)hw_read32(SIM_HPET_BASE);
	hw_write32(SIM_HPET_BASE, 0);
	(void)hw_msr_read(0x3b);
	hw_msr_write(0x3b, 1);
	(void)hw_cpuid(0, 0);
	sim.hypercall = add_up;
	assert_int_equal(hw_xen_hypercall(1000, 100, 10, 1), 1111);
	assert_int_equal(sim.now_ps, (185 + 40 + 500 + 500 + 300 + 300 + 100 + 100 + 100 + 1000) * 1000);
	for (size_t i = 0; i < SIM_ACCESSES; i++)
		assert_int_equal(sim.count[i], 1);
}

TEST(the_host_preempts_the_core_at_about_one_in_so_many_accesses)
{
	sim_reset();
	sim.preempt_every = 10;
	sim.preempt_ps = 30 * SIM_PS_PER_MS;
	for (unsigned i = 0; i < 1000; i++)
		(void)hw_tsc();
	assert_in_range(sim.now_ps / sim.preempt_ps, 80, 120);
	assert_int_equal(sim.now_ps % sim.preempt_ps, 1000 * 10 * SIM_PS_PER_NS);
}

TEST(the_tsc_of_another_core_differs_by_its_offset)
{
	sim.tsc.offset_ticks[3] = -25;
	sim.now_ps = SIM_PS_PER_US;
	assert_int_equal(sim_get_tsc_ticks(), 1000);
	sim.core = 3;
	assert_int_equal(sim_get_tsc_ticks(), 975);
	assert_int_equal(hw_msr_read(0x10), 975 + 100);
}

TEST(a_counter_moves_in_steps_stops_steps_back_and_wraps_on_request)
{
	struct sim_counter counter = {
		.hz = { 3, 1 }, .origin_ticks = 7, .step_ticks = 1,
		.stuck_at_ps = SIM_NEVER, .backward_at_ps = SIM_NEVER, .wrap_bits = 64,
	};

	sim.now_ps = 10 * SIM_PS_PER_S - 1;
	assert_int_equal(sim_counter_get_ticks(&counter), 36);
	sim.now_ps = 10 * SIM_PS_PER_S;
	assert_int_equal(sim_counter_get_ticks(&counter), 37);
	counter.step_ticks = 26;
	assert_int_equal(sim_counter_get_ticks(&counter), 26);
	counter.step_ticks = 1;
	counter.stuck_at_ps = 2 * SIM_PS_PER_S;
	assert_int_equal(sim_counter_get_ticks(&counter), 13);
	counter.backward_at_ps = sim.now_ps;
	counter.backward_ticks = 4;
	assert_int_equal(sim_counter_get_ticks(&counter), 9);
	counter.wrap_bits = 3;
	assert_int_equal(sim_counter_get_ticks(&counter), 1);
}

static void
load_channel_2(uint8_t control, uint16_t count)
{
	hw_out8(0x43, control);
	hw_out8(0x42, (uint8_t)count);
	hw_out8(0x42, (uint8_t)(count >> 8));
}

/* Sets world time to the time at which the channel has counted COUNT clocks since its count was loaded. */
static void
go_to_clock(uint64_t count)
{
	sim.now_ps = sim.pit.channels[2].loaded_ps + count * 88 * SIM_PS_PER_S / 105000000 + 1;
}

TEST(pit_mode_2_counts_4_3_2_1_4_and_out_is_low_at_1)
{
	hw_out8(0x61, 1);
	load_channel_2(0xb4, 4);
	for (uint16_t i = 0; i < 9; i++) {
		go_to_clock(i);
		assert_int_equal(sim_pit_get_count(2), 4 - i % 4);
		assert_int_equal(sim_pit_get_status(2), i % 4 == 3 ? 0x34 : 0xb4);
	}
}

TEST(pit_mode_3_counts_by_twos_and_out_is_high_for_half_of_it)
{
	hw_out8(0x61, 1);
	load_channel_2(0xb6, 6);
	for (uint16_t i = 0; i < 12; i++) {
		go_to_clock(i);
		assert_int_equal(sim_pit_get_count(2), 6 - i * 2 % 6);
		assert_int_equal(sim_pit_get_status(2), i % 6 < 3 ? 0xb6 : 0x36);
	}
}

TEST(pit_mode_0_raises_out_after_its_count_while_the_gate_is_up)
{
	hw_out8(0x61, 1);
	load_channel_2(0xb0, 1000);
	go_to_clock(400);
	sim.cost_ps[SIM_OUT] = 0;
	hw_out8(0x61, 0); /* closes the gate, which stops the count at 400 */
	uint16_t held = sim_pit_get_count(2);

	sim_advance_ps(SIM_PS_PER_S);
	assert_int_equal(sim_pit_get_count(2), held);
	assert_int_equal(held, 600);
	hw_out8(0x61, 1);
	sim.cost_ps[SIM_IN] = 0;
	go_to_clock(600);
	assert_int_equal(hw_in8(0x61), 0x01);
	go_to_clock(601); /* N + 1 clocks after the load */
	assert_int_equal(hw_in8(0x61), 0x21);
}

TEST(a_second_latch_is_ignored_until_both_bytes_are_read)
{
	hw_out8(0x61, 1);
	load_channel_2(0xb4, 0);
	go_to_clock(0x1234);
	sim.cost_ps[SIM_OUT] = sim.cost_ps[SIM_IN] = 0;
	hw_out8(0x43, 0x80);
	go_to_clock(0x2000);
	hw_out8(0x43, 0x80);
	assert_int_equal(hw_in8(0x42), (0x10000 - 0x1234) & 0xff);
	assert_int_equal(hw_in8(0x42), (0x10000 - 0x1234) >> 8);
	assert_int_equal(hw_in8(0x42), (0x10000 - 0x2000) & 0xff);
}

TEST(read_back_gives_status_first_with_null_count)
{
	hw_out8(0x61, 1);
	hw_out8(0x43, 0xb4);
	hw_out8(0x43, 0xe8);
	assert_int_equal(hw_in8(0x42), 0xf4);
	hw_out8(0x42, 0);
	hw_out8(0x42, 0x10);
	sim.cost_ps[SIM_OUT] = sim.cost_ps[SIM_IN] = 0;
	go_to_clock(1);
	hw_out8(0x43, 0xc8); /* latches both status and count */
	assert_int_equal(hw_in8(0x42), 0xb4);
	assert_int_equal(hw_in8(0x42), 0xff);
	assert_int_equal(hw_in8(0x42), 0x0f);
}

static uint8_t
rtc_register(uint8_t number)
{
	hw_out8(0x70, number);
	return hw_in8(0x71);
}

TEST(uip_is_1_for_2228_us_and_reading_c_clears_its_flags)
{
	sim.cost_ps[SIM_OUT] = sim.cost_ps[SIM_IN] = 0;
	sim.rtc.seconds = 59;
	sim.now_ps = SIM_PS_PER_S - 2228 * SIM_PS_PER_US - 1;
	assert_int_equal(rtc_register(0x0a), 0x26);
	sim.now_ps++;
	assert_int_equal(rtc_register(0x0a), 0xa6);
	assert_int_equal(rtc_register(0x00), 0x59);
	(void)rtc_register(0x0c);
	assert_int_equal(rtc_register(0x0c), 0x00);
	sim.now_ps = SIM_PS_PER_S;
	assert_int_equal(rtc_register(0x0a), 0x26);
	assert_int_equal(rtc_register(0x00), 0x00);
	assert_int_equal(rtc_register(0x0c), 0x50); /* flags of an update that ended and of a period at 1,024 Hz */
	assert_int_equal(rtc_register(0x0c), 0x00);
}

TEST(the_periodic_rates_are_those_of_the_data_sheet)
{
	static const uint64_t hz[16] = {
		0, 256, 128, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2
	};

	sim.now_ps = SIM_PS_PER_S;
	for (uint8_t rate = 0; rate < 16; rate++) {
		sim.rtc.a = 0x20 | rate;
		assert_int_equal(sim_rtc_count_pf_edges(), hz[rate]);
	}
}

TEST(pie_with_enabled_interrupts_is_recorded)
{
	sim.rtc.b |= 0x40;
	uint64_t saved = hw_interrupts_mask();

	sim_advance_ps(5);
	assert_int_equal(sim.rtc.exposed_ps, 0);
	hw_interrupts_restore(saved);
	sim_advance_ps(7);
	assert_int_equal(sim.rtc.exposed_ps, 7);
}

TEST(the_hpet_counts_only_while_it_is_on_and_keeps_its_value)
{
	sim.cost_ps[SIM_READ] = sim.cost_ps[SIM_WRITE] = 0;
	assert_int_equal(hw_read64(SIM_HPET_BASE), 0x05f5e1008086a201);
	sim_advance_ps(SIM_PS_PER_US);
	assert_int_equal(hw_read32(SIM_HPET_BASE + 0xf0), 0);
	hw_write32(SIM_HPET_BASE + 0x10, 1);
	sim_advance_ps(SIM_PS_PER_US);
	assert_int_equal(hw_read32(SIM_HPET_BASE + 0xf0), 10);
	hw_write32(SIM_HPET_BASE + 0x10, 0);
	sim_advance_ps(SIM_PS_PER_US);
	assert_int_equal(hw_read64(SIM_HPET_BASE + 0xf0), 10);
}

TEST(cpuid_above_the_maximum_returns_the_highest_basic_leaf)
{
	sim_cpuid_set(0, 0, (struct hw_cpuid){ 0x7, 1, 2, 3 });
	sim_cpuid_set(0x7, 0, (struct hw_cpuid){ 0, 0x1234, 0, 0 });
	assert_int_equal(hw_cpuid(0x19, 0).ebx, 0x1234);
	assert_int_equal(hw_cpuid(0x40000000, 0).eax, 0);
}

TEST(a_region_is_mapped_up_to_its_last_byte)
{
	sim_map_region((struct sim_region){ 0x1000, 0x1000, NULL, NULL });
	assert_true(hw_is_mapped(0x1ffc, 4));
	assert_false(hw_is_mapped(0x1ffd, 4));
	assert_false(hw_is_mapped(UINT64_MAX, 4));
	assert_int_equal(hw_read32(0x1ffc), UINT32_MAX);
	sim_unmap_region(0x1000);
	assert_false(hw_is_mapped(0x1ffc, 4));
}

static uint32_t last_destination, last_command, commands;

static void
remember(uint32_t destination, uint32_t command)
{
	last_destination = destination;
	last_command = command;
	commands++;
}

TEST(a_lapic_command_reaches_a_core_in_both_modes_but_not_a_dead_core)
{
	commands = 0;
	sim.on_ipi = remember;
	hw_write32(SIM_LAPIC_BASE + 0x310, 5u << 24);
	hw_write32(SIM_LAPIC_BASE + 0x300, 0x4500);
	assert_int_equal(last_destination, 5);
	assert_int_equal(last_command, 0x4500);

	hw_msr_write(0x1b, hw_msr_read(0x1b) | 0x400);
	hw_msr_write(0x830, UINT64_C(300) << 32 | 0x4608);
	assert_int_equal(last_destination, 300);
	assert_int_equal(last_command, 0x4608);

	sim.lapic.never_start_count = 1;
	sim.lapic.never_start[0] = 301;
	hw_msr_write(0x830, UINT64_C(301) << 32 | 0x4608);
	assert_int_equal(commands, 2);
	assert_int_equal(sim.lapic.ipi_count, 3);
	assert_int_equal(sim.lapic.ipis[2].destination, 301);
}

static uint32_t
hook_in(void *context, uint16_t port, unsigned width_bytes)
{
	return *(uint32_t *)context + port + width_bytes;
}

TEST(a_port_function_is_called_for_its_ports_only)
{
	uint32_t base = 0x20;

	sim_hook_ports((struct sim_port_hook){ 0x510, 0x511, hook_in, NULL, &base });
	assert_int_equal(hw_in8(0x511), (0x20 + 0x511 + 1) & 0xff);
	assert_int_equal(hw_in32(0x510), 0x20 + 0x510 + 4);
	assert_int_equal(hw_in8(0x512), 0xff);
}
