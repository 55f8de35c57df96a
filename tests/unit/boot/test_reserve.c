/* The memory that hypervisors write into: reserved where one is to be told of it, and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware_sim.h"
#include "reserve.h"

#define CORES 3

static struct platform platform;
static struct options options;

static void
be_a_guest_of(enum paravirtual_kind kind)
{
	firmware_sim_reset();
	options_default(&options);
	platform = (struct platform){ .paravirtual = { .count = 1, .interfaces = { { .kind = kind } } } };
}

static void
assert_none(void)
{
	reserve_pages(&platform, &options, CORES);
	assert_int_equal(platform.pages.count, 0);
	assert_null(platform.pages.memory);
	assert_int_equal(firmware_sim_low_taken, 0);
}

static void
each_core_has_a_page_and_all_have_one_zeroed_and_reserved_below_4_gib(void **state)
{
	static const enum paravirtual_kind kinds[] = { PARAVIRTUAL_KVM, PARAVIRTUAL_HYPERV, PARAVIRTUAL_XEN };

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		be_a_guest_of(kinds[k]);
		reserve_pages(&platform, &options, CORES);
		assert_int_equal(platform.pages.count, CORES + 1);
		assert_int_equal(firmware_sim_low_taken, CORES + 1);
		assert_int_equal(firmware_sim_low_reserved, CORES + 1);
		assert_int_equal((uintptr_t)platform.pages.memory % PAGES_SIZE, 0);
		assert_in_range((uintptr_t)platform.pages.memory, 1, UINT32_MAX - (CORES + 1) * PAGES_SIZE);
		for (size_t i = 0; i < (CORES + 1) * PAGES_SIZE; i++)
			assert_int_equal(platform.pages.memory[i], 0);
	}
}

static void
none_is_taken_where_nobody_offers_a_page_or_none_is_asked_for(void **state)
{
	(void)state;
	be_a_guest_of(PARAVIRTUAL_KVM);
	platform.paravirtual.count = 0;
	assert_none();
	be_a_guest_of(PARAVIRTUAL_KVM);
	options.clock_count = 1;
	strcpy(options.clocks[0], "hv_page");
	assert_none();
}

static void
without_memory_below_4_gib_there_are_none(void **state)
{
	(void)state;
	be_a_guest_of(PARAVIRTUAL_XEN);
	firmware_sim_low_left = CORES;
	assert_none();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_core_has_a_page_and_all_have_one_zeroed_and_reserved_below_4_gib),
		cmocka_unit_test(none_is_taken_where_nobody_offers_a_page_or_none_is_asked_for),
		cmocka_unit_test(without_memory_below_4_gib_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
