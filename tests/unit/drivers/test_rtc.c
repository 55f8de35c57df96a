/*
 * The RTC's driver on the simulated machine. An access to a register is a port write and a port read of 500 ns each,
 * and the bracket's TSC reads take 20 ns. UIP (update in progress) rises 2,228 us before each second of world time.
 */
#include "driver_checks.h"

enum { RTC, RTC_PF };

/* Most tests are about the seconds. Without a date, no access to other registers takes time between the samples. */
static void
begin_without_date(void)
{
	reset();
	sim.rtc.date_invalid = true;
}

TEST_FIXTURE(begin_without_date, NULL);

TEST(a_reading_of_uip_and_the_seconds_takes_2_us)
{
	struct sample samples[2];

	sim.rtc.seconds = 45;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_PRESENT, "");
	assert_true(clocks[RTC].edges_only);
	assert_int_equal(clocks[RTC].wrap_ticks, 59);
	assert_true(clocks[RTC].one_core_only && clocks[RTC_PF].one_core_only);
	assert_int_equal(clocks[RTC].claimed.num, 1);
	assert_int_equal(clocks[RTC].claimed.den, 1);
	take(&clocks[RTC], 12 * SIM_PS_PER_S, samples, 2);
	/*
	 * Each poll reads register A (is an update in progress?) and then the seconds. The edge is in the second poll,
	 * which reads register A again because the second changed.
	 */
	assert_sample(samples[0], UINT64_C(12000003020), 57, UINT64_C(12000005040));
	assert_sample(samples[1], UINT64_C(12000005040), 57, UINT64_C(12000007060));
	take(&clocks[RTC], 14 * SIM_PS_PER_S, samples, 1);
	assert_int_equal(samples[0].ticks, 59);
	take(&clocks[RTC], 15 * SIM_PS_PER_S, samples, 1);
	assert_int_equal(samples[0].ticks, 0);
}

TEST(seconds_in_binary_are_not_read_as_bcd)
{
	struct sample sample;

	sim.rtc.b |= 0x04;
	sim.rtc.seconds = 19;
	open_driver(&rtc_driver);
	take(&clocks[RTC], 0, &sample, 1);
	assert_int_equal(sample.ticks, 19); /* 13h in binary is 19, in BCD 13 */
}

/* Takes a sample whose read of register A ends at A_PS. Returns the sample's second. */
static uint64_t
second_at(uint64_t a_ps)
{
	struct sample sample;

	/*
	 * The sample's read of register A ends 3,020 ns after the start of take(). Two register reads come before the
	 * sample and take 2,000 ns. The bracket's first TSC read takes 20 ns, and the read of register A 1,000 ns.
	 */
	take(&clocks[RTC], a_ps - 3020 * SIM_PS_PER_NS, &sample, 1);
	/* longer if register A is read again, because the second is new */
	assert_in_range(sample.end - sample.begin, 2020, 3020);
	return sample.ticks;
}

TEST(on_bare_metal_a_new_second_is_visible_when_uip_falls)
{
	for (int late = 0; late < 2; late++) {
		uint64_t late_ps = late ? 150 * SIM_PS_PER_US : 0;

		begin_without_date();
		sim.rtc.uip_late_ps = late_ps;
		sim.rtc.seconds = 59;
		open_driver(&rtc_driver);
		assert_int_equal(second_at(SIM_PS_PER_S - 3000 * SIM_PS_PER_US), 59);
		assert_int_equal(second_at(SIM_PS_PER_S - 2000 * SIM_PS_PER_US), 59);
		/* The seconds are read 1,000 ns after register A, so they may have changed in between. */
		assert_int_equal(second_at(SIM_PS_PER_S + late_ps - 1), 59);
		assert_int_equal(second_at(SIM_PS_PER_S + late_ps), 0);
	}
}

TEST(in_a_guest_a_new_second_is_visible_when_the_register_changes)
{
	sim.rtc.uip_late_ps = 36 * SIM_PS_PER_MS;
	sim.rtc.seconds = 59;
	memcpy(platform.cpu.hypervisor, "TCGTCGTCGTCG", sizeof("TCGTCGTCGTCG"));
	open_driver(&rtc_driver);
	assert_int_equal(second_at(SIM_PS_PER_S - 2000 * SIM_PS_PER_US), 59);
	assert_int_equal(second_at(SIM_PS_PER_S - 1000 * SIM_PS_PER_NS - 1), 59);
	/* the seconds are read 1,000 ns after register A */
	assert_int_equal(second_at(SIM_PS_PER_S - 1000 * SIM_PS_PER_NS), 0);
}

TEST(values_during_an_update_are_ignored)
{
	static struct sample samples[1200];

	sim.rtc.update_garbage = true;
	open_driver(&rtc_driver);
	/* Samples of 2,020 ns each, from 100 us before the rise of UIP until after the change of the second. */
	take(&clocks[RTC], SIM_PS_PER_S - 2328 * SIM_PS_PER_US, samples, 1200);
	for (size_t i = 0; i < 1200; i++) {
		/* Register A is read 1,020 ns before the sample's end. The bracket's 20 ns are part of this. */
		bool fell = samples[i].end - 1020 >= SIM_PS_PER_S / 1000;

		assert_int_equal(samples[i].ticks, fell ? 1 : 0);
	}
}

TEST(a_run_that_starts_in_an_update_waits_for_its_end)
{
	struct sample sample;

	open_driver(&rtc_driver);
	assert_int_equal(second_at(3 * SIM_PS_PER_S), 3);
	take(&clocks[RTC], 9 * SIM_PS_PER_S - 2000 * SIM_PS_PER_US, &sample, 1);
	assert_int_equal(sample.ticks, 9);
	assert_in_range(sample.begin, UINT64_C(9000000000), UINT64_C(9000004020));
}

/*
 * Intel's chip sets set UIP 488 us before the update cycle of 1,984 us. The register reads are as fast as on the
 * fastest bus.
 */
TEST(the_wait_for_an_update_of_2472_us_is_long_enough_with_the_fastest_reads)
{
	struct sample sample;

	sim.rtc.uip_early_ps = 2472 * SIM_PS_PER_US;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_PRESENT, "");
	assert_int_equal(second_at(3 * SIM_PS_PER_S), 3);
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 56 * SIM_PS_PER_NS;
	take(&clocks[RTC], 9 * SIM_PS_PER_S - 2470 * SIM_PS_PER_US, &sample, 1);
	assert_int_equal(sample.ticks, 9);
	assert_in_range(sample.begin, UINT64_C(9000000000), UINT64_C(9000000500));
}

TEST(an_rtc_with_uip_stuck_at_1_is_broken_and_the_wait_ends)
{
	sim.rtc.uip_stuck = true;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_BROKEN, "The update flag (UIP) stays 1; an update takes 2,472 us at most.");
	assert_int_equal(clocks[RTC_PF].state, CLOCK_PRESENT);
	assert_in_range(sim.now_ps, 16 * SIM_PS_PER_MS, 18 * SIM_PS_PER_MS);
}

/* A busy host lets QEMU clear UIP late. A real RTC whose UIP is 1 for as long is broken. */
TEST(in_a_guest_an_update_that_ends_500_ms_late_is_waited_for)
{
	for (int in_guest = 0; in_guest < 2; in_guest++) {
		begin_without_date();
		memcpy(platform.cpu.hypervisor, "TCGTCGTCGTCG", in_guest ? sizeof("TCGTCGTCGTCG") : 0);
		sim.rtc.uip_late_ps = 500 * SIM_PS_PER_MS;
		sim_advance_ps(SIM_PS_PER_S + SIM_PS_PER_MS - sim.now_ps);
		open_driver(&rtc_driver);
		assert_int_equal(clocks[RTC].state, in_guest ? CLOCK_PRESENT : CLOCK_BROKEN);
	}
	sim.rtc.uip_stuck = true;
	open_driver(&rtc_driver);
	assert_int_equal(clocks[RTC].state, CLOCK_BROKEN);
}

/* The core is preempted just after a read of register A, for longer than the whole wait for UIP. */
TEST(uip_is_not_stuck_if_the_core_is_preempted_in_an_update)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		begin_without_date();
		sim_advance_ps(SIM_PS_PER_S - 2200 * SIM_PS_PER_US - sim.now_ps);
		sim.preempt_every = 300;
		sim.preempt_ps = 30 * SIM_PS_PER_MS;
		sim.preempt_seed = seed * UINT64_C(0x9e3779b97f4a7c15);
		open_driver(&rtc_driver);
		assert_state(RTC, CLOCK_PRESENT, "");
	}
}

TEST(the_wait_for_uip_that_sticks_later_takes_12000_polls_once)
{
	struct sample sample;

	open_driver(&rtc_driver);
	assert_int_equal(second_at(3 * SIM_PS_PER_S), 3);
	sim.rtc.uip_stuck = true;
	assert_int_equal(second_at(4 * SIM_PS_PER_S), 3);
	take(&clocks[RTC], 9 * SIM_PS_PER_S, &sample, 1);
	assert_int_equal(sample.ticks, 9);
	assert_int_equal(sample.begin, UINT64_C(9000000020) + 12000 * 2000);
	assert_int_equal(second_at(10 * SIM_PS_PER_S), 9);
}

TEST(an_rtc_that_is_absent_or_held_in_reset_has_the_reason)
{
	sim.rtc.absent = true;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_ABSENT, "All registers read FFh: there is no RTC at port 70h.");
	assert_state(RTC_PF, CLOCK_ABSENT,
		     "All registers read FFh: there is no RTC at port 70h.");
	begin_without_date();
	sim.rtc.a = 0x66;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_STUCK, "The RTC's divider is held in reset (register A reads 66h).");
	assert_int_equal(sim.rtc.a_writes + sim.rtc.b_writes, 0);
	begin_without_date();
	platform.acpi.fadt.cmos_rtc_absent = true;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_ABSENT, "The FADT lists no RTC (CMOS RTC not present).");
	assert_state(RTC_PF, CLOCK_ABSENT,
		     "The FADT lists no RTC (CMOS RTC not present).");
	assert_int_equal(sim.count[SIM_IN] + sim.count[SIM_OUT], 0);
}

TEST(the_set_bit_stays_set_and_stops_the_seconds_but_not_the_flag)
{
	sim.rtc.b = 0x82;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_STUCK, "The RTC is halted: SET in register B was 1 at the start.");
	assert_int_equal(clocks[RTC_PF].state, CLOCK_PRESENT);
	rtc_driver.close(&device);
	assert_int_equal(sim.rtc.b, 0x82);
}

TEST(an_rtc_with_seconds_of_7fh_is_broken_and_a_flat_battery_is_noted)
{
	sim.rtc.seconds_invalid = true;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_BROKEN,
		     "The seconds register reads 7fh, which is not a second in BCD.");
	sim.rtc.seconds_invalid = false;
	sim.rtc.d = 0;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_PRESENT, "The RTC's battery failed (VRT is 0).");
}

TEST(the_periodic_flag_is_counted_at_8192_hz_by_single_register_reads)
{
	static struct sample samples[1000];
	uint64_t start;

	open_driver(&rtc_driver);
	assert_state(RTC_PF, CLOCK_PRESENT, "");
	assert_string_equal(clocks[RTC_PF].main, "rtc");
	assert_int_equal(clocks[RTC_PF].claimed.num, 8192);
	assert_int_equal(sim.rtc.a, 0x23);
	assert_int_equal(sim.rtc.b, 0x02);
	start = device.edges;
	/* The first read clears old flags and takes 1,000 ns. After it, each sample takes 1,020 ns. */
	take(&clocks[RTC_PF], SIM_PS_PER_S, samples, 1000);
	assert_int_equal(samples[0].begin, 1000001020);
	assert_int_equal(samples[999].end, 1000001020 + 1000 * 1020);
	for (size_t i = 0; i < 1000; i++) {
		uint64_t now_ps = (1001020 + (i + 1) * 1020 - 20) * SIM_PS_PER_NS - SIM_PS_PER_MS;

		assert_int_equal(samples[i].ticks - start, now_ps * 8192 / SIM_PS_PER_S);
	}
	assert_int_equal(samples[999].ticks - start, 8); /* 1.021 ms, which is 8.36 periods */
}

TEST(a_flag_from_before_the_run_is_not_counted)
{
	struct sample sample;
	uint64_t start;

	open_driver(&rtc_driver);
	start = device.edges;
	take(&clocks[RTC_PF], 5 * SIM_PS_PER_S, &sample, 1); /* several seconds after the last reading */
	assert_int_equal(sample.ticks, start);
}

TEST(pie_is_set_only_while_interrupts_and_irq_8_are_masked)
{
	static struct sample samples[1000];
	uint64_t start;

	sim.rtc.pf_needs_pie = true;
	sim.pic_mask[1] = 0x8e;
	open_driver(&rtc_driver);
	assert_state(RTC_PF, CLOCK_PRESENT,
		     "The periodic flag is set only if PIE is, so PIE is set while the clock is read, with IRQ 8 masked.");
	assert_int_equal(sim.rtc.b, 0x02);
	start = device.edges;
	take(&clocks[RTC_PF], SIM_PS_PER_S, samples, 1000);
	assert_int_equal(samples[999].ticks - start, 8);
	assert_int_equal(sim.rtc.b, 0x02);
	assert_int_equal(sim.pic_mask[1], 0x8e);
	rtc_driver.close(&device);
	assert_int_equal(sim.rtc.exposed_ps, 0);
	assert_int_equal(sim.rtc.a, 0x26);
}

TEST(a_flag_that_is_never_set_is_stuck_and_all_registers_are_restored)
{
	sim.rtc.pf_never = true;
	open_driver(&rtc_driver);
	assert_state(RTC_PF, CLOCK_STUCK, "The periodic flag is never set, with PIE or without.");
	assert_int_equal(clocks[RTC].state, CLOCK_PRESENT);
	rtc_driver.close(&device);
	assert_int_equal(sim.rtc.a, 0x26);
	assert_int_equal(sim.rtc.b, 0x02);
	assert_int_equal(sim.pic_mask[1], 0xff);
	assert_int_equal(sim.rtc.exposed_ps, 0);
	/* The driver waits for 16.8 ms nine times: once without PIE, and eight times with it. */
	assert_in_range(sim.now_ps, 151 * SIM_PS_PER_MS, 153 * SIM_PS_PER_MS);
}

/* In an emulator with many cores, its main loop may set the flag late. */
TEST(in_a_guest_the_flag_is_stuck_only_after_2_s)
{
	memcpy(platform.cpu.hypervisor, "TCGTCGTCGTCG", sizeof("TCGTCGTCGTCG"));
	sim.rtc.pf_never = true;
	open_driver(&rtc_driver);
	assert_int_equal(clocks[RTC_PF].state, CLOCK_STUCK);
	/* The driver waits for 16.8 ms 129 times: once without PIE, and then with it. */
	assert_in_range(sim.now_ps, 2160 * SIM_PS_PER_MS, 2200 * SIM_PS_PER_MS);
}

TEST(the_firmwares_periodic_interrupt_keeps_its_rate)
{
	sim.rtc.b |= 0x40;
	open_driver(&rtc_driver);
	assert_state(RTC_PF, CLOCK_DISABLED,
		     "PIE is set: the firmware uses the periodic flag, so baretick does not read that flag.");
	assert_int_equal(clocks[RTC].state, CLOCK_PRESENT);
	rtc_driver.close(&device);
	assert_int_equal(sim.rtc.a_writes + sim.rtc.b_writes + sim.rtc.c_reads, 0);
}

TEST(index_and_nmi_bit_are_restored_if_port_70h_can_be_read)
{
	static const uint8_t found[] = { 0x0f, 0x8f, 0x00, 0x80, 0x0c };

	for (size_t i = 0; i < sizeof(found); i++) {
		begin_without_date();
		sim.rtc.index_readable = true;
		sim.rtc.index = found[i];
		open_driver(&rtc_driver);
		assert_int_equal(sim.rtc.index, found[i]);
		rtc_driver.close(&device);
		assert_int_equal(sim.rtc.index, found[i]);
	}
}

TEST(the_index_stays_at_register_d_if_port_70h_reads_ffh)
{
	struct sample sample;

	sim.rtc.index = 0x8f;
	open_driver(&rtc_driver);
	assert_int_equal(sim.rtc.index, 0x8d);
	take(&clocks[RTC], 0, &sample, 1);
	assert_int_equal(sim.rtc.index, 0x80); /* only the NMI bit of the index register is set */
	rtc_driver.close(&device);
	assert_int_equal(sim.rtc.index, 0x8d);
}

/* At Intel's ports 74h and 75h the NMI mask cannot be read, but accesses at these ports do not change it. */
TEST(index_and_nmi_bit_are_restored_through_intels_other_ports)
{
	static const uint8_t found[] = { 0x0f, 0x8f };

	for (size_t i = 0; i < 2; i++) {
		struct sample sample;

		begin_without_date();
		sim.rtc.has_alias = true;
		sim.rtc.index = found[i];
		sim.rtc.seconds = 45;
		open_driver(&rtc_driver);
		assert_state(RTC, CLOCK_PRESENT, "");
		assert_state(RTC_PF, CLOCK_PRESENT, "");
		assert_string_equal(clocks[RTC].found_by, "ports 74h-75h, Intel chip sets' alias of 70h-71h");
		assert_int_equal(sim.rtc.index, found[i]);
		take(&clocks[RTC], 12 * SIM_PS_PER_S, &sample, 1);
		assert_int_equal(sample.ticks, 57);
		assert_int_equal(sim.rtc.index & 0x80, found[i] & 0x80);
		rtc_driver.close(&device);
		assert_int_equal(sim.rtc.index, found[i]);
		assert_int_equal(sim.rtc.a, 0x26);
	}
}

static unsigned latch_writes;

static uint32_t
in_latch(void *context, uint16_t port, unsigned width_bytes)
{
	return ((const uint8_t *)context)[port - 0x74];
}

static void
out_latch(void *context, uint16_t port, uint32_t value, unsigned width_bytes)
{
	((uint8_t *)context)[port - 0x74] = (uint8_t)value;
	latch_writes++;
}

/* Other devices may be at ports 74h and 75h, for example two registers that return the value written last. */
TEST(other_devices_at_ports_74h_and_75h_are_no_rtc)
{
	uint8_t latches[2] = { 0x11, 0x00 };

	sim_hook_ports((struct sim_port_hook){ 0x74, 0x75, in_latch, out_latch, latches });
	sim.rtc.index = 0x8f;
	sim.rtc.seconds = 45;
	open_driver(&rtc_driver);
	assert_state(RTC, CLOCK_PRESENT, "");
	assert_string_equal(clocks[RTC].found_by, "PC/AT ports 70h-71h");
	rtc_driver.close(&device);
	assert_int_equal(sim.rtc.index, 0x8d);
	assert_int_equal(latches[0], 0x11);
	assert_true(latch_writes > 0);
}

/* Opens the RTC with a date, 120 s before NEXT, a time in seconds since 1970. Register B is B. */
static void
open_before(uint64_t next, uint8_t b)
{
	reset();
	sim.rtc.b = b;
	sim.rtc.midnight = next - 120;
	open_driver(&rtc_driver);
	assert_true(clocks[RTC].wrap_ticks == UINT64_MAX);
}

static uint64_t
time_at(uint64_t at_ps)
{
	struct sample samples[2];

	take(&clocks[RTC], at_ps, samples, 2);
	return samples[1].ticks;
}

/* dates at which several registers change, in seconds since 1970 */
#define MIDNIGHT   UINT64_C(1795651200) /* 2026-11-26 */
#define NOON       (MIDNIGHT + 43200)
#define AFTER_NOON (NOON + 3600)
#define MARCH      UINT64_C(1835481600) /* 2028-03-01, after a leap day */
#define NEW_YEAR   UINT64_C(1798761600) /* 2027-01-01 */

TEST(the_time_does_not_wrap_after_a_minute_in_any_format)
{
	static const uint64_t next[] = { MIDNIGHT, NOON, AFTER_NOON, MARCH, NEW_YEAR };
	static const uint8_t formats[] = { 0x00, 0x02, 0x04, 0x06 }; /* BCD or binary, 12 or 24 hours */

	for (size_t i = 0; i < sizeof(next) / sizeof(*next); i++) {
		for (size_t f = 0; f < sizeof(formats); f++) {
			uint64_t first;

			open_before(next[i], formats[f]);
			first = time_at(118 * SIM_PS_PER_S + SIM_PS_PER_MS);
			assert_int_equal(first, next[i] - 2 - UINT64_C(946684800)); /* since 2000 */
			assert_int_equal(time_at(119 * SIM_PS_PER_S + SIM_PS_PER_MS), first + 1);
			assert_int_equal(time_at(120 * SIM_PS_PER_S + SIM_PS_PER_MS), first + 2);
		}
	}
}

TEST(a_stop_of_whole_minutes_or_hours_is_seen)
{
	static const uint64_t stops_s[] = { 59, 60, 61, 120, 3600, 86400, 31 * 86400 };

	for (size_t i = 0; i < sizeof(stops_s) / sizeof(*stops_s); i++) {
		uint64_t first;

		open_before(MIDNIGHT, 0x02);
		first = time_at(10 * SIM_PS_PER_S + SIM_PS_PER_MS);
		sim.rtc.ahead_ps += stops_s[i] * SIM_PS_PER_S;
		assert_int_equal(time_at(10 * SIM_PS_PER_S + 2 * SIM_PS_PER_MS), first + stops_s[i]);
	}
}

/* During an update the date is not read. The stop is seen at the edge that ends the update. */
TEST(an_edge_after_a_stop_of_a_minute_has_the_full_time)
{
	static struct sample samples[100];
	uint64_t first;

	open_before(MIDNIGHT, 0x02);
	first = time_at(10 * SIM_PS_PER_S + SIM_PS_PER_MS);
	sim.rtc.ahead_ps += 60 * SIM_PS_PER_S;
	/* a sample takes about 2 us, so the edge is in the middle of the batch */
	take(&clocks[RTC], 11 * SIM_PS_PER_S - 100 * SIM_PS_PER_US, samples, 100);
	assert_int_equal(samples[0].ticks, first);
	assert_int_equal(samples[99].ticks, first + 61);
}

TEST(the_time_goes_back_when_the_rtc_is_set_back)
{
	uint64_t first;

	open_before(MIDNIGHT, 0x02);
	first = time_at(50 * SIM_PS_PER_S + SIM_PS_PER_MS);
	sim.rtc.ahead_ps -= 3 * SIM_PS_PER_S;
	assert_int_equal(time_at(50 * SIM_PS_PER_S + 2 * SIM_PS_PER_MS), first - 3);
	sim.rtc.midnight -= 3600;
	assert_int_equal(time_at(50 * SIM_PS_PER_S + 3 * SIM_PS_PER_MS), first - 3603);
}

TEST(minutes_that_do_not_count_are_not_used)
{
	uint64_t first;

	reset();
	sim.rtc.minutes_stuck = true;
	sim.rtc.seconds = 50;
	open_driver(&rtc_driver);
	first = time_at(9 * SIM_PS_PER_S + SIM_PS_PER_MS);
	assert_int_equal(time_at(10 * SIM_PS_PER_S + SIM_PS_PER_MS), first + 1);
	assert_int_equal(time_at(11 * SIM_PS_PER_S + SIM_PS_PER_MS), first + 2);
	assert_int_equal(time_at(70 * SIM_PS_PER_S + SIM_PS_PER_MS), first + 61);
}

TEST(an_invalid_date_is_not_used)
{
	open_driver(&rtc_driver);
	assert_int_equal(clocks[RTC].wrap_ticks, 59);
}
