/* Tests which display and which serial lines the console uses. */
#include <stdio.h>

#include "test.h"
#include "console/console.h"
#include "console_sim.h"
#include "uefi/console/con_out.h"

/* sizes in bytes of parts of the firmware's variable ConOut, which contains device paths */
#define NODE         12u /* the first node of a device path */
#define LINE_PATH    61u /* device path of a terminal, with its end node */
#define DISPLAY_PATH 18u /* device path of a display, without its end node */

static struct display_sim *con_out;
static struct display_sim first, second;
static struct line_sim line, other;
static struct console console;

static void
open_firmware(void)
{
	firmware_sim_reset();
	con_out = console_sim_open();
}

TEST_FIXTURE(open_firmware, NULL);

/* Prints a word to the console's display and serial lines. */
static void
say(void)
{
	console_open(&console);
	serial_enable(&console.serial, SERIAL_FULL);
	console_print(&console, "word\n");
}

TEST(with_two_displays_the_one_in_conout_is_used)
{
	console_sim_display(&first, 1, false);
	console_sim_display(&second, 2, true);
	say();
	assert_int_equal(con_out->written, 6);
	assert_int_equal(first.written, 0);
	assert_int_equal(console.columns, 100);
}

TEST(if_conout_also_has_a_serial_line_its_display_is_used_directly)
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

TEST(if_conout_has_only_a_serial_line_a_display_outside_of_it_is_used)
{
	console_sim_line(&line, 9, true);
	say();
	assert_null(console.screen);
	assert_int_equal(con_out->written, 0);
	assert_string_equal(line.said, "word\r\n");
	open_firmware();
	console_sim_line(&line, 9, true);
	console_sim_display(&first, 1, false);
	say();
	assert_int_equal(con_out->written, 0);
	assert_int_equal(first.written, 6);
}

TEST(without_conout_and_with_serial_lines_the_first_display_is_used)
{
	console_sim_remove_con_out_variable();
	console_sim_display(&first, 1, false);
	console_sim_line(&line, 9, false);
	say();
	assert_int_equal(first.written, 6);
	assert_int_equal(con_out->written, 0);
	open_firmware();
	console_sim_remove_con_out_variable();
	console_sim_display(&first, 1, false);
	say();
	assert_int_equal(con_out->written, 6);
}

/* In each round one more byte is cut off the variable, so that it ends at every position within a path. */
TEST(a_cut_variable_is_not_read_beyond_its_end)
{
	EFI_HANDLE display, terminal;
	size_t left;

	terminal = console_sim_line(&line, 9, true);
	display = console_sim_display(&first, 1, true);
	do {
		struct con_out listed;

		left = console_sim_shorten_con_out_variable(1);
		con_out_read(&listed);
		if (left < NODE) /* less than one node is left */
			assert_false(con_out_contains_device(&listed, terminal) || con_out_contains_device(&listed, display));
		if (left >= LINE_PATH)
			assert_true(con_out_contains_device(&listed, terminal));
		if (left >= LINE_PATH + DISPLAY_PATH)
			assert_true(con_out_contains_device(&listed, display));
		con_out_free(&listed);
	} while (left);
}

TEST(a_firmware_in_graphics_mode_is_switched_to_text_and_restored)
{
	console_sim_display(&first, 1, true);
	console_sim_start_in_graphics();
	say();
	assert_int_equal(console_sim_mode, 0);
	console_close(&console);
	assert_int_equal(console_sim_mode, 1);
}

TEST(a_firmware_in_text_mode_is_not_switched)
{
	console_sim_display(&first, 1, true);
	console_sim_start_in_graphics();
	console_sim_mode = 0;
	say();
	console_close(&console);
	assert_int_equal(console_sim_mode, 0);
}

TEST(a_serial_line_outside_of_the_console_is_not_used)
{
	console_sim_line(&other, 8, false);
	console_sim_line(&line, 9, true);
	say();
	assert_string_equal(line.said, "word\r\n");
	assert_int_equal(other.length, 0);
}

TEST(if_no_serial_line_is_in_conout_the_first_one_is_used)
{
	console_sim_display(&first, 1, true);
	console_sim_line(&line, 9, false);
	console_sim_line(&other, 8, false);
	say();
	assert_string_equal(line.said, "word\r\n");
	assert_int_equal(other.length, 0);
	assert_int_equal(con_out->written, 6);
}

TEST(without_options_or_with_serial_off_nothing_is_sent)
{
	console_sim_line(&line, 9, true);
	console_open(&console);
	console_print_serial(&console, "word\n");
	serial_enable(&console.serial, SERIAL_OFF);
	console_print_serial(&console, "word\n");
	serial_queue_block(&console.serial, "TEXT", "abc\n", 4);
	assert_false(serial_send_next_chunk(&console.serial));
	serial_drop_queue(&console.serial);
	assert_int_equal(line.length, 0);
	serial_enable(&console.serial, SERIAL_SUMMARY);
	console_print_serial(&console, "word\n");
	assert_string_equal(line.said, "word\r\n");
}
