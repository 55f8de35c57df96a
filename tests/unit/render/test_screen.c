/* Tests of the screen: the effect of each key, and the text and colour of each row, on screens of different sizes. */
#include "test.h"
#include "judge/judge.h"
#include "golden.h"
#include "advice/recommend.h"
#include "report_literal.h"
#include "render/screen/screen.h"
#include "render/layout/layout.h"

static char room[SCREEN_BUFFER_SIZE];
static struct report *report;
static struct screen screen;

static void
judge(struct report *(*literal)(void))
{
	report = literal();
	literal_judge(report);
	recommend_clocks(report, &report->advice);
}

/* Opens a screen with SHOWN, or with a document if SHOWN is NULL. */
static void
show(const struct report *shown, size_t columns, size_t rows)
{
	screen = (struct screen){
		.version = "0.1.0", .report = shown, .title = "Rules", .document = "",
		.saved = "Report saved on the boot volume in \\baretick\\0007",
		.columns = columns, .rows = rows, .buffer = room, .buffer_size = sizeof(room),
	};
	screen_open(&screen);
}

static void
judge_and_show(struct report *(*literal)(void), size_t columns, size_t rows)
{
	judge(literal);
	show(report, columns, rows);
}

/* Returns row INDEX without blanks at its end. First checks the properties that all rows must have. */
static const char *
row_of(size_t index)
{
	static struct screen_row row;
	size_t length = screen.columns;

	memset(&row, 0xa5, sizeof(row));
	screen_render_row(&screen, index, &row);
	assert_int_equal(strlen(row.bytes), screen.columns);
	for (size_t i = 0; i < screen.columns; i++) {
		assert_in_range(row.bytes[i], 0x20, 0x7e);
		assert_in_range(row.inks[i], INK_PLAIN, INKS - 1);
	}
	while (length && row.bytes[length - 1] == ' ')
		row.bytes[--length] = '\0';
	return row.bytes;
}

static enum text_ink
ink_at(size_t index, const char *words)
{
	struct screen_row row;

	screen_render_row(&screen, index, &row);
	const char *at = strstr(row.bytes, words);
	if (!at)
		fail_msg("\"%s\" is not in row %zu: %s", words, index, row.bytes);
	return row.inks[at - row.bytes];
}

/* Returns the index of the row on the present page that starts with START. */
static size_t
find_row(const char *start)
{
	for (size_t i = 1; i + 1 < screen.rows; i++)
		if (strncmp(row_of(i), start, strlen(start)) == 0)
			return i;
	fail_msg("no row begins with \"%s\"", start);
	return 0;
}

static void
press(unsigned key)
{
	assert_int_equal(screen_handle_key(&screen, key), SCREEN_STAY);
}

/* Prints all pages as users see them. Below each line, letters show the colours of text that is not plain. */
static void
put_pages(struct text *out)
{
	static const char letters[INKS + 1] = " pwfdhBHPWF";
	struct screen_row row;

	for (unsigned key = '1'; key <= '7'; key++) {
		/* resets the page, because key 3 shows the next clock if a clock is already shown */
		screen_open(&screen);
		press(key);
		for (size_t i = 0; i < screen.rows; i++) {
			char inks[SCREEN_COLUMNS_MAX];
			size_t length = screen.columns, inked = 0;

			screen_render_row(&screen, i, &row);
			for (size_t c = 0; c < screen.columns; c++)
				inks[c] = row.bytes[c] == ' ' && row.inks[c] < INK_BAR ? ' ' : letters[row.inks[c]];
			for (inked = screen.columns; inked && inks[inked - 1] == ' '; inked--)
				;
			while (length && row.bytes[length - 1] == ' ')
				length--;
			text_printf(out, "|%.*s\n", (int)length, row.bytes);
			if (inked)
				text_printf(out, "~%.*s\n", (int)inked, inks);
		}
	}
}

static void
compare(struct report *(*literal)(void), size_t columns, size_t rows, const char *golden)
{
	static char bytes[1 << 18];

	judge_and_show(literal, columns, rows);
	struct text text = text_start(bytes, sizeof(bytes));
	put_pages(&text);
	golden_compare(golden, &text);
}

TEST(pages_are_as_their_goldens_at_80x25_and_at_160x53)
{
	compare(literal_make_clean_report, 80, 25, "clean-80x25.screen");
	compare(literal_make_faulty_report, 80, 25, "sick-80x25.screen");
	compare(literal_make_empty_report, 80, 25, "empty-80x25.screen");
	compare(literal_make_faulty_report, 160, 53, "sick-160x53.screen");
}

TEST(digit_keys_show_their_pages_and_the_bar_marks_them)
{
	static const char *const titles[SCREEN_PAGES] = { "Summary", "Histograms", "Clock 1 of 12: tsc", "Cores", "Findings",
							  "About", "Timers" };
	static const char *const keys[SCREEN_PAGES] = { "1 Sum", "2 His", "3 Clo", "4 Cor", "5 Fin", "6 Abo", "7 Tim" };

	judge_and_show(literal_make_clean_report, 80, 25);
	for (unsigned i = SCREEN_PAGES; i-- > 0;) {
		char title[64];

		press('1' + i);
		snprintf(title, sizeof(title), " baretick 0.1.0   %s   PASS", titles[i]);
		assert_memory_equal(row_of(0), title, strlen(title));
		for (size_t k = 0; k < SCREEN_PAGES; k++)
			assert_int_equal(ink_at(24, keys[k]), k == i ? INK_BAR_HERE : INK_BAR);
	}
	press('0');
	press('8');
	press('x');
	press(0x100);
	assert_int_equal(screen.page, SCREEN_SUMMARY);
}

TEST(the_page_of_timers_also_shows_sleep_states_and_the_firmwares_time)
{
	static const char *const headings[] = { "Sleep: what clocks did", "The firmware's own time" };

	judge_and_show(literal_make_clean_report, 80, 25);
	report->figures.sleeps.rows[0] = (struct report_sleep){ .state = "halt", .core = 1 };
	report->figures.sleeps.count = report->figures.firmware_count = 1;
	report->figures.firmware[0] = (struct report_firmware){ .service = FIRMWARE_STALL, .asked_ns = 10000, .count = 8 };
	screen_open(&screen);
	press('7');
	for (size_t i = 0; i < 2; i++) {
		bool is_shown = false;

		press(SCREEN_KEY_HOME);
		for (size_t line = 0; line < 200 && !is_shown; line++, press(SCREEN_KEY_DOWN))
			for (size_t row = 1; row < 24; row++)
				is_shown |= strncmp(row_of(row), headings[i], strlen(headings[i])) == 0;
		assert_true(is_shown);
	}
}

TEST(clock_keys_show_all_clocks_in_turn)
{
	judge_and_show(literal_make_clean_report, 80, 25);
	press(']');
	assert_int_equal(screen.page, SCREEN_SUMMARY);
	for (size_t i = 0; i < 13; i++) {
		press('3');
		assert_int_equal(screen.clock, i % 12);
	}
	press('[');
	assert_int_equal(screen.clock, 11);
	press(']');
	press(']');
	assert_int_equal(screen.clock, 1);
	press('5');
	press('3'); /* from another page, key 3 shows the same clock as before */
	assert_int_equal(screen.clock, 1);
}

TEST(arrow_keys_change_page_and_clock_and_tab_changes_the_page)
{
	judge_and_show(literal_make_clean_report, 80, 25);
	for (size_t i = 0; i < 18; i++) {
		size_t page = i < 2 ? i : i < 14 ? SCREEN_CLOCK : i - 11;

		assert_int_equal(screen.page, page);
		if (page == SCREEN_CLOCK)
			assert_int_equal(screen.clock, i - 2);
		press(SCREEN_KEY_RIGHT);
	}
	assert_int_equal(screen.page, SCREEN_SUMMARY);
	press(SCREEN_KEY_LEFT);
	assert_int_equal(screen.page, SCREEN_TIMERS);
	for (size_t i = 0; i < 4; i++)
		press(SCREEN_KEY_LEFT);
	assert_int_equal(screen.page, SCREEN_CLOCK);
	assert_int_equal(screen.clock, 11);
	for (size_t i = 0; i < 12; i++)
		press(SCREEN_KEY_LEFT);
	assert_int_equal(screen.page, SCREEN_HISTOGRAMS);
	for (size_t i = 1; i <= SCREEN_PAGES; i++) {
		press('\t');
		assert_int_equal(screen.page, (SCREEN_HISTOGRAMS + i) % SCREEN_PAGES);
	}
}

/*
 * The low bytes of the letters U+0101 to U+0117 equal the scan codes 1 to 17h. Scan codes are above the low 16 bits,
 * so these letters must have no effect.
 */
TEST(letters_above_latin_are_no_scan_codes)
{
	judge_and_show(literal_make_clean_report, 80, 25);
	screen.can_quit = true;
	press(SCREEN_KEY_DOWN);
	assert_int_equal(screen.line, 1);
	for (unsigned letter = 0x100; letter <= 0x117; letter++) {
		press(letter);
		assert_int_equal(screen.page, SCREEN_SUMMARY);
		assert_int_equal(screen.line, 1);
	}
	assert_int_equal(SCREEN_KEY_UP, 0x10001);
	assert_int_equal(screen_handle_key(&screen, 0x10017), SCREEN_QUIT);
}

/*
 * The document has 60 lines, and a screen of 25 rows shows 23 of them. Lines are counted from 0 here, so line 37 is the
 * last line that can be at the top.
 */
TEST(scrolling_stops_at_both_ends)
{
	static const struct {
		unsigned key;
		size_t line;
	} steps[] = {
		{ SCREEN_KEY_UP, 0 },	     { SCREEN_KEY_PAGE_UP, 0 }, { SCREEN_KEY_DOWN, 1 },
		{ SCREEN_KEY_PAGE_DOWN, 24 }, { ' ', 37 },		{ ' ', 37 },
		{ SCREEN_KEY_DOWN, 37 },      { SCREEN_KEY_UP, 36 },	{ 'b', 13 },
		{ 'B', 0 },		      { '\r', 23 },		{ SCREEN_KEY_HOME, 0 },
		{ SCREEN_KEY_END, 37 },	      { SCREEN_KEY_PAGE_UP, 14 },
	};
	char document[60 * 9 + 1], first[16], last[16], position[64];

	for (size_t i = 0; i < 60; i++)
		snprintf(document + 9 * i, 10, "line %3zu\n", i + 1);
	show(NULL, 80, 25);
	screen.document = document;
	screen_open(&screen);
	assert_int_equal(screen.lines, 60);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		press(steps[i].key);
		assert_int_equal(screen.line, steps[i].line);
		snprintf(first, sizeof(first), "line %3zu", steps[i].line + 1);
		snprintf(last, sizeof(last), "line %3zu", steps[i].line + 23);
		snprintf(position, sizeof(position), "  lines %zu-%zu of 60", steps[i].line + 1, steps[i].line + 23);
		assert_string_equal(row_of(1), first);
		assert_string_equal(row_of(23), last);
		assert_non_null(strstr(row_of(0), position));
	}
	press('3'); /* a document has no pages, so keys for pages have no effect */
	press(SCREEN_KEY_RIGHT);
	assert_int_equal(screen.line, 14);
	assert_null(strstr(row_of(24), "Summary")); /* the last row offers no keys for pages */
}

TEST(a_page_that_fits_has_no_position_and_does_not_scroll)
{
	show(NULL, 80, 25);
	screen.document = "one\ntwo\n";
	screen_open(&screen);
	press(SCREEN_KEY_DOWN);
	press(SCREEN_KEY_END);
	press(' ');
	assert_string_equal(row_of(1), "one");
	assert_string_equal(row_of(0), " baretick 0.1.0   Rules");
}

TEST(keys_end_the_screen_with_restart_power_off_or_an_allowed_quit)
{
	judge_and_show(literal_make_clean_report, 80, 25);
	assert_int_equal(screen_handle_key(&screen, 'r'), SCREEN_RESTART);
	assert_int_equal(screen_handle_key(&screen, 'R'), SCREEN_RESTART);
	assert_int_equal(screen_handle_key(&screen, 'p'), SCREEN_POWER_OFF);
	assert_int_equal(screen_handle_key(&screen, 'P'), SCREEN_POWER_OFF);
	for (size_t i = 0; i < 3; i++)
		press(((unsigned[]){ 'q', 'Q', SCREEN_KEY_ESCAPE })[i]);
	assert_null(strstr(row_of(24), "quit"));
	screen.can_quit = true;
	assert_string_equal(row_of(24), "1 Sum 2 Histo 3 Clock 4 Cores 5 Findings 6 About 7 Timers R reset P off Q quit");
	assert_int_equal(screen_handle_key(&screen, 'q'), SCREEN_QUIT);
	assert_int_equal(screen_handle_key(&screen, 'Q'), SCREEN_QUIT);
	assert_int_equal(screen_handle_key(&screen, SCREEN_KEY_ESCAPE), SCREEN_QUIT);
}

/* On each page, the down key must reach all lines up to the last one. */
TEST(every_line_of_every_page_can_be_reached_by_keys)
{
	static const size_t sizes[][2] = { { 80, 25 }, { 100, 31 }, { 128, 40 }, { 160, 53 }, { 240, 60 } };

	judge(literal_make_faulty_report);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		show(report, sizes[s][0], sizes[s][1]);
		for (size_t page = 0; page < 17; page++, press(SCREEN_KEY_RIGHT)) {
			size_t rows = sizes[s][1] - 2;
			size_t steps = screen.lines > rows ? screen.lines - rows : 0;

			assert_true(screen.left.lines == screen.lines || screen.right.lines == screen.lines);
			assert_false(screen.left.text.truncated || screen.right.text.truncated);
			for (size_t i = 0; i <= steps; i++) {
				assert_int_equal(screen.line, i);
				press(SCREEN_KEY_DOWN);
			}
			assert_int_equal(screen.line, steps);
		}
	}
}

/* No line may be wider than its part of the screen, because it would be cut off at the right. */
TEST(on_screens_of_80_columns_or_more_no_line_is_cut)
{
	struct report *(*const literals[])(void) = { literal_make_clean_report, literal_make_faulty_report,
						    literal_make_empty_report };

	for (size_t l = 0; l < 3; l++) {
		judge(literals[l]);
		for (size_t columns = 80; columns <= 260; columns += 4) {
			show(report, columns, 50);
			for (size_t page = 0; page < 17; page++, press(SCREEN_KEY_RIGHT)) {
				const struct screen_pane *panes[] = { &screen.left, &screen.right };

				for (size_t p = 0; p < 2; p++)
					for (const char *line = panes[p]->text.bytes; *line;
					     line += strcspn(line, "\n") + 1)
						if (strcspn(line, "\n") > panes[p]->text.columns)
							fail_msg("%zu columns, page %zu: %.90s", columns, page, line);
			}
		}
	}
}

/* On a screen wider than 320 columns, only the first 320 are used. */
TEST(screens_wider_than_320_columns_have_rows_of_320)
{
	static const size_t sizes[][2] = { { 319, 53 }, { 320, 53 }, { 321, 53 }, { 400, 120 } };

	judge(literal_make_faulty_report);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		size_t columns = sizes[s][0] < 320 ? sizes[s][0] : 320;

		show(report, sizes[s][0], sizes[s][1]);
		for (size_t page = 0; page < 17; page++, press(SCREEN_KEY_RIGHT)) {
			for (size_t i = 0; i < sizes[s][1]; i++) {
				struct screen_row row;

				memset(&row, 0xa5, sizeof(row));
				screen_render_row(&screen, i, &row);
				assert_int_equal(strnlen(row.bytes, sizeof(row.bytes)), columns);
				for (size_t c = 0; c < columns; c++)
					assert_in_range(row.inks[c], INK_PLAIN, INKS - 1);
			}
		}
	}
}

TEST(tiny_screens_cause_no_bad_access)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 7, 79 };

	judge(literal_make_faulty_report);
	for (size_t c = 0; c < sizeof(sizes) / sizeof(sizes[0]); c++) {
		for (size_t r = 0; r < sizeof(sizes) / sizeof(sizes[0]); r++) {

			show(report, sizes[c], sizes[r]);
			for (unsigned key = '1'; key <= '7'; key++) {
				press(key);
				press(SCREEN_KEY_END);
				press(SCREEN_KEY_PAGE_UP);
				press(SCREEN_KEY_HOME);
				for (size_t i = 0; i < sizes[r]; i++)
					row_of(i);
				assert_int_equal(screen.line, 0);
			}
		}
	}
}

TEST(a_small_buffer_cuts_the_text_and_does_not_overflow)
{
	judge_and_show(literal_make_faulty_report, 80, 25);
	for (size_t size = 4; size < 4000; size += 97) {
		char *small = malloc(size); /* allocated memory, so that the address sanitizer checks its end */

		screen.buffer = small;
		screen.buffer_size = size;
		screen_open(&screen);
		for (size_t i = 0; i < 17; i++, press(SCREEN_KEY_RIGHT))
			for (size_t row = 0; row < 25; row++)
				row_of(row);
		free(small);
	}
}

/*
 * The histogram has each exact duration below 10,000 ns, and each bucket of longer durations. With the option
 * cutoff=100 (percent), all these durations are listed.
 */
TEST(the_longest_page_fits_into_its_buffer)
{
	judge_and_show(literal_make_clean_report, 160, 53);
	for (uint64_t ns = 0; ns < LATENCY_EXACT_NS; ns++)
		literal_record_ns(report->facts.clocks[0].latency, ns, UINT64_C(1000000000000) + ns);
	for (uint64_t ns = LATENCY_EXACT_NS; ns < UINT64_MAX / 2; ns += ns / 100)
		literal_record_ns(report->facts.clocks[0].latency, ns, 1);
	report->facts.options.cutoff_millionths = 100000000;
	press('3');
	assert_false(screen.right.text.truncated);
	assert_true(screen.right.lines > 10000);
	show(report, 80, 25);
	press('3');
	assert_false(screen.left.text.truncated);
}

TEST(a_report_without_clocks_has_a_sentence)
{
	report = literal_make_empty_report();
	size_t clocks = report->facts.clock_count;

	report->facts.clock_count = 0;
	literal_judge(report);
	show(report, 80, 25);
	press('3');
	press('3');
	press(']');
	press('[');
	assert_string_equal(row_of(1), "No clock was measured.");
	press(SCREEN_KEY_RIGHT);
	assert_int_equal(screen.page, SCREEN_CORES);
	press(SCREEN_KEY_LEFT);
	assert_int_equal(screen.page, SCREEN_CLOCK);
	report->facts.clock_count = clocks;
}

static void
clock_page(const char *id)
{
	press('3');
	for (size_t i = 0; strcmp(screen.report->facts.clocks[screen.clock].clock.id, id) != 0; i++) {
		assert_true(i < screen.report->facts.clock_count);
		press(']');
	}
}

/*
 * The TSC has half the rate of the PIT. Therefore the TSC is 500,000 ppm slower than the PIT, but the PIT is 1,000,000
 * ppm faster than the TSC.
 */
TEST(a_pair_is_on_both_clocks_pages_with_the_rate_of_its_direction)
{
	size_t row;

	judge_and_show(literal_make_clean_report, 80, 25);
	report->figures.rate_count = 3;
	report->figures.rates[0] = (struct report_rate){ "tsc", "pit", { true, -500000000, -500001000, -499998000 },
							 false };
	report->figures.rates[1] = (struct report_rate){ "pit", "hpet", { true, 2000, -1500, 5500 }, true };
	report->figures.rates[2] = (struct report_rate){ "tsc", "rtc", { false, 0, 0, 0 }, false };
	clock_page("tsc");
	row = find_row("rate");
	assert_string_equal(row_of(row), "rate     against pit: -500001 .. -499998 ppm");
	assert_null(strstr(screen.left.text.bytes, "against rtc"));
	clock_page("pit");
	row = find_row("rate");
	assert_string_equal(row_of(row), "rate     tsc against pit: -500001 .. -499998 ppm");
	assert_string_equal(row_of(row + 1), "         against hpet (the same source): -1.500 .. +5.500 ppm");
	clock_page("hpet");
	row = find_row("rate");
	assert_string_equal(row_of(row), "rate     pit against hpet (the same source): -1.500 .. +5.500 ppm");
	clock_page("rtc");
	assert_null(strstr(screen.left.text.bytes, "\nrate"));
}

/* Shows the page of cores of a report about CORES cores. */
static void
show_cores(size_t cores, size_t columns, size_t rows)
{
	report = literal_make_report_of_cores(cores, PAIR_SCHEDULE_ALL, NULL);
	literal_judge(report);
	show(report, columns, rows);
	press('4');
}

TEST(the_page_of_100_cores_has_their_map_on_160_columns)
{
	show_cores(100, 160, 53);
	assert_int_equal(screen.right_column, 0);
	assert_non_null(strstr(screen.left.text.bytes, "\nPairs of cores: "));
	show_cores(100, 80, 25);
	assert_null(strstr(screen.left.text.bytes, "Pairs of cores: "));
	assert_non_null(strstr(screen.left.text.bytes, "pairs with the largest proven or possible offsets"));

	show_cores(60, 160, 53);
	assert_int_equal(screen.right_column, 81);
	assert_non_null(strstr(screen.right.text.bytes, "Pairs of cores: "));
}

TEST(the_page_of_255_cores_has_one_row_per_package_and_is_complete)
{
	show_cores(255, 80, 25);
	assert_false(screen.left.text.truncated);
	assert_non_null(strstr(screen.left.text.bytes, "package 3 (63)"));
	press(SCREEN_KEY_END);
	assert_string_equal(row_of(23), "package 3 (63)       1953      0      0      0  12096      0      0      0");
}

/* row_of() checks every byte of a row. Here all texts in the report and in a document have all possible bytes. */
TEST(bytes_outside_ascii_never_reach_a_row)
{
	char hostile[256], saved[256];

	judge(literal_make_faulty_report);
	for (size_t i = 0; i < 255; i++)
		hostile[i] = (char)(i + 1);
	hostile[255] = '\0';
	memcpy(saved, hostile, sizeof(saved));
	memcpy(report->facts.machine.cpu, hostile, sizeof(report->facts.machine.cpu) - 1);
	memcpy(report->facts.machine.firmware, hostile + 120, sizeof(report->facts.machine.firmware) - 1);
	memcpy(report->facts.machine.hypervisor, hostile + 128, sizeof(report->facts.machine.hypervisor) - 1);
	memcpy(report->notes.sentences[0], hostile, REPORT_SENTENCE - 1);
	memcpy(report->outcomes.findings[0].text, hostile, REPORT_SENTENCE - 1);
	memcpy(report->facts.clocks[0].clock.reason, hostile + 127, CLOCK_REASON_SIZE - 1);
	memcpy(report->advice.ranking.rows[0].reason, hostile, REPORT_SENTENCE - 1);
	show(report, 160, 53);
	screen.saved = saved;
	for (size_t i = 0; i < 17; i++, press(SCREEN_KEY_RIGHT))
		for (size_t line = 0; line <= screen.lines; line += 51, press(' '))
			for (size_t row = 0; row < 53; row++)
				row_of(row);

	show(NULL, 80, 25);
	screen.document = hostile;
	screen_open(&screen);
	for (size_t row = 0; row < 25; row++)
		row_of(row);
	assert_string_equal(row_of(1), "?????????");
	room[3] = '\x9b'; /* a byte that renderers do not filter out */
	assert_string_equal(row_of(1), "?????????");
	room[3] = '#';
	assert_string_equal(row_of(1), "???#?????");
}

/* Colour must not be the only information: each coloured verdict is also a word. */
TEST(each_coloured_verdict_is_also_a_word)
{
	static const struct {
		enum verdict verdict;
		const char *word;
		enum text_ink ink, bar;
	} cases[] = {
		{ VERDICT_PASS, " PASS ", INK_PASS, INK_BAR_PASS },
		{ VERDICT_WARN, " WARN ", INK_WARN, INK_BAR_WARN },
		{ VERDICT_FAIL, " FAIL ", INK_FAIL, INK_BAR_FAIL },
		{ VERDICT_INCOMPLETE, " INCOMPLETE ", INK_WARN, INK_BAR_WARN },
	};

	judge_and_show(literal_make_clean_report, 80, 25);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		report->outcomes.verdict = cases[i].verdict;
		screen_open(&screen);
		assert_int_equal(ink_at(0, cases[i].word), cases[i].bar);
		assert_int_equal(ink_at(find_row("verdict"), verdict_words_in_capitals[cases[i].verdict]), cases[i].ink);
	}
}

static void
show_with_stolen_time(uint64_t ns)
{
	report = literal_make_clean_report();
	literal_add_stolen_time(report, 1, 12034, ns);
	literal_judge(report);
	recommend_clocks(report, &report->advice);
	show(report, 80, 25);
}

TEST(the_title_rounds_stolen_time_as_the_text_does)
{
	/* 25.6496 %, which rounded to 25.650 % and then to one decimal would be 25.7 % */
	show_with_stolen_time(1025984000);
	assert_non_null(strstr(row_of(0), " 25.6 % stolen "));
	assert_non_null(strstr(report->outcomes.quality.text, "25.6 % of the observed time was stolen"));
}

TEST(every_page_has_stolen_time_next_to_the_verdict)
{
	show_with_stolen_time(2440000000);
	for (unsigned key = '1'; key <= '7'; key++) {
		screen_handle_key(&screen, key);
		assert_int_equal(ink_at(0, "PASS"), INK_BAR_PASS);
		assert_int_equal(ink_at(0, "61.0 % stolen"), INK_BAR_WARN);
	}
	screen_handle_key(&screen, '1');
	assert_int_equal(ink_at(find_row("stolen"), "61.0 %"), INK_WARN);
	judge_and_show(literal_make_clean_report, 80, 25);
	assert_null(strstr(row_of(0), "stolen"));
	assert_int_equal(ink_at(find_row("stolen"), "No stolen"), INK_PLAIN);
}
