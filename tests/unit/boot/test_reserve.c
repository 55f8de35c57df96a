/* Memory for hypervisors' pages is reserved only if a hypervisor gets its address. */
#include "test.h"
#include "firmware_sim.h"
#include "reserve.h"

#define CORES 3

static struct platform platform;
static struct options options;

static void
be_a_guest_of(enum paravirtual_kind kind)
{
	firmware_sim_reset();
	options_set_defaults(&options);
	platform = (struct platform){ .paravirtual = { .count = 1, .interfaces = { { .kind = kind } } } };
}

static void
assert_none(void)
{
	reserve_clock_pages(&platform, &options, CORES);
	assert_int_equal(platform.pages.count, 0);
	assert_null(platform.pages.memory);
	assert_int_equal(firmware_sim_low_taken, 0);
}

TEST(each_core_and_the_machine_get_a_zeroed_page_reserved_below_4_gib)
{
	static const enum paravirtual_kind kinds[] = { PARAVIRTUAL_KVM, PARAVIRTUAL_HYPERV, PARAVIRTUAL_XEN };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		be_a_guest_of(kinds[k]);
		reserve_clock_pages(&platform, &options, CORES);
		assert_int_equal(platform.pages.count, CORES + 1);
		assert_int_equal(firmware_sim_low_taken, CORES + 1);
		assert_int_equal(firmware_sim_low_reserved, CORES + 1);
		assert_int_equal((uintptr_t)platform.pages.memory % PAGES_SIZE, 0);
		assert_in_range((uintptr_t)platform.pages.memory, 1, UINT32_MAX - (CORES + 1) * PAGES_SIZE);
		for (size_t i = 0; i < (CORES + 1) * PAGES_SIZE; i++)
			assert_int_equal(platform.pages.memory[i], 0);
	}
}

TEST(without_a_clock_that_needs_a_page_none_is_reserved)
{
	be_a_guest_of(PARAVIRTUAL_KVM);
	platform.paravirtual.count = 0;
	assert_none();
	be_a_guest_of(PARAVIRTUAL_KVM);
	options.clocks.count = 1;
	strcpy(options.clocks.ids[0], "hv_page");
	assert_none();
}

TEST(without_memory_below_4_gib_there_are_no_pages)
{
	be_a_guest_of(PARAVIRTUAL_XEN);
	firmware_sim_low_left = CORES;
	assert_none();
}
