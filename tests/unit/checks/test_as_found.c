/* A run must restore all registers that it changes. The test finds registers that are not restored. */
#include "test.h"
#include "checks/checks.h"
#include "sim.h"
#include "sim_paravirtual.h"

static struct platform platform;
static struct device device;

static void
set_up(void)
{
	sim_reset();
	sim.pit.port_61 = 0x02;             /* bit 1 (SPKR_DAT_EN) is set, and bit 0 (gate 2) is clear */
	/* mode 3, low byte first, as a BIOS leaves this channel after a beep */
	sim.pit.channels[2].control = 0xb6;
	sim.rtc.a = 0x26;
	sim.rtc.b = 0x02;
	sim.pic_mask[1] = 0xbf;
	memset(&device, 0, sizeof(device));
	sim_describe_platform(&platform);
}

TEST_FIXTURE(set_up, NULL);

TEST(an_open_clock_is_noticed_and_a_closed_clock_is_restored)
{
	struct clock rows[DRIVER_CLOCKS_MAX];
	struct as_found before, open, after;

	registers_read_from_clocks(&before, &platform, NULL);
	pit_driver.open(&platform, &device, rows);
	registers_read_from_clocks(&open, &platform, NULL);
	pit_driver.close(&device);
	registers_read_from_clocks(&after, &platform, NULL);
	assert_int_equal(before.count, 7);
	assert_string_equal(before.registers[as_found_find_changed_register(&before, &open)].name, "port 61h");
	assert_int_equal(as_found_find_changed_register(&before, &after), before.count);
}

/*
 * Xen returns the PIT's mode bits as they were written. The data sheet ignores the top bit in modes 6 and 7, so they
 * equal modes 2 and 3.
 */
TEST(modes_6_and_7_of_the_pit_equal_2_and_3)
{
	static const uint8_t same[] = { 2, 3 }, others[] = { 0, 1 };
	struct as_found before, after;

	for (size_t i = 0; i < 2; i++) {
		sim.pit.channels[2].control = (uint8_t)(0x38 | same[i] << 1);
		registers_read_from_clocks(&before, &platform, NULL);
		sim.pit.channels[2].control = (uint8_t)(0x30 | same[i] << 1);
		registers_read_from_clocks(&after, &platform, NULL);
		assert_int_equal(as_found_find_changed_register(&before, &after), before.count);
		sim.pit.channels[2].control = (uint8_t)(0x38 | others[i] << 1);
		registers_read_from_clocks(&before, &platform, NULL);
		sim.pit.channels[2].control = (uint8_t)(0x30 | others[i] << 1);
		registers_read_from_clocks(&after, &platform, NULL);
		assert_string_equal(before.registers[as_found_find_changed_register(&before, &after)].name,
				    "the mode of PIT channel 2");
	}
}

TEST(each_register_is_compared)
{
	struct as_found before, after;

	registers_read_from_clocks(&before, &platform, NULL);
	for (size_t i = 0; i < before.count; i++) {
		after = before;
		after.registers[i].value ^= 1;
		assert_int_equal(as_found_find_changed_register(&before, &after), i);
	}
}

static bool
fault(void (*work)(void *argument), void *argument, struct fault *fault)
{
	*fault = (struct fault){ .vector = 13 };
	return false;
}

/* A hypervisor may report a feature whose MSRs do not exist. */
TEST(msrs_that_cause_an_exception_are_left_out_and_the_others_are_read)
{
	struct as_found all, rest;

	sim_paravirtual_make_kvm_guest(true);
	sim_describe_platform(&platform);
	registers_read_from_clocks(&all, &platform, NULL);
	registers_read_from_clocks(&rest, &platform, fault);
	assert_int_equal(all.count, 10);
	assert_int_equal(rest.count, 7);
	assert_string_equal(rest.registers[6].name, all.registers[6].name);
}

TEST(a_full_list_leaves_out_further_registers)
{
	struct as_found list = { .count = AS_FOUND_MAX - 1 };

	as_found_add_register(&list, "one", 1);
	as_found_add_register(&list, "two", 2);
	assert_int_equal(list.count, AS_FOUND_MAX);
	assert_string_equal(list.registers[AS_FOUND_MAX - 1].name, "one");
}
