/* The boot_params that a loader for Linux passes on. */
#include "test.h"
#include "bare/firmware/start_info.h"

#define SIZE    4096u
#define RSDP    0x70u /* offset of a field in boot_params: Linux, Documentation/arch/x86/zero-page.rst */
#define COUNT   0x1e8u
#define MAGIC   0x202u
#define LOADER  0x210u
#define RAMDISK 0x218u
#define LINE    0x228u
#define MAP     0x2d0u

static _Alignas(8) uint8_t memory[SIZE];

static void
put(size_t at, uint64_t value, size_t size)
{
	memcpy(memory + at, &value, size);
}

static void
fill(void)
{
	memset(memory, 0, sizeof(memory));
	memcpy(memory + MAGIC, "HdrS", 4);
	put(LOADER, 0x72, 1);
}

TEST_FIXTURE(fill, NULL);

static const struct start_info_range *
map_of(const struct start_info *info)
{
	return (const void *)(uintptr_t)info->memory_map;
}

TEST(every_field_that_pvh_also_has_is_used)
{
	put(RSDP, 0x7fe0014, 8);
	put(RAMDISK, 0x2000000, 4);
	put(RAMDISK + 4, 0x1234, 4);
	put(LINE, 0x9e000, 4);
	put(COUNT, 2, 1);
	put(MAP + 8, 0x9fc00, 8);
	put(MAP + 16, 1, 4);
	put(MAP + 20, 0x100000, 8);
	put(MAP + 28, 0x7f00000, 8);
	put(MAP + 36, 2, 4);
	const struct start_info *info = linux_params_convert_to_start_info(memory);
	const struct start_info_module *modules = (const void *)(uintptr_t)info->modules;

	assert_int_equal(info->magic, START_INFO_MAGIC);
	assert_int_equal(info->version, START_INFO_VERSION_MAP);
	assert_int_equal(info->rsdp, 0x7fe0014);
	assert_int_equal(info->command_line, 0x9e000);
	assert_int_equal(info->module_count, 2);
	assert_int_equal(modules[0].begin, (uintptr_t)memory);
	assert_int_equal(modules[0].size, SIZE);
	assert_int_equal(modules[1].begin, 0x2000000);
	assert_int_equal(modules[1].size, 0x1234);
	assert_int_equal(info->memory_map_count, 2);
	assert_int_equal(map_of(info)[0].size, 0x9fc00);
	assert_int_equal(map_of(info)[0].type, START_INFO_RAM);
	assert_int_equal(map_of(info)[1].begin, 0x100000);
	assert_int_equal(map_of(info)[1].size, 0x7f00000);
	assert_int_equal(map_of(info)[1].type, 2);
}

TEST(a_memory_map_has_at_most_128_ranges)
{
	put(COUNT, 255, 1);
	put(MAP + 127 * 20, 0x123000, 8);
	const struct start_info *info = linux_params_convert_to_start_info(memory);

	assert_int_equal(info->memory_map_count, 128);
	assert_int_equal(map_of(info)[127].begin, 0x123000);
}

TEST(without_a_memory_map_and_a_command_line_both_are_absent)
{
	const struct start_info *info = linux_params_convert_to_start_info(memory);

	assert_int_equal(info->memory_map_count, 0);
	assert_int_equal(info->command_line, 0);
}

TEST(boot_params_without_a_linux_header_are_refused)
{
	put(MAGIC, 0, 1);
	assert_null(linux_params_convert_to_start_info(memory));
}

TEST(the_name_of_the_boot_has_the_loaders_number)
{
	char name[64];
	struct text text;

	linux_params_convert_to_start_info(memory);
	text_init(&text, name, sizeof(name));
	linux_params_print_firmware_name(&text);
	assert_string_equal(name, "none (Linux boot protocol, loader type 72h)");
}
