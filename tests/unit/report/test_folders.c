/* Names and sizes of the numbered folders in which reports are saved. */
#include "report/folders.h"

#include "test.h"

TEST(a_folders_number_is_its_name)
{
	assert_int_equal(folders_parse_number("0001"), 1);
	assert_int_equal(folders_parse_number("0420"), 420);
	assert_int_equal(folders_parse_number("9999"), FOLDERS_MAX);
}

TEST(an_unfinished_folder_has_its_number_in_upper_or_lower_case)
{
	assert_int_equal(folders_parse_number("0007.new"), 7);
	assert_int_equal(folders_parse_number("0008.NEW"), 8);
	assert_int_equal(folders_parse_number("0009.New"), 9);
}

TEST(other_names_have_no_number)
{
	static const char *const names[] = {
		"", ".", "..", "0000", "7", "007", "00007", "12345", "2024-notes", "0001 - Copy", "0001.txt", "0001.ne",
		"0001.newer", "0001.", "0001new", "new", "000a", "a000", "-001", " 001", "0001.new ",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(folders_parse_number(names[i]), 0);
}

TEST(a_name_has_four_digits_and_a_suffix_until_the_folder_is_complete)
{
	char name[FOLDERS_NAME_SIZE];

	folders_make_name(name, 1, true);
	assert_string_equal(name, "0001");
	folders_make_name(name, FOLDERS_MAX, true);
	assert_string_equal(name, "9999");
	folders_make_name(name, 37, false);
	assert_string_equal(name, "0037.new");
	assert_int_equal(folders_parse_number(name), 37);
}

TEST(files_need_whole_blocks_and_three_folders_a_block_each)
{
	static const size_t lengths[] = { 0, 1, 512, 513 };

	assert_int_equal(folders_max_size_bytes(lengths, 0, 512), 3 * 512);
	assert_int_equal(folders_max_size_bytes(lengths, 1, 512), 3 * 512);
	assert_int_equal(folders_max_size_bytes(lengths, 2, 512), 4 * 512);
	assert_int_equal(folders_max_size_bytes(lengths, 3, 512), 5 * 512);
	assert_int_equal(folders_max_size_bytes(lengths, 4, 512), 7 * 512);
	assert_int_equal(folders_max_size_bytes(lengths, 4, 32768), 6 * 32768);
}
