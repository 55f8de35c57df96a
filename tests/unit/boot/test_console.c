/* The choice of the display and of the serial lines. */
#include <stdio.h>

#include "test.h"
#include "console/console.h"
#include "console_sim.h"
#include "uefi/console/parts.h"

/* Sizes of paths in ConOut: the first node, a terminal's path with its end node, and a display's path without it. */
#define NODE         12u
#define LINE_PATH    61u
#define DISPLAY_PATH 18u

static struct display_sim *con_out;
static struct display_sim first, second;
static struct line_sim line, other;
static struct console console;

static int
open_firmware(void **state)
{
	(void)state;
	firmware_sim_reset();
	con_out = console_sim_open();
	return 0;
}

TEST_FIXTURE(open_firmware, NULL);

/* Prints a word to all parts of the console. */
static void
say(void)
{
	console_open(&console);
	serial_enable(&console.serial, SERIAL_FULL);
	console_put(&console, "word\n");
}

TEST(of_two_cards_the_console_is_written_to_and_not_the_first)
{
	console_sim_display(&first, 1, false);
	console_sim_display(&second, 2, true);
	say();
	assert_int_equal(con_out->written, 6);
	assert_int_equal(first.written, 0);
	assert_int_equal(console.columns, 100);
}

TEST(where_the_console_goes_over_a_line_too_its_own_display_is_written_to)
{
	console_sim_display(&first, 1, false);
	console_sim_line(&line, 9, true);
	console_sim_display(&second, 2, true);
	say();
	assert_int_equal(con_out->written, 0);
	assert_int_equal(first.written, 0);
	assert_int_equal(second.written, 6);
	assert_int_equal(console.columns, 100);
	assert_string_equal(line.said, "word\r\n");
}

TEST(a_console_on_a_line_alone_is_no_screen_but_a_display_is)
{
	console_sim_line(&line, 9, true);
	say();
	assert_null(console.screen);
	assert_int_equal(con_out->written, 0);
	assert_string_equal(line.said, "word\r\n");
	open_firmware(state);
	console_sim_line(&line, 9, true);
	console_sim_display(&first, 1, false);
	say();
	assert_int_equal(con_out->written, 0);
	assert_int_equal(first.written, 6);
}

TEST(without_the_variable_the_first_display_is_taken_where_there_are_lines)
{
	console_sim_forget();
	console_sim_display(&first, 1, false);
	console_sim_line(&line, 9, false);
	say();
	assert_int_equal(first.written, 6);
	assert_int_equal(con_out->written, 0);
	open_firmware(state);
	console_sim_forget();
	console_sim_display(&first, 1, false);
	say();
	assert_int_equal(con_out->written, 6);
}

/* Each round of the test cuts one more byte off the variable, so that it ends at any place within a path. */
TEST(a_variable_that_is_cut_off_is_read_no_further)
{
	EFI_HANDLE display, terminal;
	size_t left;

	terminal = console_sim_line(&line, 9, true);
	display = console_sim_display(&first, 1, true);
	do {
		struct parts parts;

		left = console_sim_shorten(1);
		parts_open(&parts);
		if (left < NODE) /* too short for one node */
			assert_false(parts_have(&parts, terminal) || parts_have(&parts, display));
		if (left >= LINE_PATH)
			assert_true(parts_have(&parts, terminal));
		if (left >= LINE_PATH + DISPLAY_PATH)
			assert_true(parts_have(&parts, display));
		parts_close(&parts);
	} while (left);
}

TEST(a_firmware_in_its_graphics_mode_is_taken_out_of_it_and_put_back)
{
	console_sim_display(&first, 1, true);
	console_sim_graphics();
	say();
	assert_int_equal(console_sim_mode, 0);
	console_close(&console);
	assert_int_equal(console_sim_mode, 1);
}

TEST(a_firmware_in_its_text_mode_stays_there)
{
	console_sim_display(&first, 1, true);
	console_sim_graphics();
	console_sim_mode = 0;
	say();
	console_close(&console);
	assert_int_equal(console_sim_mode, 0);
}

TEST(a_line_that_is_no_part_of_the_console_is_left_alone)
{
	console_sim_line(&other, 8, false);
	console_sim_line(&line, 9, true);
	say();
	assert_string_equal(line.said, "word\r\n");
	assert_int_equal(other.length, 0);
}

TEST(where_no_line_is_part_of_it_the_first_one_is_told)
{
	console_sim_display(&first, 1, true);
	console_sim_line(&line, 9, false);
	console_sim_line(&other, 8, false);
	say();
	assert_string_equal(line.said, "word\r\n");
	assert_int_equal(other.length, 0);
	assert_int_equal(con_out->written, 6);
}

TEST(before_the_options_are_read_and_with_serial_off_not_a_byte_is_written)
{
	console_sim_line(&line, 9, true);
	console_open(&console);
	console_serial(&console, "word\n");
	serial_enable(&console.serial, SERIAL_OFF);
	console_serial(&console, "word\n");
	serial_block(&console.serial, "TEXT", "abc\n", 4);
	assert_false(serial_send_next(&console.serial));
	serial_drop_queue(&console.serial);
	assert_int_equal(line.length, 0);
	serial_enable(&console.serial, SERIAL_SUMMARY);
	console_serial(&console, "word\n");
	assert_string_equal(line.said, "word\r\n");
}
