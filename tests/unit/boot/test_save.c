/* Saves reports to a volume whose driver can do less than EDK II's driver. */
#include <stdio.h>

#include "test.h"
#include "uefi/volume/save.h"
#include "volume_sim.h"

/*
 * size of the HTML page in bytes: neither a multiple of a sector nor of PIECE_BYTES, the largest part that is written
 * at once
 */
#define PAGE_BYTES  1000003u
#define PIECE_BYTES 0x10000u

static struct text texts[SAVE_FILES];
static const struct text *const saved[SAVE_FILES] = { &texts[0], &texts[1], &texts[2], &texts[3], &texts[4] };
static const char *const names[SAVE_FILES] = {
	[SAVE_JSON] = "report.json", [SAVE_TEXT] = "report.txt", [SAVE_HTML] = "report.html", [SAVE_CSV] = "report.csv",
	[SAVE_RECORD] = "report.record",
};

static struct volume_sim *volume;

static void
open_all(void)
{
	firmware_sim_reset();
	volume = volume_sim_open();
	for (size_t i = 0; i < SAVE_FILES; i++) {
		texts[i].length = i == SAVE_HTML ? PAGE_BYTES : 1000 * i;
		texts[i].bytes = malloc(texts[i].length + 1);
		for (size_t at = 0; at < texts[i].length; at++)
			texts[i].bytes[at] = (char)(at * 7 + at / 251 + i);
	}
}

static void
close_all(void)
{
	for (size_t i = 0; i < SAVE_FILES; i++)
		free(texts[i].bytes);
	volume_sim_close();
}

TEST_FIXTURE(open_all, close_all);

static void
check_folder(const char *folder)
{
	for (size_t i = 0; i < SAVE_FILES; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s\\%s", folder, names[i]);
		const struct volume_sim_file *file = volume_sim_find_file(path);

		assert_non_null(file);
		assert_int_equal(file->length, texts[i].length);
		if (file->length)
			assert_memory_equal(file->bytes, texts[i].bytes, file->length);
	}
}

static void
check_saved(const char *sentence_wanted, const char *folder)
{
	char sentence[SAVE_SENTENCE_SIZE];

	assert_true(save_report(saved, 0, sentence));
	assert_string_equal(sentence, sentence_wanted);
	check_folder(folder);
	assert_int_equal(firmware_sim_low_taken, 0);
}

TEST(a_driver_that_accepts_only_64_KiB_below_4_GiB_can_write_a_megabyte)
{
	volume->write_max = PIECE_BYTES;
	volume->low_only = true;
	check_saved("Report saved on the boot volume in \\baretick\\0001", "\\baretick\\0001");
	/*
	 * the HTML page has a write per piece, the empty JSON file has none, and each of the other three files has one
	 */
	assert_int_equal(volume->writes, 1 + PAGE_BYTES / PIECE_BYTES + 3);
}

TEST(a_run_that_did_not_start_has_no_record_and_its_report_is_saved)
{
	char sentence[SAVE_SENTENCE_SIZE];

	texts[SAVE_RECORD].length = 0;
	assert_true(save_report(saved, 0, sentence));
	assert_null(volume_sim_find_file("\\baretick\\0001\\report.record"));
	assert_non_null(volume_sim_find_file("\\baretick\\0001\\report.csv"));
}

TEST(without_memory_below_4_GiB_a_file_is_written_from_its_own_memory)
{
	firmware_sim_low_left = 0;
	volume->write_max = PIECE_BYTES;
	check_saved("Report saved on the boot volume in \\baretick\\0001", "\\baretick\\0001");
}

TEST(a_driver_without_Flush_keeps_the_report)
{
	volume->flush = EFI_UNSUPPORTED;
	check_saved("Report saved on the boot volume in \\baretick\\0001", "\\baretick\\0001");
}

TEST(if_Flush_fails_for_lack_of_space_the_new_folder_is_deleted)
{
	char sentence[SAVE_SENTENCE_SIZE];

	volume->flush = EFI_VOLUME_FULL;
	assert_false(save_report(saved, 0, sentence));
	assert_string_equal(sentence,
			    "No report was saved on the boot volume: it is full (\\baretick\\0001.new\\report.json, status bh).");
	assert_null(volume_sim_find_file("\\baretick"));
}

TEST(if_the_device_does_not_answer_nothing_more_is_asked_of_it)
{
	static const EFI_STATUS gone[] = { EFI_DEVICE_ERROR, EFI_TIMEOUT, EFI_NO_MEDIA, EFI_MEDIA_CHANGED };
	char sentence[SAVE_SENTENCE_SIZE];

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		volume_sim_close();
		volume_sim_open()->flush = gone[i];
		assert_false(save_report(saved, 0, sentence));
		/* Delete would wait for the device again, so the file that was begun stays. */
		assert_non_null(volume_sim_find_file("\\baretick\\0001.new\\report.json"));
	}
}

TEST(if_a_volume_becomes_full_during_a_file_it_is_restored)
{
	char sentence[SAVE_SENTENCE_SIZE];

	volume->room_bytes = PAGE_BYTES / 2;
	assert_false(save_report(saved, 0, sentence));
	assert_string_equal(sentence,
			    "No report was saved on the boot volume: it is full (\\baretick\\0001.new\\report.html, status bh).");
	assert_null(volume_sim_find_file("\\baretick"));
	assert_int_equal(firmware_sim_low_taken, 0);
}

/* U-Boot's SetInfo cannot rename a folder, and returns EFI_UNSUPPORTED. */
TEST(a_report_folder_that_cannot_be_renamed_is_complete_and_can_be_deleted)
{
	char sentence[SAVE_SENTENCE_SIZE];

	assert_true(save_report(saved, 0, sentence));
	volume->rename = EFI_UNSUPPORTED;
	check_saved("Report saved on the boot volume in \\baretick\\0002.new; it can't be renamed",
		    "\\baretick\\0002.new");
	assert_false(save_has_incomplete_folder(1));
	assert_true(save_has_incomplete_folder(2));
	assert_int_equal(save_find_next_report_number(), 3);
	save_remove_report(2);
	assert_null(volume_sim_find_file("\\baretick\\0002.new"));
	check_folder("\\baretick\\0001");
}

/* These folders have a long and a short name. A listing shows the long name only, but Open finds both. */
TEST(the_number_of_a_hidden_short_name_is_not_used_again)
{
	volume_sim_add_file("\\baretick", true);
	strcpy(volume_sim_add_file("\\baretick\\0001.newer", false)->alias, "\\baretick\\0001.NEW");
	check_saved("Report saved on the boot volume in \\baretick\\0002", "\\baretick\\0002");
	strcpy(volume_sim_add_file("\\baretick\\0005 of May", false)->alias, "\\baretick\\0005");
	assert_int_equal(save_find_next_report_number(), 6);
}

TEST(the_highest_numbers_are_used_too)
{
	volume_sim_add_file("\\baretick", true);
	volume_sim_add_file("\\baretick\\9997", true);
	assert_int_equal(save_find_next_report_number(), 9998);
	strcpy(volume_sim_add_file("\\baretick\\long", false)->alias, "\\baretick\\9999");
	assert_int_equal(save_find_next_report_number(), 0);
}
