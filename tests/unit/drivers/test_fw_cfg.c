/* fw_cfg on a simulated device, which follows QEMU's docs/specs/fw_cfg.rst at ports 510h and 511h. */
#include <stdio.h>

#include "test.h"
#include "hw/fw_cfg.h"
#include "sim.h"

#define DIRECTORY_MAX (4 + 1100 * 64)

static struct {
	char signature[5];
	uint8_t directory[DIRECTORY_MAX];
	size_t directory_length;
	uint16_t file_key;
	const char *file;
	size_t file_length;
	uint16_t selected;
	size_t offset;
	unsigned wrong_accesses; /* number of accesses with a wrong width */
} fw_cfg;

static uint8_t
item_byte(const void *bytes, size_t length)
{
	return fw_cfg.offset < length ? ((const uint8_t *)bytes)[fw_cfg.offset] : 0;
}

static uint32_t
fw_cfg_in(void *context, uint16_t port, unsigned width_bytes)
{
	uint8_t value = 0;

	fw_cfg.wrong_accesses += port != 0x511 || width_bytes != 1;
	if (fw_cfg.selected == 0)
		value = item_byte(fw_cfg.signature, 4);
	else if (fw_cfg.selected == 0x19)
		value = item_byte(fw_cfg.directory, fw_cfg.directory_length);
	else if (fw_cfg.selected == fw_cfg.file_key)
		value = item_byte(fw_cfg.file, fw_cfg.file_length);
	fw_cfg.offset++;
	return value;
}

static void
fw_cfg_out(void *context, uint16_t port, uint32_t value, unsigned width_bytes)
{
	fw_cfg.wrong_accesses += port != 0x510 || width_bytes != 2;
	fw_cfg.selected = (uint16_t)value;
	fw_cfg.offset = 0;
}

/* Appends an entry to the directory, and updates the number of entries at its start. */
static void
add_entry(const char *name, uint32_t size, uint16_t key)
{
	uint8_t *entry = fw_cfg.directory + fw_cfg.directory_length;
	size_t count = (fw_cfg.directory_length - 4) / 64 + 1;

	assert_true(fw_cfg.directory_length + 64 <= DIRECTORY_MAX);
	for (int i = 0; i < 4; i++) {
		entry[i] = (uint8_t)(size >> (24 - 8 * i));
		fw_cfg.directory[i] = (uint8_t)(count >> (24 - 8 * i));
	}
	entry[4] = (uint8_t)(key >> 8);
	entry[5] = (uint8_t)key;
	entry[6] = entry[7] = 0xee; /* reserved */
	strncpy((char *)entry + 8, name, 56);
	fw_cfg.directory_length += 64;
}

static void
hold_file(uint16_t key, const char *content)
{
	fw_cfg.file_key = key;
	fw_cfg.file = content;
	fw_cfg.file_length = strlen(content);
}

static void
set_up(void)
{
	sim_reset();
	memset(&fw_cfg, 0, sizeof(fw_cfg));
	memcpy(fw_cfg.signature, "QEMU", 4);
	fw_cfg.directory_length = 4;
	sim_hook_ports((struct sim_port_hook){ 0x510, 0x511, fw_cfg_in, fw_cfg_out, NULL });
}

static void
tear_down(void)
{
	assert_int_equal(fw_cfg.wrong_accesses, 0);
}

TEST_FIXTURE(set_up, tear_down);

TEST(a_file_is_found_by_its_name_and_read_completely)
{
	char buffer[24];
	size_t length = 99;

	memset(buffer, '#', sizeof(buffer));
	add_entry("opt/baretick/option", 5, 0x20);
	add_entry("opt/baretick/options2", 5, 0x21);
	add_entry("opt/baretick/options", 15, 0x1234);
	hold_file(0x1234, "duration=500ms\n");
	assert_true(fw_cfg_read_file("opt/baretick/options", buffer, sizeof(buffer), &length));
	assert_int_equal(length, 15);
	assert_memory_equal(buffer, "duration=500ms\n#########", 24);
}

TEST(a_file_is_read_up_to_the_size_of_the_buffer)
{
	char buffer[16] = "###############";
	size_t length;

	add_entry("a", 15, 0x20);
	hold_file(0x20, "duration=500ms\n");
	assert_false(fw_cfg_read_file("a", buffer, 14, &length));
	assert_int_equal(length, 15);
	assert_string_equal(buffer, "duration=500ms#");
	assert_true(fw_cfg_read_file("a", buffer, 15, &length));
	assert_int_equal(length, 15);
	assert_memory_equal(buffer, "duration=500ms\n", 15);
}

TEST(the_first_bytes_of_a_file_of_four_gibibytes_are_read)
{
	char buffer[4];
	size_t length;

	add_entry("a", 0xfffffffe, 0x20);
	assert_false(fw_cfg_read_file("a", buffer, sizeof(buffer), &length));
	assert_int_equal(length, 0xfffffffe);
}

TEST(empty_file_is_read_as_nothing)
{
	char buffer[4];
	size_t length = 99;

	add_entry("a", 0, 0x20);
	assert_true(fw_cfg_read_file("a", buffer, sizeof(buffer), &length));
	assert_int_equal(length, 0);
}

TEST(missing_file_is_not_read)
{
	char buffer[4];
	size_t length = 99;

	assert_false(fw_cfg_read_file("a", buffer, sizeof(buffer), &length));
	add_entry("b", 1, 0x20);
	assert_false(fw_cfg_read_file("a", buffer, sizeof(buffer), &length));
	assert_int_equal(length, 0);
}

TEST(ports_without_the_signature_qemu_are_read_four_times_only)
{
	char buffer[4];
	size_t length = 99;

	add_entry("a", 1, 0x20);
	memcpy(fw_cfg.signature, "QEMV", 4);
	assert_false(fw_cfg_read_file("a", buffer, sizeof(buffer), &length));
	assert_int_equal(length, 0);
	assert_int_equal(fw_cfg.selected, 0);
	assert_int_equal(fw_cfg.offset, 4);
	sim_reset(); /* without a device, these ports read all ones */
	assert_false(fw_cfg_read_file("a", buffer, sizeof(buffer), &length));
}

TEST(the_directory_is_read_up_to_its_1024th_entry)
{
	char buffer[4], name[16];
	size_t length;

	for (unsigned i = 0; i < 1025; i++) {
		snprintf(name, sizeof(name), "file%u", i);
		add_entry(name, 3, 0x20);
	}
	hold_file(0x20, "abc");
	assert_true(fw_cfg_read_file("file1023", buffer, sizeof(buffer), &length));
	assert_false(fw_cfg_read_file("file1024", buffer, sizeof(buffer), &length));
	memset(fw_cfg.directory, 0xff, 4);
	assert_false(fw_cfg_read_file("none", buffer, sizeof(buffer), &length));
	assert_int_equal(fw_cfg.offset, 4 + 1024 * 64);
}

TEST(a_name_of_56_bytes_without_an_end_is_not_read_further)
{
	char buffer[4];
	const char *name = "01234567890123456789012345678901234567890123456789012345";
	size_t length;

	add_entry(name, 3, 0x20);
	add_entry("b", 3, 0x20);
	hold_file(0x20, "abc");
	assert_true(fw_cfg_read_file(name, buffer, sizeof(buffer), &length));
	assert_true(fw_cfg_read_file("b", buffer, sizeof(buffer), &length));
}
