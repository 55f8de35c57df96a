/* Keys that are pressed while the report is sent over the serial line, in several blocks. */
#include <stdio.h>

#include "test.h"
#include "console_sim.h"
#include "uefi/console/pager.h"
#include "base/sha256.h"
#include "sim.h"

#define LENGTH 3000u

static struct line_sim line;
static struct console console;
static struct pager pager;
static char body[LENGTH + 1];

static void
open_pager(void)
{
	static struct display_sim display;

	sim_reset();
	firmware_sim_reset();
	console_sim_open();
	console_sim_display(&display, 1, true);
	console_sim_line(&line, 9, false);
	for (size_t i = 0; i < LENGTH; i++)
		body[i] = i % 50 == 49 ? '\n' : (char)('a' + i % 26);
	pager = (struct pager){ .console = NULL };
	console_open(&console);
	serial_enable(&console.serial, SERIAL_FULL);
	pager_show_document(&pager, &console, "Title", "a document\n");
	serial_queue_block(&console.serial, "TEXT", "short\n", 6);
	serial_queue_block(&console.serial, "CSV", body, LENGTH);
	serial_queue_block(&console.serial, "REPORT", body, LENGTH);
}

static void
close_pager(void)
{
	console_close(&console);
	pager_close(&pager);
}

TEST_FIXTURE(open_pager, close_pager);

/* Returns the output so far, without carriage returns. */
static char *
said(void)
{
	static char plain[CONSOLE_SIM_SAID];
	size_t length = 0;

	for (size_t i = 0; i < line.length; i++)
		if (line.said[i] != '\r')
			plain[length++] = line.said[i];
	plain[length] = '\0';
	return plain;
}

static void
put_block(char *out, const char *name, const char *bytes, size_t length)
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex(bytes, length, hex);
	sprintf(out + strlen(out), "BARETICK %s BEGIN\n%sBARETICK %s END sha256=%s\n", name, bytes, name, hex);
}

TEST(a_key_after_the_transfer_cuts_no_block)
{
	static char wanted[CONSOLE_SIM_SAID];

	console_sim_press_key('p', 1000);
	assert_int_equal(pager_wait_for_exit(&pager, false), EXIT_POWEROFF);
	put_block(wanted, "TEXT", "short\n", 6);
	put_block(wanted, "CSV", body, LENGTH);
	put_block(wanted, "REPORT", body, LENGTH);
	strcat(wanted, "Waiting for a key: P powers off, R restarts\n");
	assert_string_equal(said(), wanted);
}

TEST(a_key_that_ends_the_run_cuts_the_blocks_and_says_how_much_was_sent)
{
	unsigned sent, all;
	char *end;

	console_sim_press_key('r', 20);
	assert_int_equal(pager_wait_for_exit(&pager, false), EXIT_REBOOT);
	end = strstr(said(), "\nBARETICK CSV CUT");
	assert_non_null(end);
	assert_int_equal(sscanf(end, "\nBARETICK CSV CUT after %u of %u bytes\n", &sent, &all), 2);
	assert_in_range(sent, 500, 20 * 64);
	assert_int_equal(all, LENGTH);
	assert_memory_equal(end - sent, body, sent);
	assert_memory_equal(end - sent - 19, "BARETICK CSV BEGIN\n", 19);
	assert_string_equal(strstr(end, "BARETICK REPORT"), "BARETICK REPORT CUT after 0 of 3000 bytes\n");
}

/*
 * The key may come between two blocks, within the line that names a block, or within a block. Lines that programs look
 * for must be complete.
 */
TEST(whenever_the_key_comes_each_block_has_one_end)
{
	static const char *const names[] = { "TEXT", "CSV", "REPORT" };

	for (unsigned after = 0; after < 120; after++) {
		close_pager();
		open_pager();
		console_sim_press_key('p', after);
		pager_wait_for_exit(&pager, false);
		for (size_t i = 0; i < 3; i++) {
			char begin[64], end[64], cut[64];

			snprintf(begin, sizeof(begin), "BARETICK %s BEGIN\n", names[i]);
			snprintf(end, sizeof(end), "\nBARETICK %s END sha256=", names[i]);
			snprintf(cut, sizeof(cut), "\nBARETICK %s CUT after ", names[i]);
			assert_int_equal(!!strstr(said(), end) + (strstr(said(), cut) || !strncmp(said(), cut + 1, strlen(cut) - 1)), 1);
			if (strstr(said(), end))
				assert_non_null(strstr(said(), begin));
		}
		assert_int_equal(line.said[line.length - 1], '\n');
	}
}

TEST(a_serial_line_that_accepts_no_more_is_not_awaited)
{
	line.takes = 100;
	console_sim_press_key('p', 5);
	assert_int_equal(pager_wait_for_exit(&pager, false), EXIT_POWEROFF);
	assert_in_range(line.length, 1, 100);
	assert_false(serial_send_next_chunk(&console.serial));
}

TEST(without_a_key_the_machine_restarts_after_the_countdown)
{
	pager.patience = 200;
	assert_int_equal(pager_wait_for_exit(&pager, false), EXIT_REBOOT);
	assert_non_null(strstr(said(), "Waiting for a key: P powers off, R restarts\n" PAGER_ALONE "\n"));
}

TEST(a_report_says_that_the_machine_restarts_without_a_key)
{
	static struct report report;
	static char bytes[SCREEN_BUFFER_SIZE];
	struct text buffer;

	pager.patience = 200;
	text_init(&buffer, bytes, sizeof(bytes));
	pager_show_report(&pager, &console, &report, "Saved.", buffer);
	assert_string_equal(pager.saved, "Saved. " PAGER_ALONE);
	pager.patience = 0;
	pager_show_report(&pager, &console, &report, "Saved.", buffer);
	assert_string_equal(pager.saved, "Saved.");
}

TEST(any_key_ends_the_countdown)
{
	pager.patience = 200;
	console_sim_press_key('2', 150);
	console_sim_press_key('p', 5000);
	assert_int_equal(pager_wait_for_exit(&pager, false), EXIT_POWEROFF);
}
