/* Tests of a series of boots: the file on the boot volume, the count of boots, and the ranges of figures. */
#include <stdio.h>

#include "test.h"
#include "report/boots.h"

static char bytes[BOOTS_FILE_SIZE + 1];

static struct boots_entry
entry_of(const char *rule, uint32_t core, int64_t low, int64_t high)
{
	struct boots_entry entry = { .core = core, .measured = true, .low = low, .high = high, .unit = "ns", .clock = "tsc" };

	snprintf(entry.rule, sizeof(entry.rule), "%s", rule);
	return entry;
}

static void
count(struct boots *boots, const char *rule, uint32_t core, int64_t low, int64_t high)
{
	struct boots_entry entry = entry_of(rule, core, low, high);

	boots_count_entry(boots, &entry);
}

TEST(a_finding_in_three_boots_has_the_range_of_all_three)
{
	struct boots boots = { .planned = 20, .started = 5 };

	count(&boots, "tsc-offset", 2, 1600000000, 1600000400);
	count(&boots, "tsc-offset", 2, 1599999000, 1600000000);
	count(&boots, "tsc-offset", 2, 1600000100, 1600000200);
	count(&boots, "tsc-offset", 3, 7, 9);
	assert_int_equal(boots.entry_count, 2);
	assert_int_equal(boots.entries[0].boots, 3);
	assert_int_equal(boots.entries[0].low, 1599999000);
	assert_int_equal(boots.entries[0].high, 1600000400);
	assert_int_equal(boots.entries[1].boots, 1);
}

TEST(a_boot_without_a_figure_does_not_change_the_range)
{
	struct boots boots = { .planned = 2, .started = 2 };
	struct boots_entry plain = entry_of("clock-stuck", BOOTS_NO_CORE, 0, 0);

	plain.measured = false;
	boots_count_entry(&boots, &plain);
	count(&boots, "clock-stuck", BOOTS_NO_CORE, 5, 6);
	boots_count_entry(&boots, &plain);
	assert_int_equal(boots.entries[0].boots, 3);
	assert_int_equal(boots.entries[0].low, 5);
	assert_int_equal(boots.entries[0].high, 6);
}

TEST(an_entry_without_a_place_is_reported)
{
	struct boots boots = { .planned = 2, .started = 1 };

	for (uint32_t core = 0; core < BOOTS_ENTRIES_MAX; core++)
		count(&boots, "offset", core, -1, 1);
	assert_false(boots.full);
	count(&boots, "offset", BOOTS_ENTRIES_MAX, -1, 1);
	assert_true(boots.full);
	count(&boots, "offset", 0, -9, 1);
	assert_int_equal(boots.entries[0].low, -9);
	assert_int_equal(boots.entry_count, BOOTS_ENTRIES_MAX);
}

TEST(the_largest_file_is_read_as_it_was_written)
{
	struct boots boots = { .planned = 1000, .started = 1999, .died = 17, .failed = 3, .warned = 2, .incomplete = 1 }, read;
	bool running;

	for (uint32_t core = 0; core < BOOTS_ENTRIES_MAX; core++)
		count(&boots, "a-rule-with-a-name-of-31-letters", UINT32_MAX - core, -BOOTS_VALUE_MAX, BOOTS_VALUE_MAX);
	memset(boots.entries[0].clock, 0, sizeof(boots.entries[0].clock));
	memset(boots.entries[0].unit, 0, sizeof(boots.entries[0].unit));
	boots_print(bytes, &boots, true);
	assert_int_equal(strlen(bytes), BOOTS_FILE_SIZE);
	assert_true(boots_parse(bytes, BOOTS_FILE_SIZE, &read, &running));
	assert_true(running);
	assert_memory_equal(&read, &boots, sizeof(boots));
}

TEST(a_file_that_is_cut_or_changed_is_refused)
{
	struct boots boots = { .planned = 3, .started = 1 }, read;
	bool running;

	count(&boots, "tsc-offset", 1, -5, 5);
	boots_print(bytes, &boots, false);
	size_t length = (size_t)(strstr(bytes, "end\n") - bytes) + strlen("end\n");

	for (size_t cut = 0; cut < length; cut++)
		assert_false(boots_parse(bytes, cut, &read, &running));
	assert_true(boots_parse(bytes, length, &read, &running));
	static const char *const wrong[] = {
		"", "baretick boots 2 3 1 0 0 0 0 0 0\nend\n", "baretick boots 1 1001 1 0 0 0 0 0 0\nend\n",
		"baretick boots 1 3 1 2 0 0 0 0 0\nend\n", "baretick boots 1 3 -1 0 0 0 0 0 0\nend\n",
		"baretick boots 1 3 1 0 0 0 0 0 0\na tsc 1 2 1 0 0 ns\nend\n",
		"baretick boots 1 3 1 0 0 0 0 0 0\na tsc 1 1 1 2 1 ns\nend\n",
		"baretick boots 1 3 1 0 0 0 0 0 0\na tsc 1 1 1 0 99999999999999999999 ns\nend\n",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(boots_parse(wrong[i], strlen(wrong[i]), &read, &running));
}

TEST(twenty_boots_are_counted_and_two_that_died_are_two_of_them)
{
	struct boots boots = { .planned = 0 };
	unsigned starts = 0;

	boots_start_next(&boots, 20, false, false);
	for (starts = 1; boots_has_next(&boots); starts++)
		boots_start_next(&boots, 20, true, starts == 3 || starts == 7);
	assert_int_equal(starts, 20);
	assert_int_equal(boots.started, 20);
	assert_int_equal(boots.died, 2);
}

TEST(if_the_last_boot_died_one_more_reports)
{
	struct boots boots = { .planned = 2, .started = 2 };

	boots_start_next(&boots, 2, true, true);
	assert_int_equal(boots.started, 3);
	assert_int_equal(boots.died, 1);
	assert_false(boots_has_next(&boots));
}

TEST(a_complete_series_or_another_number_starts_a_new_series)
{
	struct boots boots = { .planned = 2, .started = 2, .failed = 1 };

	boots_start_next(&boots, 2, true, false);
	assert_int_equal(boots.started, 1);
	assert_int_equal(boots.failed, 0);
	boots_start_next(&boots, 5, true, true);
	assert_int_equal(boots.planned, 5);
	assert_int_equal(boots.started, 1);
	assert_int_equal(boots.died, 0);
}
