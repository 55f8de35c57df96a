/*
 * Opens and closes all drivers, on a healthy machine and on machines with each fault. After the close, the devices
 * must have the same state as before the open. The test compares the simulated machine's internal registers, because
 * software cannot read some of them.
 */
#include "driver_checks.h"
#include "run/run.h"

#define BATCH 200 /* number of samples, which together take longer than a period of the RTC's flag */

struct registers {
	uint64_t hpet;
	uint8_t port_61, pit[3], rtc_a, rtc_b, rtc_index, pic_mask[2];
};

static struct registers
registers_now(void)
{
	struct registers now;

	memset(&now, 0, sizeof(now));
	now.hpet = sim.hpet.configuration;
	now.port_61 = sim.pit.port_61;
	for (unsigned i = 0; i < 3; i++)
		now.pit[i] = sim_pit_get_status(i) & 0x3f;
	now.rtc_a = sim.rtc.a;
	now.rtc_b = sim.rtc.b;
	now.rtc_index = sim.rtc.index;
	memcpy(now.pic_mask, sim.pic_mask, sizeof(now.pic_mask));
	return now;
}

/* Opens all drivers, reads all clocks, and closes the drivers. Returns the number of clocks that could not be read. */
static unsigned
open_sample_and_close_all(void)
{
	static struct device devices[RUN_DRIVERS_MAX];
	static struct clock rows[RUN_DRIVERS_MAX][DRIVER_CLOCKS_MAX];
	static struct sample samples[BATCH];
	unsigned left_out = 0;

	memset(devices, 0, sizeof(devices));
	for (size_t i = 0; drivers[i]; i++)
		drivers[i]->open(&platform, &devices[i], rows[i]);
	for (size_t i = 0; drivers[i]; i++)
		for (size_t row = 0; row < drivers[i]->clock_count; row++)
			if (rows[i][row].state == CLOCK_PRESENT)
				take(&rows[i][row], sim.now_ps, samples, BATCH);
			else
				left_out += !rows[i][row].unoffered;
	for (size_t i = 0; drivers[i]; i++)
		drivers[i]->close(&devices[i]);
	return left_out;
}

static void
set_odd_registers(void)
{
	sim.hpet.configuration = 2;
	sim.pit.port_61 = 0x0e;
	sim.pit.channels[2].control = 0x18; /* the channel is in mode 4, low byte only */
	sim.rtc.a = 0x2f;
	sim.rtc.b = 0x27;
	sim.rtc.index = 0x8f;
	sim.rtc.index_readable = true;
	sim.pic_mask[0] = 0xb8;
	sim.pic_mask[1] = 0x8e;
}

static void
hpet_on(void)
{
	sim.hpet.configuration = 1;
}

static void
hpet_dead(void)
{
	sim.hpet.dead = true;
}

static void
hpet_absent(void)
{
	sim.hpet.absent = true;
}

static void
pm_absent(void)
{
	sim.pm.absent = true;
}

static void
pit_gated(void)
{
	sim.pit.gated = true;
}

static void
pf_needs_pie(void)
{
	sim.rtc.pf_needs_pie = true;
}

static void
pf_never(void)
{
	sim.rtc.pf_never = true;
}

static void
uip_stuck(void)
{
	sim.rtc.uip_stuck = true;
}

static void
rtc_halted(void)
{
	sim.rtc.b |= 0x80;
}

static void
tsc_stuck(void)
{
	sim.tsc.counter.stuck_at_ps = 0;
}

TEST_FIXTURE(reset, NULL);

TEST(all_registers_are_restored_after_a_run_with_each_fault)
{
	static const struct {
		void (*inject)(void);
		unsigned left_out; /* number of clocks that could not be read */
	} cases[] = {
		{ set_odd_registers, 0 }, { hpet_on, 0 }, { hpet_dead, 2 }, { hpet_absent, 2 },
		{ pm_absent, 1 }, { pit_gated, 2 }, { pf_needs_pie, 0 }, { pf_never, 1 },
		{ uip_stuck, 1 }, { rtc_halted, 1 }, { tsc_stuck, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct registers before, after;

		reset();
		set_odd_registers();
		cases[i].inject();
		before = registers_now();
		assert_int_equal(open_sample_and_close_all(), cases[i].left_out);
		after = registers_now();
		assert_memory_equal(&before, &after, sizeof(before));
		assert_int_equal(sim.hpet.counter_writes, 0);
		assert_int_equal(sim.pit.channels[0].writes, 0);
		assert_int_equal(sim.rtc.exposed_ps, 0);
		assert_false(sim.interrupts_masked);
	}
}

TEST(the_registers_differ_while_the_drivers_are_open)
{
	struct registers before, open;

	set_odd_registers();
	before = registers_now();
	open_driver(&hpet_driver);
	open = registers_now();
	assert_int_equal(before.hpet, 2);
	assert_int_equal(open.hpet, 3);
	open_driver(&pit_driver);
	open = registers_now();
	assert_int_equal(before.port_61, 0x0e);
	assert_int_equal(open.port_61, 0x0d);
	assert_int_equal(before.pit[2], 0x18);
	assert_int_equal(open.pit[2], 0x34);
	open_driver(&rtc_driver);
	open = registers_now();
	assert_int_equal(before.rtc_a, 0x2f);
	assert_int_equal(open.rtc_a, 0x23);
}
