/* What a run changes it puts back, and what it doesn't put back is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "as_found.h"
#include "sim.h"

#define DRIVERS 8
#define BATCH   64

static struct platform platform;
static struct device devices[DRIVERS];
static struct clock rows[DRIVERS][DRIVER_CLOCKS_MAX];

static int
set_up(void **state)
{
	(void)state;
	sim_reset();
	sim.pit.port_61 = 0x02;             /* the speaker on, the gate off */
	sim.pit.channels[2].control = 0xb6; /* low then high byte, mode 3, as a BIOS leaves it after a beep */
	sim.rtc.a = 0x26;
	sim.rtc.b = 0x02;
	sim.pic_mask[1] = 0xbf;
	memset(devices, 0, sizeof(devices));
	memset(rows, 0, sizeof(rows));
	sim_platform(&platform);
	return 0;
}

static void
open_and_sample_all(void)
{
	struct sample samples[BATCH];

	for (size_t d = 0; drivers[d]; d++) {
		drivers[d]->open(&platform, &devices[d], rows[d]);
		for (size_t i = 0; i < drivers[d]->clock_count; i++) {
			uint64_t saved = hw_interrupts_mask();

			if (rows[d][i].state == CLOCK_PRESENT)
				rows[d][i].sample(rows[d][i].device, samples, BATCH);
			hw_interrupts_restore(saved);
		}
	}
}

static void
close_all(void)
{
	for (size_t d = 0; drivers[d]; d++)
		drivers[d]->close(&devices[d]);
}

static void
every_register_is_as_found_after_a_run(void **state)
{
	struct as_found before, after;

	(void)state;
	as_found_read(&before, &platform);
	open_and_sample_all();
	close_all();
	as_found_read(&after, &platform);
	assert_int_equal(before.count, 7);
	assert_int_equal(after.count, before.count);
	assert_int_equal(as_found_difference(&before, &after), before.count);
}

static void
clocks_left_open_are_noticed(void **state)
{
	struct as_found before, after;

	(void)state;
	as_found_read(&before, &platform);
	open_and_sample_all();
	as_found_read(&after, &platform);
	assert_true(as_found_difference(&before, &after) < before.count);
	close_all();
}

static void
each_register_is_compared(void **state)
{
	struct as_found before, after;

	(void)state;
	as_found_read(&before, &platform);
	for (size_t i = 0; i < before.count; i++) {
		after = before;
		after.registers[i].value ^= 1;
		assert_int_equal(as_found_difference(&before, &after), i);
	}
}

static void
a_full_list_leaves_out_what_does_not_fit(void **state)
{
	struct as_found list = { .count = AS_FOUND_MAX - 1 };

	(void)state;
	as_found_add(&list, "one", 1);
	as_found_add(&list, "two", 2);
	assert_int_equal(list.count, AS_FOUND_MAX);
	assert_string_equal(list.registers[AS_FOUND_MAX - 1].name, "one");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_register_is_as_found_after_a_run, set_up),
		cmocka_unit_test_setup(clocks_left_open_are_noticed, set_up),
		cmocka_unit_test_setup(each_register_is_compared, set_up),
		cmocka_unit_test_setup(a_full_list_leaves_out_what_does_not_fit, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
