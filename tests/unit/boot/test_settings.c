/* Options from a file and from the load options, with any length and contents. */
#include <stdio.h>

#include "test.h"
#include "uefi/volume/settings.h"
#include "volume_sim.h"

#define LONG_BYTES (10u << 10)

static const char *const none[] = { NULL };
static const struct options_names names = { none, none };
static const struct cpu_facts no_hypervisor;
static struct report report;

static void
open_volume(void)
{
	firmware_sim_reset();
	memset(&report, 0, sizeof(report));
	volume_sim_open();
}

static void
close_volume(void)
{
	volume_sim_close();
}

TEST_FIXTURE(open_volume, close_volume);

/* Returns a text of BYTES bytes that consists of FIRST, comments, LAST, and a final 0. */
static char *
long_text(size_t bytes, const char *first, const char *last)
{
	char *text = malloc(bytes + 1);

	memset(text, '#', bytes);
	memcpy(text, first, strlen(first));
	memcpy(text + bytes - strlen(last), last, strlen(last) + 1);
	return text;
}

static void
hold_config(char *text)
{
	struct volume_sim_file *file = volume_sim_add_file("\\baretick.cfg", false);

	file->bytes = text;
	file->length = strlen(text);
}

/* Writes PARTS as the nodes of a device path. PARTS has at most 3 elements, and NULL ends it. */
static void
put_path(uint8_t *bytes, const char *const parts[3])
{
	for (size_t i = 0; i < 3 && parts[i]; i++) {
		size_t size = sizeof(EFI_DEVICE_PATH) + (strlen(parts[i]) + 1) * sizeof(CHAR16);
		CHAR16 *name = (CHAR16 *)(bytes + sizeof(EFI_DEVICE_PATH));

		*(EFI_DEVICE_PATH *)bytes = (EFI_DEVICE_PATH){ MEDIA_DEVICE_PATH, MEDIA_FILEPATH_DP, { (UINT8)size } };
		for (size_t c = 0; c <= strlen(parts[i]); c++)
			name[c] = (CHAR16)parts[i][c];
		bytes += size;
	}
	*(EFI_DEVICE_PATH *)bytes = (EFI_DEVICE_PATH){ END_DEVICE_PATH_TYPE, END_ENTIRE_DEVICE_PATH_SUBTYPE,
						       { sizeof(EFI_DEVICE_PATH) } };
}

/*
 * GRUB and the firmware split the application's path into nodes in different ways. With each of them, the file next to
 * the application must be found.
 */
TEST(the_file_next_to_the_application_is_read_for_each_form_of_its_path)
{
	static const char *const splits[][3] = {
		{ "\\EFI\\tool\\baretick.efi" }, { "\\EFI\\tool", "baretick.efi" }, { "\\EFI\\tool\\", "baretick.efi" },
		{ "\\EFI\\tool", "\\baretick.efi" }, { "\\EFI", "tool\\", "\\baretick.efi" },
	};
	EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	struct volume_sim_file *own = volume_sim_add_file("\\EFI\\tool\\baretick.cfg", false);
	uint8_t bytes[256];
	char error[OPTIONS_ERROR_SIZE];

	hold_config(long_text(100, "exit=poweroff\n", "\n"));
	own->bytes = long_text(100, "exit=reboot\n", "\n");
	own->length = 100;
	image->FilePath = (EFI_DEVICE_PATH *)bytes;
	for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
		put_path(bytes, splits[i]);
		memset(&report, 0, sizeof(report));
		assert_true(settings_read(&no_hypervisor, &names, NULL, &report, error));
		assert_int_equal(report.facts.options.exit, EXIT_REBOOT);
	}
}

TEST(a_file_of_8_KiB_is_read)
{
	char error[OPTIONS_ERROR_SIZE];

	hold_config(long_text(8192, "save=off\n", "\nexit=poweroff\n"));
	assert_true(settings_read(&no_hypervisor, &names, NULL, &report, error));
	assert_false(report.facts.options.save.on_volume);
	assert_int_equal(report.facts.options.exit, EXIT_POWEROFF);
}

TEST(a_file_that_is_too_long_is_an_error_but_its_exit_and_save_are_used)
{
	char error[OPTIONS_ERROR_SIZE];

	hold_config(long_text(LONG_BYTES, "save=off\n", "\nexit=poweroff\n"));
	assert_false(settings_read(&no_hypervisor, &names, NULL, &report, error));
	assert_string_equal(error, "In baretick.cfg: the options are 10240 bytes long; the maximum is 8192 bytes.");
	assert_false(report.facts.options.save.on_volume);
	assert_int_equal(report.facts.options.exit, EXIT_POWEROFF);
}

TEST(the_start_of_a_file_of_a_mebibyte_is_read)
{
	char error[OPTIONS_ERROR_SIZE];

	hold_config(long_text(1 << 20, "exit=reboot\n", "\nexit=poweroff\n"));
	assert_false(settings_read(&no_hypervisor, &names, NULL, &report, error));
	assert_string_equal(error, "In baretick.cfg: the options are 1048576 bytes long; the maximum is 8192 bytes.");
	assert_int_equal(report.facts.options.exit, EXIT_REBOOT);
}

/*
 * Load options of more than 8,192 characters must be refused with a message. Otherwise their last words would be lost
 * without notice.
 */
TEST(load_options_that_are_too_long_are_an_error_too)
{
	EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	char *text = long_text(LONG_BYTES, "baretick.efi save=off ", " exit=poweroff");
	CHAR16 wide[LONG_BYTES + 1];
	char error[OPTIONS_ERROR_SIZE];

	for (size_t i = 0; i <= LONG_BYTES; i++)
		wide[i] = text[i] == '#' ? ' ' : (CHAR16)text[i];
	free(text);
	image->LoadOptions = wide;
	image->LoadOptionsSize = sizeof(wide);
	assert_false(settings_read(&no_hypervisor, &names, NULL, &report, error));
	assert_string_equal(error, "In the load options: the options are 10228 bytes long; the maximum is 8192 bytes.");
	assert_int_equal(report.facts.options.exit, EXIT_POWEROFF);
}

/* Passes on SIZE bytes as load options, like firmware does, and reads all options. */
static bool
reads_load_options(const void *bytes, size_t size, char *error)
{
	EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);

	image->LoadOptions = (void *)bytes;
	image->LoadOptionsSize = (UINT32)size;
	return settings_read(&no_hypervisor, &names, NULL, &report, error);
}

/* These load options are U-Boot 2023.01's default. */
TEST(load_options_of_linux_are_a_note)
{
	static const CHAR16 linux_arguments[] = L"root=/dev/sdb3 init=/sbin/init rootwait ro\n";
	static const CHAR16 longer[] = L"root=UUID=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f ro quiet";
	char error[OPTIONS_ERROR_SIZE];

	assert_true(reads_load_options(linux_arguments, sizeof(linux_arguments), error));
	assert_int_equal(report.notes.count, 1);
	assert_string_equal(report.notes.sentences[0],
			    "The words \"root=/dev/sdb3 init=/sbin/init rootwait ro\" in the load options "
					     "are no options of baretick: they are not used.");
	assert_true(reads_load_options(longer, sizeof(longer), error));
	assert_int_equal(report.notes.count, 2);
	assert_string_equal(report.notes.sentences[1],
			    "The words \"root=UUID=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f r...\" in the "
					     "load options are no options of baretick: they are not used.");
}

TEST(binary_load_options_are_a_note)
{
	static const uint16_t guid[] = { 0x8be4, 0xdf61, 0x93ca, 0x11d2, 0x0daa, 0x9800, 0x2be0, 0x8c03 };
	static const uint16_t device_path[] = { 0x0102, 0x000c, 0x41d0, 0x0a03, 0, 0, 0xff7f, 0x0004 };
	char error[OPTIONS_ERROR_SIZE];

	assert_true(reads_load_options(guid, sizeof(guid), error));
	assert_true(reads_load_options(device_path, sizeof(device_path), error));
	assert_int_equal(report.notes.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(report.notes.sentences[i],
				    "The load options are 16 bytes of binary data: they are not used.");
}

TEST(load_options_with_a_baretick_key_are_read_to_the_last_word)
{
	static const CHAR16 both[] = L"ro profile=quick", misspelled[] = L"ro porfile=quick";
	static const CHAR16 typed[] = L"baretick.efi ro";
	char error[OPTIONS_ERROR_SIZE];

	assert_true(reads_load_options(both, sizeof(both), error));
	assert_int_equal(report.facts.options.profile, PROFILE_QUICK);
	assert_string_equal(report.notes.sentences[0],
			    "The words \"ro\" in the load options are no options of baretick: they are not "
					     "used.");
	assert_false(reads_load_options(misspelled, sizeof(misspelled), error));
	assert_non_null(strstr(error, "\"porfile=quick\" is not an option"));
	assert_false(reads_load_options(typed, sizeof(typed), error));
	assert_ptr_equal(strstr(error, "In the load options: \"ro\" is not an option"), error);
	/* the word "ro" gives a note in both[] and in misspelled[], but an error in typed[] */
	assert_int_equal(report.notes.count, 2);
}

TEST(empty_load_options_are_no_note)
{
	static const CHAR16 blank[] = L" \n";
	char error[OPTIONS_ERROR_SIZE];

	assert_true(reads_load_options(blank, sizeof(blank), error));
	assert_true(reads_load_options(blank, 0, error));
	assert_int_equal(report.notes.count, 0);
}

/* Reads options from a server. TEXT is the server's answer. */
static bool
read_other(void *context, char *buffer, size_t size, size_t *length)
{
	const char *text = context;

	if (!text)
		return false;
	*length = strlen(text);
	assert_true(*length < size);
	memcpy(buffer, text, *length);
	return true;
}

static bool
reads_other(char *text, char *error)
{
	const struct settings_other other = { read_other, text, "http://10.0.2.2/baretick.cfg" };

	return settings_read(&no_hypervisor, &names, &other, &report, error);
}

TEST(without_a_file_options_from_a_server_are_read)
{
	char own[] = "label=other duration=20ms", wrong[] = "lable=x exit=reboot", error[OPTIONS_ERROR_SIZE];

	assert_true(reads_other(own, error));
	assert_string_equal(report.facts.options.label, "other");
	assert_int_equal(report.facts.options.duration_ns, 20000000);
	assert_true(reads_other(NULL, error));
	assert_string_equal(report.facts.options.label, "");
	assert_false(reads_other(wrong, error));
	error[sizeof("In http://10.0.2.2/baretick.cfg: \"lable=x\"") - 1] = '\0';
	assert_string_equal(error, "In http://10.0.2.2/baretick.cfg: \"lable=x\"");
	assert_int_equal(report.facts.options.exit, EXIT_REBOOT);
	hold_config(long_text(100, "label=file\n", "\n"));
	assert_true(reads_other(own, error));
	assert_string_equal(report.facts.options.label, "file");
	assert_int_equal(options_duration_ns(&report.facts.options), 1000000000);
}
