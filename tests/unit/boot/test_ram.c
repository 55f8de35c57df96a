/* Free memory in a boot without UEFI: memory maps from loaders, and pages that are allocated and freed. */
#include "test.h"
#include "bare/firmware/ram.h"

#define LOW_MAX UINT64_C(0x9ffff)
#define PAGE    UINT64_C(0x1000)

static struct ram ram;

static void
forget(void)
{
	memset(&ram, 0, sizeof(ram));
}

TEST_FIXTURE(forget, NULL);

static uint64_t
free_bytes(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ram.count; i++)
		sum += ram.ranges[i].end - ram.ranges[i].begin;
	return sum;
}

TEST(the_highest_pages_at_or_below_the_limit_are_allocated)
{
	ram_add_range(&ram, 0x1000, 0x9e000);
	ram_add_range(&ram, 0x100000, 0x100000);
	assert_int_equal(ram_allocate(&ram, UINT64_MAX, 1), 0x1ff000);
	assert_int_equal(ram_allocate(&ram, LOW_MAX, 1), 0x9e000);
	assert_int_equal(ram_allocate(&ram, 0x9dffe, 1), 0x9c000);
	assert_int_equal(ram_allocate(&ram, LOW_MAX, 1), 0x9d000);
}

TEST(a_map_without_space_below_1_mib_has_no_page_there)
{
	ram_add_range(&ram, 0x100000, 0x100000);
	assert_int_equal(ram_allocate(&ram, LOW_MAX, 1), 0);
	assert_int_equal(free_bytes(), 0x100000);
}

TEST(reserved_memory_is_never_allocated_although_the_map_lists_it_twice)
{
	ram_add_range(&ram, 0, 0x8000);
	ram_add_range(&ram, 0x4000, 0x8000);
	ram_remove_range(&ram, 0, PAGE);
	ram_remove_range(&ram, 0x5fff, 2);
	for (uint64_t at; (at = ram_allocate(&ram, UINT64_MAX, 1)) != 0;)
		assert_true(at != 0x5000 && at != 0x6000 && at < 0xc000);
	assert_int_equal(ram.count, 0);
}

TEST(parts_of_pages_at_both_ends_of_a_range_are_not_free)
{
	ram_add_range(&ram, 0x9f800, 0x400);
	assert_int_equal(free_bytes(), 0);
	ram_add_range(&ram, 0x1800, 0x2000);
	assert_int_equal(free_bytes(), PAGE);
	assert_int_equal(ram_allocate(&ram, UINT64_MAX, 1), 0x2000);
}

TEST(freed_pages_become_one_range_again)
{
	uint64_t taken[3];

	ram_add_range(&ram, 0x100000, 3 * PAGE);
	for (size_t i = 0; i < 3; i++)
		taken[i] = ram_allocate(&ram, UINT64_MAX, 1);
	assert_int_equal(ram_allocate(&ram, UINT64_MAX, 1), 0);
	ram_add_range(&ram, taken[0], PAGE);
	ram_add_range(&ram, taken[2], PAGE);
	assert_int_equal(ram_allocate(&ram, UINT64_MAX, 3), 0);
	ram_add_range(&ram, taken[1], PAGE);
	assert_int_equal(ram.count, 1);
	assert_int_equal(ram_allocate(&ram, UINT64_MAX, 3), 0x100000);
}

TEST(a_range_that_ends_beyond_all_addresses_ends_at_the_last_page)
{
	ram_add_range(&ram, UINT64_MAX - 0x1fff, UINT64_MAX);
	ram_remove_range(&ram, 0x1000, UINT64_MAX);
	assert_int_equal(ram.count, 0);
}

TEST(a_map_with_too_many_ranges_only_loses_memory)
{
	for (uint64_t i = 1; i <= 2 * RAM_RANGES_MAX; i++)
		ram_add_range(&ram, i * 2 * PAGE, PAGE);
	assert_int_equal(ram.count, RAM_RANGES_MAX);
	assert_int_equal(free_bytes(), RAM_RANGES_MAX * PAGE);
}
