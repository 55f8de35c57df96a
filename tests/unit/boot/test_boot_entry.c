/* Entries of the firmware's boot menu: a file of an installed system, a USB stick, and damaged entries. */
#include "test.h"
#include "firmware_sim.h"
#include "uefi/firmware/uefi.h"

#define TEXT 0x01, 0, 0, 0, 0x20, 0, 'd', 0, 'i', 0, 's', 0, 'k', 0, 0, 0
#define PCI  0x01, 0x01, 6, 0, 0, 2
#define FILE 0x04, 0x04, 10, 0, '\\', 0, 'a', 0, 0, 0
#define END  0x7f, 0xff, 4, 0

static void
open_firmware(void)
{
	firmware_sim_reset();
	firmware_sim_set_variable("BootCurrent", "\x2a\xb0", 2);
}

TEST_FIXTURE(open_firmware, NULL);

TEST(the_entry_of_an_installed_system_names_a_file)
{
	static const uint8_t entry[] = { TEXT, PCI, FILE, END };

	firmware_sim_set_variable("BootB02A", entry, sizeof(entry));
	assert_true(boot_entry_has_file_path());
}

TEST(the_entry_of_a_stick_names_its_device_only)
{
	static const uint8_t entry[] = { TEXT, PCI, END };

	firmware_sim_set_variable("BootB02A", entry, sizeof(entry));
	assert_false(boot_entry_has_file_path());
}

TEST(a_cut_entry_is_not_read_beyond_its_end)
{
	static const uint8_t entry[] = { TEXT, PCI, FILE, END };

	for (size_t size = 0; size < sizeof(entry); size++) {
		uint8_t *cut = malloc(size + 1);

		firmware_sim_reset();
		firmware_sim_set_variable("BootCurrent", "\x2a\xb0", 2);
		memcpy(cut, entry, size);
		firmware_sim_set_variable("BootB02A", cut, size);
		assert_int_equal(boot_entry_has_file_path(), size >= sizeof(entry) - sizeof((uint8_t[]){ END }) - 6);
		free(cut);
	}
}

TEST(a_node_without_a_length_ends_the_search)
{
	static const uint8_t entry[] = { TEXT, 0x01, 0x01, 0, 0, FILE, END };

	firmware_sim_set_variable("BootB02A", entry, sizeof(entry));
	assert_false(boot_entry_has_file_path());
}

TEST(without_a_current_entry_of_the_right_size_none_is_returned)
{
	static const uint8_t entry[] = { TEXT, PCI, FILE, END };

	firmware_sim_reset();
	firmware_sim_set_variable("BootB02A", entry, sizeof(entry));
	assert_false(boot_entry_has_file_path());
	firmware_sim_set_variable("BootCurrent", "\x2a", 1);
	assert_false(boot_entry_has_file_path());
}
