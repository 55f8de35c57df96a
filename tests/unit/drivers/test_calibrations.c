/*
 * The calibration loops of kernels on the simulated machine. The TSC counts at 1 GHz, and a read of it takes 10 ns. A
 * port access takes 500 ns, and a memory access 300 ns. A tick of the PIT takes 838 ns, and a tick of the PM timer 279
 * ns.
 */
#include "driver_checks.h"

#include "calibrations/calibrations.h"

#define TRUE_HZ   1000000000
#define EACH_RUNS 20

static struct device devices[CALIBRATION_DEVICES];
static struct calibrating calibrating;
static struct scale scale;
static struct calibration_result result;

/*
 * Opens the devices that LOOP uses. An absent device is NULL in calibrating.devices[]. Returns the reason why LOOP
 * cannot run, or NULL.
 */
static const char *
open_for(const struct calibration_loop *loop)
{
	memset(devices, 0, sizeof(devices));
	scale_init(&scale, sim.tsc.counter.hz);
	calibrating = (struct calibrating){ .platform = &platform, .scale = &scale };
	for (size_t i = 0; i < CALIBRATION_DEVICES; i++) {
		if (!loop->uses[i])
			continue;
		loop->uses[i]->open(&platform, &devices[i], clocks);
		calibrating.devices[i] = clocks[0].state == CLOCK_PRESENT ? &devices[i] : NULL;
	}
	return loop->missing(&calibrating);
}

static double
play_ppm(const struct calibration_loop *loop)
{
	uint64_t begin_ps = sim.now_ps;

	memset(&result, 0xa5, sizeof(result));
	loop->run(&calibrating, &result);
	assert_false(sim.interrupts_masked);
	if (!sim.preempt_every)
		assert_true(sim.now_ps - begin_ps <= loop->longest_ns * SIM_PS_PER_NS);
	return ((double)result.hz - TRUE_HZ) / (TRUE_HZ / 1e6);
}

/*
 * Runs the loop many times, from different times within a tick. Asserts that its error is always between LOW and HIGH
 * ppm.
 */
static void
assert_within(const struct calibration_loop *loop, double low, double high)
{
	assert_null(open_for(loop));
	for (unsigned i = 0; i < EACH_RUNS; i++) {
		double ppm = play_ppm(loop);

		assert_int_equal(result.refusal, CALIBRATION_NONE);
		if (ppm < low || ppm > high)
			fail_msg("%s is %.1f ppm off", loop->id, ppm);
		sim_advance_ps(123457 * (uint64_t)i);
	}
}

static void
assert_refuses(const struct calibration_loop *loop, const char *reason)
{
	(void)play_ppm(loop);
	assert_int_equal(result.hz, 0);
	assert_true(result.refusal < CALIBRATION_REFUSALS);
	assert_string_equal(loop->refusals[result.refusal], reason);
}

TEST_FIXTURE(reset, NULL);

/* The loop accepts errors up to 1/2048, which is 488 ppm. */
TEST(linuxs_quick_loop_is_right_within_488_ppm)
{
	assert_within(&calibration_linux_pit, -489, 489);
}

/*
 * Without an HPET, Linux measures 10 ms with the PM timer. At each end, the error is a tick of 279 ns and a read of
 * 1.02 us.
 */
TEST(linuxs_slower_loop_is_right_within_130_ppm_by_the_pm_timer)
{
	sim.hpet.absent = true;
	sim_describe_platform(&platform);
	platform.acpi.hpet.found = false;
	assert_within(&calibration_linux_reference, -130, 130);
}

/* A tick of the HPET takes 100 ns, and a read of it 300 ns. */
TEST(linuxs_slower_loop_is_right_within_50_ppm_by_the_hpet)
{
	assert_within(&calibration_linux_reference, -50, 50);
}

/*
 * The loop waits for 363 ticks of the PM timer, which take 101 us. It may end one tick late, which adds 2,755 ppm. A
 * read of 510 ns adds up to 5,030 ppm.
 */
TEST(the_rate_of_edk2s_loop_is_too_high_by_up_to_a_tick_and_a_read)
{
	assert_within(&calibration_edk2, -1, 2755 + 5031 + 500);
}

/*
 * The multiplier is 2^24 divided by 1000 ticks per us, which is 16777.2, rounded down to 16777. The loop counts whole
 * microseconds.
 */
TEST(valkeys_loop_is_right_within_a_microsecond_in_ten_milliseconds)
{
	assert_within(&calibration_valkey, -105, 105 + 13);
}

TEST(postgresqls_loop_is_right_within_its_own_limit)
{
	assert_within(&calibration_postgresql, -1000, 1000);
}

static void
assert_pit_as_open_left_it(void)
{
	assert_int_equal(sim_pit_get_status(2) & 0x7f, 0x34);
	assert_int_equal(sim.pit.channels[2].reload, 65536);
	assert_int_equal(sim.pit.port_61, 1);
	assert_int_equal(sim.pit.channels[0].writes + sim.pit.channels[1].writes, 0);
}

TEST(the_loops_restore_the_pit)
{
	assert_null(open_for(&calibration_linux_pit));
	(void)play_ppm(&calibration_linux_pit);
	assert_pit_as_open_left_it();
	assert_null(open_for(&calibration_linux_reference));
	(void)play_ppm(&calibration_linux_reference);
	assert_pit_as_open_left_it();
}

TEST(the_loops_restore_the_lapic_timer)
{
	static const uint64_t registers[] = { 0x320, 0x380, 0x3e0 };

	sim_interrupts_add_controllers();
	hw_write32(SIM_LAPIC_BASE + 0x320, 0x10020); /* masked */
	hw_write32(SIM_LAPIC_BASE + 0x3e0, 0xb);
	hw_write32(SIM_LAPIC_BASE + 0x380, 4000000000);
	assert_null(open_for(&calibration_linux_lapic));
	(void)play_ppm(&calibration_linux_lapic);
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		assert_int_equal(hw_read32(SIM_LAPIC_BASE + registers[i]), i == 0 ? 0x10020 : i == 1 ? 4000000000 : 0xb);
}

TEST(a_lapic_timer_that_the_firmware_uses_is_not_changed)
{
	hw_write32(SIM_LAPIC_BASE + 0x320, 0x40020);
	assert_string_equal(open_for(&calibration_linux_lapic),
			    "The firmware uses this core's local APIC timer in TSC-deadline mode.");
}

/* The loop needs four reads of 2.9 us at each end. Together they take 23.2 us, which is 1/2048 of 47.5 ms. */
TEST(a_pit_of_2900_ns_a_read_is_just_fast_enough)
{
	assert_null(open_for(&calibration_linux_pit));
	sim.pit.extra_ps = 2400000;
	assert_true(play_ppm(&calibration_linux_pit) < 489);
	assert_int_equal(result.refusal, CALIBRATION_NONE);
}

/* The reads take 24.8 us, which is 1/2048 of 50.8 ms, but the loop ends after 50 ms. */
TEST(a_pit_of_3100_ns_a_read_is_too_slow)
{
	assert_null(open_for(&calibration_linux_pit));
	sim.pit.extra_ps = 2600000;
	assert_refuses(&calibration_linux_pit, "reads of the PIT take too long to limit the error to 500 ppm");
}

static uint64_t late_ps; /* delay in ps that a test adds to a reading */
static unsigned tscp_reads;

/* Returns true while the PIT's count is between HIGH and LOW. The loop uses mode 0. */
static bool
counts_within(uint16_t high, uint16_t low)
{
	const struct sim_pit_channel *channel = &sim.pit.channels[2];

	return (channel->control & 0xe) == 0 && !channel->null_count && sim_pit_get_count(2) <= high &&
		sim_pit_get_count(2) >= low;
}

static void
be_late_at_the_first_end(enum sim_access access, uint64_t where)
{
	if (access != SIM_TSC || !counts_within(0xff02, 0xff00))
		return;
	sim_advance_ps(late_ps);
	late_ps = 0;
}

/*
 * The loop notices its start 18 us too late. It ends when this delay and the time of two reads, which are its
 * uncertainty, are 1/2048 of its duration. This is after about 45 ms, of which 18 us are 398 ppm. One read more or less
 * at either end changes the result by 45 ppm.
 */
TEST(a_reading_that_is_late_by_18_us_makes_the_rate_400_ppm_too_low)
{
	double ppm;

	assert_null(open_for(&calibration_linux_pit));
	sim.spent = be_late_at_the_first_end;
	late_ps = 18 * SIM_PS_PER_US;
	ppm = play_ppm(&calibration_linux_pit);
	assert_int_equal(late_ps, 0);
	assert_int_equal(result.refusal, CALIBRATION_NONE);
	if (ppm < -445 || ppm > -350)
		fail_msg("%.1f ppm", ppm);
}

static void
be_away_at_f000(enum sim_access access, uint64_t where)
{
	if (counts_within(0xefff, 0) && late_ps) {
		sim_advance_ps(late_ps);
		late_ps = 0;
	}
}

/*
 * The core is preempted for 300 us. This is longer than the 215 us in which the PIT's high byte keeps its value. Slow
 * reads keep the loop running until the preemption.
 */
TEST(a_missed_value_of_the_high_byte_ends_the_quick_loop)
{
	assert_null(open_for(&calibration_linux_pit));
	sim.pit.extra_ps = 1 * SIM_PS_PER_US;
	sim.spent = be_away_at_f000;
	late_ps = 300 * SIM_PS_PER_US;
	assert_refuses(&calibration_linux_pit, "a value of the PIT was missed (\"Fast TSC calibration failed\")");
}

static void
grow_slower(enum sim_access access, uint64_t where)
{
	if (counts_within(0xfcff, 0))
		sim.pit.extra_ps = 3 * SIM_PS_PER_US;
}

/* A read takes 2.75 us at first. Then it becomes slower, so that the loop would need 51 ms for an error of 1/2048. */
TEST(reads_that_become_slower_end_the_quick_loop_after_50_ms)
{
	assert_null(open_for(&calibration_linux_pit));
	sim.pit.extra_ps = 2250000;
	sim.spent = grow_slower;
	assert_refuses(&calibration_linux_pit, "the error could not be limited to 500 ppm in 50 ms (\"Fast TSC calibration "
		       "failed\")");
}

/* In some chip sets, channel 2 of the PIT may stop. */
TEST(a_pit_that_stops_ends_the_quick_loop)
{
	assert_null(open_for(&calibration_linux_pit));
	sim.pit.gated_at_ps = sim.now_ps;
	assert_refuses(&calibration_linux_pit, "a value of the PIT was missed (\"Fast TSC calibration failed\")");
}

TEST(a_machine_without_a_pit_has_no_quick_loop)
{
	sim.pit.absent = true;
	assert_string_equal(open_for(&calibration_linux_pit), "No PIT can be read in this run.");
	assert_null(open_for(&calibration_linux_reference));
	sim.preempt_every = 1000000000; /* not 0, so play_ppm() allows any duration: three waits of 50 ms */
	assert_true(play_ppm(&calibration_linux_reference) < 10);
	assert_int_equal(result.refusal, CALIBRATION_NONE);
	assert_true(result.hz > TRUE_HZ - 10000);
}

static void
have_no_reference(void)
{
	sim.hpet.absent = sim.pm.absent = true;
	platform.acpi.hpet.found = false;
}

TEST(without_an_hpet_and_a_pm_timer_linux_uses_the_pit)
{
	have_no_reference();
	assert_string_equal(open_for(&calibration_edk2), "No PM timer can be read in this run.");
	assert_string_equal(open_for(&calibration_linux_lapic),
			    "No PM timer can be read in this run; Linux then measures by its timer tick.");
	assert_within(&calibration_linux_reference, -200, 200);
	sim.pit.absent = true;
	assert_string_equal(open_for(&calibration_linux_reference), "No PIT, HPET or PM timer can be read in this run.");
}

static void
be_uneven(enum sim_access access, uint64_t where)
{
	static unsigned reads;

	if (access == SIM_IN && where == 0x61 && ++reads % 200 == 0)
		sim_advance_ps(100 * SIM_PS_PER_US);
	if (access == SIM_READ && where == SIM_HPET_BASE + 0xf0 && late_ps)
		sim_advance_ps(late_ps);
}

TEST(with_an_uneven_pit_linux_uses_the_reference_clock)
{
	assert_null(open_for(&calibration_linux_reference));
	late_ps = 0;
	sim.spent = be_uneven;
	sim.preempt_every = 1000000000; /* not 0, so play_ppm() allows any duration: the third try takes 50 ms */
	assert_true(play_ppm(&calibration_linux_reference) < 50);
	assert_int_equal(result.refusal, CALIBRATION_NONE);
}

/* Reads of the HPET take 200 us. Linux rejects readings that take more than 131,072 ticks of the TSC. */
TEST(if_all_clocks_are_disturbed_linux_has_no_rate)
{
	assert_null(open_for(&calibration_linux_reference));
	late_ps = 200 * SIM_PS_PER_US;
	sim.spent = be_uneven;
	assert_refuses(&calibration_linux_reference, "all readings were disturbed (\"HPET/PMTIMER calibration failed\")");
}

TEST(with_only_an_uneven_pit_linux_has_no_rate)
{
	have_no_reference();
	assert_null(open_for(&calibration_linux_reference));
	sim.spent = be_uneven;
	assert_refuses(&calibration_linux_reference, "the PIT was disturbed (\"No reference (HPET/PMTIMER) available\")");
}

TEST(edk2s_loop_ends_if_the_pm_timer_stops)
{
	assert_null(open_for(&calibration_edk2));
	sim.pm.counter.stuck_at_ps = sim.now_ps;
	sim.preempt_every = 1000000000; /* not 0, so play_ppm() allows any duration: the loop ends after 20 ms */
	assert_refuses(&calibration_edk2, "the PM timer stopped: EDK II's loop would never end");
}

TEST(a_tsc_that_stops_gives_valkey_no_rate)
{
	assert_null(open_for(&calibration_valkey));
	sim.tsc.counter.stuck_at_ps = sim.now_ps;
	sim.preempt_every = 1000000000;
	assert_refuses(&calibration_valkey, "no wait gave a rate");
}

static void
delay_each_second_estimate(enum sim_access access, uint64_t where)
{
	if (access == SIM_TSCP && ++tscp_reads % 200 == 2)
		sim_advance_ps(20 * SIM_PS_PER_US);
}

/* Every second estimate of the rate is delayed by 20 us, which is more than 1/10,000 of 50 ms. */
TEST(estimates_that_do_not_settle_give_postgresql_no_rate)
{
	assert_null(open_for(&calibration_postgresql));
	tscp_reads = 0;
	sim.spent = delay_each_second_estimate;
	assert_refuses(&calibration_postgresql, "the rate estimates did not settle in 50 ms");
}

TEST(postgresql_needs_rdtscp)
{
	platform.cpu.has_rdtscp = false;
	assert_string_equal(open_for(&calibration_postgresql), "PostgreSQL needs RDTSCP, which this CPU does not have.");
}

/*
 * Returns the error of Linux's loop for the LAPIC timer. The loop counts 25 kernel ticks of 4 ms. At 6.25 MHz this
 * count is exact to 1 in 625,000, and the PM timer agrees.
 */
static double
lapic_ppm(uint64_t lapic_hz)
{
	sim_interrupts_add_controllers();
	sim.interrupts.lapic_hz = lapic_hz;
	assert_null(open_for(&calibration_linux_lapic));
	(void)play_ppm(&calibration_linux_lapic);
	return ((double)result.hz / (double)lapic_hz - 1) * 1e6;
}

TEST(linuxs_lapic_loop_is_right_within_two_counts)
{
	double ppm = lapic_ppm(100000000);

	assert_int_equal(result.refusal, CALIBRATION_NONE);
	assert_true(ppm > -5 && ppm < 5);
	ppm = ((double)result.ticks / (double)result.tsc_ticks * TRUE_HZ / 100000000 - 1) * 1e6;
	assert_true(ppm > -4 && ppm < 4);
	assert_true(result.slack_ticks >= 16 && result.slack_ticks < 100);
}

/* The PM timer is 2 % fast, and Linux corrects the loop's result with it. */
TEST(linuxs_lapic_loop_is_corrected_by_the_pm_timer)
{
	double ppm;

	sim_counter_speed_up(&sim.pm.counter, 20000);
	ppm = lapic_ppm(100000000);
	assert_true(ppm > -19608 - 10 && ppm < -19608 + 10);
}

/* Linux makes no correction for a difference of 0.5 %. */
TEST(a_pm_timer_that_is_half_a_percent_fast_changes_nothing)
{
	double ppm;

	sim_counter_speed_up(&sim.pm.counter, 5000);
	ppm = lapic_ppm(100000000);
	assert_true(ppm > -5 && ppm < 5);
}

TEST(a_lapic_timer_below_1_mhz_is_refused)
{
	(void)lapic_ppm(900000);
	assert_int_equal(result.hz, 0);
	assert_string_equal(calibration_linux_lapic.refusals[result.refusal], "the timer counts at less than 1 MHz");
}

TEST(a_tsc_that_stops_ends_the_lapic_loop)
{
	sim_interrupts_add_controllers();
	assert_null(open_for(&calibration_linux_lapic));
	sim.tsc.counter.stuck_at_ps = sim.now_ps;
	sim.preempt_every = 1000000000;
	assert_refuses(&calibration_linux_lapic, "the TSC stopped");
}
