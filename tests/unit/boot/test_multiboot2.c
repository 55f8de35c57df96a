/* The information that a multiboot2 loader passes on, complete or damaged. */
#include "test.h"
#include "bare/firmware/start_info.h"

#define SIZE 1024u

static _Alignas(8) uint8_t memory[SIZE];
static uint32_t used;

static uint32_t
begin(void)
{
	memset(memory, 0xff, sizeof(memory));
	return used = 8;
}

/* Adds a tag of TYPE with a body of SIZE bytes. */
static void
add(uint32_t type, const void *body, uint32_t size)
{
	const uint32_t head[] = { type, size + 8 };

	memcpy(memory + used, head, sizeof(head));
	memcpy(memory + used + 8, body, size);
	used += (size + 8 + 7) & ~7u;
	assert_true(used <= SIZE);
}

static const struct start_info *
convert(uint32_t size)
{
	const uint32_t head[] = { size, 0 };

	memcpy(memory, head, sizeof(head));
	return multiboot2_convert_to_start_info(memory);
}

static const struct start_info_range map[] = {
	{ 0, 0x9fc00, 1, 0 }, { 0x100000, 0x7f00000, 1, 0 }, { 0xfffc0000, 0x40000, 2, 0 },
};

static void
add_map(uint32_t entry_size)
{
	uint8_t body[8 + sizeof(map)];
	const uint32_t sizes[] = { entry_size, 0 };

	memcpy(body, sizes, sizeof(sizes));
	memcpy(body + 8, map, sizeof(map));
	add(6, body, sizeof(body));
}

TEST(every_tag_that_pvh_also_has_is_used)
{
	static const uint32_t module[] = { 0x200000, 0x200800, 0 };
	static const char rsdp_1[20] = "RSD PTR 1", rsdp_2[36] = "RSD PTR 2";
	char name[64];
	struct text text;

	begin();
	add(1, "profile=quick", sizeof("profile=quick"));
	add(2, "GRUB 2.06", sizeof("GRUB 2.06"));
	add(3, module, sizeof(module));
	add(21, "\0\0\x10", 4);
	add_map(24);
	add(15, rsdp_2, sizeof(rsdp_2));
	add(14, rsdp_1, sizeof(rsdp_1));
	add(0, "", 0);
	const struct start_info *info = convert(used);

	assert_int_equal(info->magic, START_INFO_MAGIC);
	assert_int_equal(info->version, START_INFO_VERSION_MAP);
	assert_string_equal((const char *)(uintptr_t)info->command_line, "profile=quick");
	assert_string_equal((const char *)(uintptr_t)info->rsdp, "RSD PTR 2");
	assert_int_equal(info->memory_map_count, 3);
	assert_memory_equal((const void *)(uintptr_t)info->memory_map, map, sizeof(map));
	const struct start_info_module *modules = (const void *)(uintptr_t)info->modules;

	assert_int_equal(info->module_count, 2);
	assert_int_equal(modules[0].begin, (uintptr_t)memory);
	assert_int_equal(modules[0].size, used);
	assert_int_equal(modules[1].begin, 0x200000);
	assert_int_equal(modules[1].size, 0x800);
	text_init(&text, name, sizeof(name));
	multiboot2_print_firmware_name(&text);
	assert_string_equal(name, "none (multiboot2, GRUB 2.06)");
}

TEST(without_tags_there_is_no_memory_map_and_no_command_line)
{
	char name[64];
	struct text text;

	begin();
	add(0, "", 0);
	const struct start_info *info = convert(used);

	assert_int_equal(info->memory_map | info->command_line | info->rsdp, 0);
	text_init(&text, name, sizeof(name));
	multiboot2_print_firmware_name(&text);
	assert_string_equal(name, "none (multiboot2, a loader without a name)");
}

TEST(information_with_a_size_of_0_or_too_large_is_refused)
{
	begin();
	add_map(24);
	assert_null(convert(0));
	assert_null(convert(7));
	assert_null(convert(UINT32_MAX));
	assert_non_null(convert(8));
}

TEST(a_tag_with_an_invalid_length_is_the_last)
{
	for (uint32_t size = 0; size < 9; size++) {
		begin();
		add_map(24);
		add(1, "x", 2);
		memcpy(memory + 12, (const uint32_t[]){ size < 8 ? size : SIZE }, 4);
		assert_int_equal(convert(used)->memory_map | convert(used)->command_line, 0);
	}
	for (uint32_t cut = 16; cut < used; cut++)
		convert(cut);
}

TEST(a_map_with_other_entries_and_a_string_without_an_end_are_refused)
{
	begin();
	add_map(20);
	add(1, "profile", 7);
	add(0, "", 0);
	assert_int_equal(convert(used)->memory_map | convert(used)->command_line, 0);
}

TEST(a_tag_that_is_shorter_than_an_rsdp_has_none)
{
	for (uint32_t type = 14; type <= 15; type++) {
		begin();
		add(type, "RSD PTR 1234567890x", 19);
		assert_int_equal(convert(used)->rsdp, 0);
	}
}

TEST(modules_after_the_16th_are_ignored)
{
	static const uint32_t module[] = { 0x200000, 0x200800, 0 };

	begin();
	for (unsigned i = 0; i < 40; i++)
		add(3, module, sizeof(module));
	assert_int_equal(convert(used)->module_count, 16);
}
