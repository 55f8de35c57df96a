/*
 * Compares the text report with its goldens. Also tests properties that every text report must have: line width,
 * order, and completeness.
 */
#include "test.h"
#include "judge/judge.h"
#include "golden.h"
#include "base/number.h"
#include "stats/observed.h"
#include "advice/recommend.h"
#include "report_literal.h"
#include "render/layout/layout.h"
#include "render/text/report_text.h"
#include "render/text/table_firmware.h"
#include "render/cores/table_cores.h"
#include "render/sections/table_sections.h"
#include "judge/cores/judge_cores.h"
#include "judge/cores/offset_analysis.h"

LITERAL_REPORT_FIXTURE;

#define TEXT_SIZE (1 << 20)

static char buffer[TEXT_SIZE];

typedef void renderer(struct text *out, const struct report *report);

/* Asserts that lines have at most 79 columns of printable ASCII, and no space at their end. */
static void
assert_lines_fit(const struct text *text)
{
	size_t lines = 0, column = 0;

	for (size_t i = 0; i < text->length; i++) {
		char c = text->bytes[i];

		assert_true(c == '\n' || (c >= 0x20 && c <= 0x7e));
		if (c == '\n' && i)
			assert_int_not_equal(text->bytes[i - 1], ' ');
		column = c == '\n' ? 0 : column + 1;
		if (column > 79)
			fail_msg("line %zu is longer than 79 columns: %.90s", lines + 1, text->bytes + i - 79);
		lines += c == '\n';
	}
	assert_int_equal(column, 0);
}

/* Returns what PUT writes about the report. Its lines must fit. */
static struct text
render(renderer *put)
{
	analyse_offsets(report, &report->outcomes.sync); /* calculates which rows are marked */
	judge_summarize_synchrony(report, &report->outcomes);
	struct text text = text_start(buffer, sizeof(buffer));
	put(&text, report);
	assert_lines_fit(&text);
	return text;
}

static void
compare(struct report *(*literal)(void), const char *golden)
{
	report = literal();
	literal_judge(report);
	recommend_clocks(report, &report->advice);
	struct text text = render(table_render);
	golden_compare(golden, &text);
}

TEST(reports_of_a_healthy_and_a_faulty_machine_and_without_measurements_match_their_goldens)
{
	compare(literal_make_clean_report, "clean.txt");
	compare(literal_make_faulty_report, "sick.txt");
	compare(literal_make_empty_report, "empty.txt");
}

TEST(the_longest_strings_fit_into_79_columns)
{
	report = literal_make_faulty_report();
	memset(report->facts.machine.cpu, 'c', sizeof(report->facts.machine.cpu) - 1);
	memset(report->facts.machine.firmware, 'f', sizeof(report->facts.machine.firmware) - 1);
	memset(report->notes.sentences[0], 'n', REPORT_SENTENCE - 1);
	memset(report->facts.clocks[0].clock.reason, 'r', CLOCK_REASON_SIZE - 1);
	report->facts.clocks[0].clock.state = CLOCK_BROKEN;
	report->facts.cores[0].apic_id = UINT32_MAX;
	report->facts.cores[2].apic_id = UINT32_MAX - 1;
	literal_record_ns(report->facts.clocks[1].latency, UINT64_MAX, 1);
	literal_judge(report);
	render(table_render);
	assert_non_null(strstr(buffer, "4294967295*\n"));
}

/*
 * Returns true if a paragraph was cut: its last line ends with dots. A line with only dots is no cut, because it
 * separates a clock's common durations from its longest one.
 */
static bool
has_cut_paragraph(const struct text *text)
{
	for (const char *dots = text->bytes; (dots = strstr(dots, "...\n")); dots++)
		if (dots != text->bytes && dots[-1] != '\n')
			return true;
	return false;
}

TEST(a_paragraph_with_the_longest_figures_is_complete)
{
	report = literal_make_faulty_report();
	report->facts.run.elapsed_ms = report->facts.stolen_counters.smi_count = report->figures.interference.gaps =
		UINT64_MAX;
	report->figures.interference.total_ns = report->figures.interference.worst_ns =
		report->figures.interference.observed_ns = UINT64_MAX;
	report->figures.interference.worst_core = report->figures.skew.worst_warp_a =
		report->figures.skew.worst_warp_b = UINT32_MAX;
	report->figures.skew.passes[0].pingpongs = report->figures.skew.passes[0].rounds = UINT64_MAX;
	report->figures.skew.passes[0].concurrency = report->figures.skew.passes[0].again = UINT64_MAX;
	report->figures.skew.warps = report->figures.skew.worst_warp_ticks = report->figures.skew.worst_warp_ns =
		UINT64_MAX;
	report->figures.skew.best_trip_ns = report->figures.skew.drift_span_ns = UINT64_MAX;
	report->facts.warp_checks.lock_free = report->facts.warp_checks.locked = (struct report_contended){
		.measured = true, .starved = true, .cores = UINT32_MAX, .iterations = UINT64_MAX, .warps = UINT64_MAX,
		.worst_ticks = UINT64_MAX, .worst_a = UINT32_MAX, .worst_b = UINT32_MAX - 1 };
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		report->figures.intervals[i].held_ns = report->figures.intervals[i].held_delivered = UINT64_MAX;
		report->figures.intervals[i].policy = REPORT_POLICY_CATCH_UP;
	}
	for (size_t i = 0; i < report->facts.core_count; i++)
		report->facts.cores[i].apic_id = UINT32_MAX - (uint32_t)i;
	literal_judge(report);
	recommend_clocks(report, &report->advice);
	struct text text = render(table_render);
	assert_false(has_cut_paragraph(&text));
}

/*
 * A core has a warp with itself if its own TSC stepped back. The sentence must not name the core twice. It says
 * instead that the core read a lower value than before.
 */
TEST(a_warp_of_a_core_with_itself_has_its_own_sentence)
{
	for (uint32_t other = 2; other <= 4; other += 2) {
		report = literal_make_clean_report();
		report->facts.warp_checks.locked.warps = 5;
		report->facts.warp_checks.locked.worst_a = 2;
		report->facts.warp_checks.locked.worst_b = other;
		render(table_render);
		assert_int_equal(strstr(buffer, "read less than") != NULL, other == 2);
	}
}

TEST(a_paragraph_that_does_not_fit_ends_with_dots)
{
	static char words[3 * TABLE_SENTENCE_SIZE];

	memset(words, 'w', sizeof(words) - 1);
	struct text text = text_start(buffer, sizeof(buffer));
	table_put_paragraph(&text, 0, "%s", words);
	assert_true(has_cut_paragraph(&text));
	text_init(&text, buffer, sizeof(buffer));
	table_put_paragraph(&text, 0, "%s", words + sizeof(words) - TABLE_SENTENCE_SIZE);
	assert_false(has_cut_paragraph(&text));
}

/* A source has a row for each period, so a row without figures must show its period, and fit the width of the table. */
TEST(a_row_of_a_timer_test_without_figures_has_its_period)
{
	struct interval_figures *rows = report->figures.intervals;

	rows[0] = (struct interval_figures){
		.test = { .source = "pit0", .asked_ns = 10000000 }, .state = CLOCK_STUCK, .asked = 3,
		.reason = "No interrupt came, and the timer's own status shows that none was due." };
	rows[1] = (struct interval_figures){
		.test = { .source = "hpet2", .asked_ns = 1000000, .periodic = true }, .state = CLOCK_PRESENT, .asked = 80,
		.scattered = true, .reason = "The ticks come anywhere." };
	rows[2] = (struct interval_figures){ .test.source = "rtc", .state = CLOCK_STUCK, .reason = "The RTC is halted." };
	report->figures.interval_count = 3;
	rows[0].test.core = rows[1].test.core = rows[2].test.core = report->facts.cores[0].apic_id;
	render(table_put_intervals);
	assert_non_null(strstr(buffer, "\npit0           10.0ms No interrupt came, and the timer's own status shows that\n"
					   "  none was due.\n"));
	assert_non_null(strstr(buffer, "\nhpet2         /1.00ms The ticks come anywhere.\n"));
	assert_non_null(strstr(buffer, "\nrtc            Stuck: The RTC is halted.\n"));
}

TEST(rows_of_the_firmwares_time_end_with_their_last_figure)
{
	struct report_firmware *rows = report->figures.firmware;

	rows[0] = (struct report_firmware){ .service = FIRMWARE_STALL, .asked_ns = 10000, .count = 8, .least_ns = 0,
					    .most_ns = 12000, .second = { true, 0, -20000000, 20000000 } };
	rows[1] = (struct report_firmware){ .service = FIRMWARE_COUNTER, .count = 9 };
	rows[2] = (struct report_firmware){ .service = FIRMWARE_CPU, .count = 9, .second = { true, 0, -20000000, 20000000 } };
	report->figures.firmware_count = 3;
	render(table_put_firmware_times);
	assert_non_null(strstr(buffer, "\nfirmware  efi_stall     10.0 us     8     0 ns  12.0 us  "));
	assert_non_null(strstr(buffer, "\nfirmware  efi_counter               9\n"));
	assert_non_null(strstr(buffer, "\nfirmware  efi_cpu                   9                    "));
}

TEST(a_row_of_a_sleeping_core_ends_with_the_state_that_it_reached)
{
	report->figures.sleeps.rows[0] = (struct report_sleep){ .state = "mwait-20h", .core = 7,
		.reached = REACHED_C6_OR_C7, .resident_ns = { 0, 0, 19400000, UINT64_MAX },
		.tsc_gained_ns = OFFSET_UNKNOWN, .lapic_lost_ns = OFFSET_UNKNOWN };
	report->figures.sleeps.count = 1;
	render(table_put_sleeps);
	assert_non_null(strstr(buffer,
			       "\nmwait-20h        7        -       -       -       -       -  C6 or C7 19.4 ms\n"));
}

TEST(a_report_cut_at_any_size_is_the_start_of_the_complete_one)
{
	static char whole[TEXT_SIZE];

	report = literal_make_faulty_report();
	literal_judge(report);
	struct text text = render(table_render);
	memcpy(whole, text.bytes, text.length + 1);
	for (size_t size = 1; size < 4000; size += 61) {
		size_t same = 0;

		text_init(&text, buffer, size);
		table_render(&text, report);
		assert_true(text.truncated);
		assert_true(text.length < size);
		while (same < text.length && whole[same] == text.bytes[same])
			same++;
		assert_true(same + 79 >= text.length);
	}
}

TEST(lines_break_between_words_as_late_as_possible)
{
	assert_int_equal(table_bytes_that_fit("aaa bbb cc", 10), 10);
	assert_int_equal(table_bytes_that_fit("aaa bbb cc", 9), 7);
	assert_int_equal(table_bytes_that_fit("aaa bbb cc", 7), 7);
	assert_int_equal(table_bytes_that_fit("aaa bbb cc", 6), 3);
	assert_int_equal(table_bytes_that_fit("aaa bbb cc", 2), 2);
	assert_int_equal(table_bytes_that_fit("", 5), 0);
	/* no line break parts a number from its unit */
	assert_int_equal(table_bytes_that_fit("at 34.3 s and", 9), 9);
	assert_int_equal(table_bytes_that_fit("at 34.3 s and", 8), 2);
	assert_int_equal(table_bytes_that_fit("at 34 skews", 8), 5);
	assert_int_equal(table_bytes_that_fit("has 12.5 %: no", 9), 3);
}

TEST(a_warp_check_without_simultaneous_cores_is_inconclusive_unless_it_found_a_warp)
{
	report->facts.warp_checks.locked.starved = true;
	assert_non_null(strstr(render(table_put_skew_section).bytes, "with a lock (4 cores, 80000 iterations):\n"
								 "  inconclusive: no warp"));
	assert_non_null(strstr(buffer, "without a lock (4 cores, 80000 iterations): no\n  warp."));
	report->facts.warp_checks.locked.warps = 1;
	assert_null(strstr(render(table_put_skew_section).bytes, "inconclusive"));
	assert_non_null(strstr(buffer, "): 1\n  warp, the worst"));
}

/* Returns the first line at or after FROM that starts with START. */
static const char *
find_line(const char *from, const char *start)
{
	for (; from; from = strchr(from, '\n')) {
		from += *from == '\n';
		if (strncmp(from, start, strlen(start)) == 0)
			return from;
	}
	fail_msg("no line begins with \"%s\" in:\n%s", start, buffer);
	return NULL;
}

/* Returns the number of lines from the line after START to the next empty line. */
static size_t
lines_below(const char *from, const char *start)
{
	const char *line = find_line(from, start);
	size_t lines = 0;

	for (line = strchr(line, '\n') + 1; *line && *line != '\n'; line = strchr(line, '\n') + 1)
		lines++;
	return lines;
}

static const char *const headings[] = { "    core     p50    p99", "    core     p50  ratio", "    core  pkg.c.t" };

TEST(each_of_up_to_64_cores_has_a_row_in_every_block)
{
	static const size_t counts[] = { 2, 4, 60, 61, 64 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		report = literal_make_report_of_cores(counts[i], PAIR_SCHEDULE_ALL, NULL);
		literal_judge(report);
		render(table_render);
		for (size_t h = 0; h < 3; h++)
			assert_int_equal(lines_below(buffer, headings[h]), counts[i]);
	}
}

/*
 * The report has a sixth device. Devices that do not fit next to each other follow in a second block with its own rows.
 */
TEST(with_six_devices_the_last_has_a_second_block)
{
	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	literal_find_clock(report, "rtc_pf")->clock.main = "rtc_pf";
	literal_judge(report);
	render(table_put_cores);
	for (size_t h = 0; h < 2; h++)
		assert_int_equal(lines_below(buffer, headings[h]), 4);
	assert_non_null(find_line(buffer, "           rtc_pf\n    core     p50    p99\n       0* "));
	assert_non_null(find_line(buffer, "           rtc_pf\n    core     p50  ratio\n       0* "));
}

/*
 * 255 cores are in 4 packages, and each package has a group of rows. 1024 cores are in 16 packages. These are more than
 * 8, so all cores share one group.
 */
TEST(rows_of_more_cores_are_grouped_by_package_or_in_one_group)
{
	static const struct {
		size_t cores, groups;
	} cases[] = { { 65, 2 }, { 255, 4 }, { 512, 8 }, { 513, 1 }, { 1024, 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		report = literal_make_report_of_cores(cases[i].cores, PAIR_SCHEDULE_ALL, NULL);
		literal_judge(report);
		render(table_render);
		/*
		 * Each group has a label and three rows. Two cores have their own rows: the boot core, and the last
		 * core, because it is the slowest.
		 */
		for (size_t h = 0; h < 2; h++)
			assert_int_equal(lines_below(buffer, headings[h]), 4 * cases[i].groups + 2);
		assert_int_equal(lines_below(buffer, headings[2]), cases[i].groups + 1);
	}
	assert_non_null(find_line(buffer, "all cores (1024)\n     min    9 ns  10 ns 559 ns"));
	assert_non_null(find_line(buffer, "  median  520 ns 521 ns 1.07us"));
	assert_non_null(find_line(buffer, "     max  1.03us 1.03us 1.58us"));
	assert_non_null(find_line(buffer, "all cores (1024)        -30 ..      +30  -0.003 ..  +0.003"));
}

TEST(in_groups_up_to_8_cores_that_differ_drift_or_are_dead_have_their_own_rows)
{
	int64_t truth_ticks[255] = { [200] = -1000000 };

	report = literal_make_report_of_cores(255, PAIR_SCHEDULE_ALL, NULL);
	for (size_t i = 10; i < 22; i++) {
		report->facts.cores[i].started = false;
		LITERAL_COPY(report->facts.cores[i].reason, "it did not check in");
	}
	literal_fill_pass(report, PAIR_SCHEDULE_ALL, truth_ticks);
	for (size_t i = 100; i < 109; i++)
		literal_set_drift(report, i, (struct offset){ -3000, -2000 });
	render(table_put_cores);
	assert_int_equal(lines_below(buffer, headings[0]), 4 * 4 + 1 + 8 + 8 + 1 + 1 + 1);
	assert_non_null(find_line(buffer, "      34  did not start: it did not check in\n     200  "));
	assert_non_null(find_line(buffer, "4 more failed to start or stopped answering, 1 more drift: see report.json.\n"));
	render(table_put_skew_section);
	assert_int_equal(lines_below(buffer, headings[2]), 4 + 1 + 8 + 1 + 1);
	assert_non_null(find_line(buffer, "     214! 1.43.0        -23 ..      +23  -3.000 ..  -2.000"));
	assert_non_null(find_line(buffer, "     400! 3.8.0     -50002"));
	assert_non_null(find_line(buffer, "package 3 (63)          -30 ..      +30  -0.003 ..  +0.003"));
}

TEST(the_row_of_a_package_with_an_offset_shows_the_offset)
{
	int64_t truth_ticks[192] = { 0 };

	for (size_t i = 64; i < 128; i++)
		truth_ticks[i] = 300;
	report = literal_make_report_of_cores(192, PAIR_SCHEDULE_ALL, truth_ticks);
	render(table_put_skew_section);
	assert_non_null(find_line(buffer, "package 0 (64)          -30 ..      +30 "));
	assert_non_null(find_line(buffer, "package 1 (64)         +120 ..     +180 "));
	assert_non_null(find_line(buffer, "56 more differ from the majority: see report.json.\n"));
	/* Package 1 has 64 * 63 / 2 pairs within the package, and 64 * 128 pairs with other packages. */
	assert_non_null(find_line(buffer, "package 1 (64)       2016      0      0      0      0   8192      0      0\n"));
	assert_non_null(find_line(buffer, "package 2 (64)       2016      0      0      0   4096   4096      0      0\n"));
}

TEST(the_map_shows_single_cores_for_60_cores_and_not_for_61)
{
	int64_t truth_ticks[61] = { [30] = 300 };

	report = literal_make_report_of_cores(60, PAIR_SCHEDULE_ALL, truth_ticks);
	render(table_put_skew_section);
	const char *map = find_line(buffer, "Pairs of cores");
	assert_int_equal(lines_below(map, "          0246802468"), 60);
	assert_non_null(find_line(map, "       0* \\.............................<.............................\n"));
	assert_non_null(find_line(map, "      60  >>>>>>>>>>>>>>>>>>>>>>>>>>>>>>\\>>>>>>>>>>>>>>>>>>>>>>>>>>>>>\n"));
	assert_non_null(find_line(map, "     118  ..............................<............................\\\n"));

	report = literal_make_report_of_cores(61, PAIR_SCHEDULE_ALL, truth_ticks);
	assert_null(strstr(render(table_put_skew_section).bytes, "Pairs of cores"));
	assert_int_equal(lines_below(buffer, "      core       core"), 8);
	assert_non_null(find_line(buffer, "        20         60     +130 ..     +170\n"));
}

TEST(the_map_of_a_star_schedule_is_the_row_of_the_boot_core)
{
	int64_t truth_ticks[300] = { [3] = -400 };

	report = literal_make_report_of_cores(12, PAIR_SCHEDULE_STAR, truth_ticks);
	render(table_put_skew_section);
	assert_int_equal(lines_below(buffer, "          024680246802"), 1);
	assert_non_null(find_line(buffer, "       0* \\..>........\n"));
	assert_null(strchr(strstr(buffer, "024680246802"), '?'));

	report = literal_make_report_of_cores(300, PAIR_SCHEDULE_STAR, truth_ticks);
	render(table_put_skew_section);
	assert_int_equal(lines_below(buffer, "      core       core"), 8);
	assert_non_null(find_line(buffer, "         0          6     -225 ..     -179\n"));
	assert_null(strstr(buffer, "pairs within"));
}

static void
assert_says(const char *words)
{
	struct text text = render(table_put_skew_section);

	for (size_t i = 0; i < text.length; i++) /* a line may break between any two words */
		if (buffer[i] == '\n' && buffer[i + 1] == ' ' && buffer[i + 2] == ' ' && buffer[i + 3] != ' ')
			memmove(&buffer[i], &buffer[i + 2], strlen(&buffer[i + 2]) + 1);
	if (!strstr(buffer, words))
		fail_msg("\"%s\" is not in:\n%s", words, buffer);
}

TEST(the_map_shows_a_contradictory_pair_and_a_pair_without_a_result)
{
	report = literal_make_report_of_cores(6, PAIR_SCHEDULE_ALL, NULL);
	literal_set_offset(&report->figures.skew.passes[0].offsets, 2, 4, (struct offset){ 960, 1040 });
	literal_set_offset(&report->figures.skew.passes[0].offsets, 1, 5, OFFSET_UNKNOWN);
	literal_calculate_cores(report);
	render(table_put_skew_section);
	assert_non_null(strstr(buffer, "column's,\n\">\" row's core ahead, \"?\" not known, \"!\" contradicts the others\n"));
	assert_non_null(strstr(buffer, "       2  .\\...?\n       4  ..\\.!.\n       6  ...\\..\n       8  ..!.\\.\n"
				       "      10  .?...\\\n"));
	assert_says("\nSynchronisation not determined at 3.1 s, as 1 pair contradicts the other pairs: "
		    "ping-pongs of 14 of 15 pairs of 6 cores in ");
	assert_says(" The offset of cores 4 and 8 contradicts other pairs or an earlier measurement by 433 ns, ");
	/* a lower bound of 867 ticks, or 433.5 ns, is rounded down */
	literal_set_offset(&report->figures.skew.passes[0].offsets, 2, 4, (struct offset){ 961, 1040 });
	literal_calculate_cores(report);
	assert_says(" contradicts other pairs or an earlier measurement by 433 ns, ");
}

/* The interval of each pair extends by up to 59 ticks to each side of the true offset. A tick is half a nanosecond. */
TEST(the_sentence_about_synchrony_says_what_the_pairs_prove)
{
	int64_t truth_ticks[4] = { [3] = 20000 };

	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	assert_says("\nSynchronised within 29 ns at 3.1 s and 21.1 s: ping-pongs of all pairs of 4 cores in 3 "
			    "rounds, 2 pairs at a time; best round trip: 41 ns. Each pass has its own bound: 29 ns in the first "
			    "(its offsets are below), 29 ns in the last. The larger counts.\nDrift");
	literal_fill_pass(report, PAIR_SCHEDULE_ALL, truth_ticks);
	assert_says("\nNot synchronised at 3.1 s, 1 of 4 cores differs from the majority: ping-pongs of all pairs of 4 "
		    "cores in ");
	assert_says(" Cores 4 and 6 differed by 9978 to 10024 ns. No two cores' TSCs differed by more than "
			"10024 ns.\n");
	literal_fill_pass(report, PAIR_SCHEDULE_STAR, NULL);
	assert_says("\nSynchronised within 52 ns at 3.1 s and 21.1 s: ping-pongs of the boot core with 3 "
			    "others in 3 rounds, 1 pair at a time; best round trip: 41 ns. Each pass has its own "
			    "bound: 52 ns in the first (its offsets are below), 52 ns in the last. The larger counts. "
			    "Measuring all pairs would take longer than this profile allows.\n");
	report->figures.skew.passes[0].again = 2;
	assert_says(" ping-pongs of the boot core with 3 others in 3 rounds, 1 pair at a time, 2 ping-pongs repeated; ");
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 3, OFFSET_UNKNOWN);
	literal_calculate_cores(report);
	assert_says("\nSynchronisation not determined at 3.1 s, as not every core's offset is known: "
			    "ping-pongs of 2 of 3 pairs of 4 cores in ");
	literal_remove_pass(report);
	assert_says("\nThe cores' offsets were not measured.\nTSC_ADJUST");

	report = literal_make_report_of_cores(2, PAIR_SCHEDULE_ALL, (int64_t[]){ 0, 300 });
	assert_says("\nNot synchronised at 3.1 s, and no majority of the 2 cores shows which are right: "
			    "ping-pongs of both cores; best round trip: ");
	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	for (size_t a = 0; a < 4; a++)
		for (size_t b = a + 1; b < 4; b++)
			literal_set_offset(&report->figures.skew.passes[0].offsets, a, b,
					   (struct offset){ -90000, 90000 });
	literal_set_offset(&report->figures.skew.passes[0].offsets, 2, 3, (struct offset){ 10000, 10100 });
	literal_calculate_cores(report);
	assert_says("\nNot synchronised at 3.1 s, and no majority of the 4 cores shows which are right: ping-pongs of "
		    "all pairs of 4 cores in 3 rounds, 2 pairs at a time; best round trip: 41 ns. Cores 4 and 6 "
		    "differed by 5000 to 5050 ns. No two cores' TSCs differed by more than ");
	assert_null(strstr(buffer, " 4! "));
	assert_null(strstr(buffer, " 6! "));
	assert_non_null(strstr(buffer, " ..\\<\n"));
	assert_non_null(strstr(buffer, " ..>\\\n"));
	struct report *skewed = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, (int64_t[]){ 0, 0, 0, 20000 });
	/* the last pass bounds the offsets more tightly, so it shows which core differs from the majority */
	literal_replace_last_pass(report, skewed);
	assert_says("\nNot synchronised at 21.1 s, 1 of 4 cores differs from the majority: ping-pongs of all pairs of 4 "
		    "cores in ");
	/* the ping-pongs of the last pass were between 20.1 s and 21.1 s */
	report->figures.skew.passes[1].offsets.begin_tsc = report->figures.skew.passes[1].offsets.end_tsc - 2000000000;
	assert_says("\nNot synchronised between 20.1 s and 21.1 s, 1 of 4 cores differs from the majority: ");
	assert_says(" Cores 4 and 6 differed by 9978 to 10024 ns. No two cores' TSCs differed by more than "
			"10024 ns.\n");
	report = literal_make_report_of_cores(1, PAIR_SCHEDULE_ALL, NULL);
	assert_says("\nOne core ran: there is no other TSC to compare with.\nTSC_ADJUST: 0 on 1 core.\n");
}

/* If only the last pass shows a fault, the sentence, the rows, the map and the worst pairs must show the last pass. */
TEST(the_sentence_and_the_tables_show_the_same_pass)
{
	int64_t truth_ticks[4] = { [3] = 20000 };
	struct report *last = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, truth_ticks);

	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	render(table_put_skew_section);
	assert_null(strstr(buffer, "last pass"));
	assert_non_null(strstr(buffer, "\nPairs of cores: \".\" no difference proven,"));
	assert_non_null(strstr(buffer, "       6  ...\\\n"));
	literal_replace_last_pass(report, last);
	struct text text = render(table_put_skew_section);
	assert_non_null(strstr(buffer, "thread in the core\nOffsets in the last pass, at 21.1 s\n\n    core "));
	assert_non_null(strstr(buffer, "\n       6! 0.3.0       +9975 ..   +10021 "));
	assert_non_null(strstr(buffer, "\nPairs of cores in the last pass, at 21.1 s:\n\".\" no difference proven, \"<\""));
	assert_non_null(strstr(buffer, "       6  >>>\\\n"));
	text_init(&text, buffer, sizeof(buffer));
	text.columns = 20;
	table_put_pair_map(&text, report);
	assert_non_null(strstr(buffer, "(second core - first)\nin the last pass, at 21.1 s\n\n"));
	assert_non_null(strstr(buffer, "         4          6    +9978 ..   +10024\n"));
}

/*
 * Three bounds on the offsets do not prove synchrony. The first is large, the second is valid at one time only, and
 * the third is not valid at the end of the run.
 */
TEST(the_cores_are_called_synchronised_only_with_a_small_bound_up_to_the_end)
{
	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	report->figures.skew.passes[1].summary.bound_ticks = 1000000;
	assert_says("\nSynchronisation not determined: only within 500 us at 3.1 s and 21.1 s: ping-pongs of ");
	/* both bounds are printed, in the same units as the larger bound before them */
	assert_says("; best round trip: 41 ns. Each pass has its own bound: 29 ns in the first (its offsets are "
			    "below), 500 us in the last. The larger counts. In the first pass, cores ");
	assert_null(strstr(buffer, "No two cores"));
	report->figures.skew.passes[1].summary.bound_ticks = 1000002; /* a bound is rounded up: 500,001 ns are 501 us */
	assert_says("\nSynchronisation not determined: only within 501 us at 3.1 s and 21.1 s: ping-pongs of ");
	report->figures.skew.passes[1].summary.bound_ticks = 2000;
	assert_says("\nSynchronised within 1000 ns at 3.1 s and 21.1 s: ");
	report->figures.skew.passes[1].summary.bound_ticks = 2001;
	assert_says("\nSynchronisation not determined: only within 1001 ns at ");
	report->figures.skew.best_trip_ns = 251;
	assert_says("\nSynchronised within 1001 ns at ");
	/*
	 * such a long round trip shows only that a core was not scheduled, so the limit for synchronised cores stays at
	 * 10,000 ns
	 */
	report->figures.skew.best_trip_ns = UINT64_MAX;
	report->figures.skew.passes[1].summary.bound_ticks = 20000;
	assert_says("\nSynchronised within 10000 ns at ");
	report->figures.skew.passes[1].summary.bound_ticks = 20001;
	assert_says("\nSynchronisation not determined: only within 10001 ns at ");
	report->figures.skew.passes[1].summary.bound_ticks = 2001;
	literal_set_limit(report, "tsc-sync", 900);
	assert_says("\nSynchronisation not determined: only within 1001 ns at ");
	report->facts.options.limits[0].value = 2000;
	literal_set_drift(report, 2, (struct offset){ 10, 20 });
	assert_says("\nNot synchronised throughout the run: ");
	assert_null(strstr(buffer, "Each pass"));
	assert_says(" In the first pass, no two cores' TSCs differed by more than 29 ns.");
	assert_null(strstr(buffer, " Cores "));
	literal_set_drift(report, 2, (struct offset){ -3, 3 });
	literal_remove_last_pass(report);
	assert_says("\nSynchronisation not determined: only within 29 ns at 3.1 s, and not measured again: ");
	assert_non_null(strstr(buffer, " ns. Cores "));
	assert_null(strstr(buffer, "Each pass"));
	assert_null(strstr(buffer, "No two cores"));
}

/* A warp or a step back proves a larger difference than the ping-pongs. Their bound must then not be printed. */
TEST(no_bound_is_printed_after_a_warp_or_a_step_back)
{
	int64_t truth_ticks[4] = { [3] = 20000 };

	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	report->figures.skew.warps = 1;
	assert_says("\nNot synchronised: 1 warp: ");
	assert_says(" In the first pass, cores ");
	assert_null(strstr(buffer, "o two cores"));
	report->figures.skew.warps = 0;
	report->outcomes.sync.cores[1].steps_back = true;
	assert_says("\nSynchronisation not determined, as 1 of 4 TSCs step back: ");
	assert_null(strstr(buffer, "o two cores"));
	report->outcomes.sync.cores[1].steps_back = false;
	literal_fill_pass(report, PAIR_SCHEDULE_ALL, truth_ticks);
	assert_says(" Cores 4 and 6 differed by 9978 to 10024 ns. No two cores' TSCs differed by more than ");
	report->facts.warp_checks.locked.warps = 1;
	assert_says(" Cores 4 and 6 differed by 9978 to 10024 ns.\n");
	assert_null(strstr(buffer, "o two cores"));
}

TEST(an_offset_of_10_ms_or_more_has_units_at_both_ends)
{
	report = literal_make_report_of_cores(2, PAIR_SCHEDULE_ALL, NULL);
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 1, (struct offset){ -31, 19999998 });
	literal_calculate_cores(report);
	assert_says("\n       2  0.1.0         -16 .. +9999999  -0.003");
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 1, (struct offset){ -31, 19999999 });
	literal_calculate_cores(report);
	assert_says("\n       2  0.1.0      -16 ns ..  +10.0ms  -0.003");
}

TEST(a_rounded_interval_contains_the_exact_one)
{
	report = literal_make_report_of_cores(2, PAIR_SCHEDULE_ALL, NULL);
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 1, (struct offset){ 24697312, 24697904 });
	literal_set_drift(report, 1, (struct offset){ 123456, 123456 });
	literal_calculate_cores(report);
	assert_says("\n       2  0.1.0     +12.3ms ..  +12.4ms +123.45 .. +123.46");
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 1, (struct offset){ -24697904, -24697312 });
	literal_set_drift(report, 1, (struct offset){ -123456, -123456 });
	literal_calculate_cores(report);
	assert_says("\n       2  0.1.0     -12.4ms ..  -12.3ms -123.46 .. -123.45");
}

TEST(the_sentence_about_drift_names_the_core_that_drifts_most)
{
	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	assert_says("\nDrift against the boot core's TSC over 18.1 s: no drift proven on 3 of 3 other cores; "
		    "all within -0.003 .. +0.003 ppm.\n");
	literal_set_drift(report, 1, (struct offset){ INT64_MIN, INT64_MAX });
	literal_set_drift(report, 2, (struct offset){ 1, 90 });
	literal_set_drift(report, 3, (struct offset){ -80, -2 });
	assert_says("over 18.1 s: drift is proven, but no majority shows which core drifts; all within -0.080 .. "
		    "+0.090 ppm.\n");

	report = literal_make_report_of_cores(6, PAIR_SCHEDULE_ALL, NULL);
	literal_set_drift(report, 1, (struct offset){ INT64_MIN, INT64_MAX });
	literal_set_drift(report, 2, (struct offset){ 10, 90 });
	literal_set_drift(report, 3, (struct offset){ -80, -20 });
	assert_says("over 18.1 s: 2 of 4 cores drift, core 6 the most: -0.080 .. -0.020 ppm against a core that does "
		    "not.\n");
	assert_says("\n       2  0.1.0         -22 ..      +24                  -                    0\n");
	literal_remove_last_pass(report);
	assert_says("\nDrift against the boot core's TSC: not measured.\n");
}

TEST(the_sentence_about_tsc_adjust_distinguishes_none_equal_and_different)
{
	report = literal_make_report_of_cores(4, PAIR_SCHEDULE_ALL, NULL);
	report->facts.cores[2].facts.tsc_adjust = INT64_MIN;
	assert_says("\nTSC_ADJUST: not equal on 4 cores, from -9223372036854775808 ticks on core 4 to 0 on core 0.\n");
	assert_says("-0.003 ..  +0.003 -9223372036854775808\n");
	for (size_t i = 0; i < 4; i++)
		report->facts.cores[i].facts.tsc_adjust = -17;
	assert_says("\nTSC_ADJUST: -17 on all 4 cores.\n");
	report->facts.cores[3].facts_known = false;
	assert_says("\nTSC_ADJUST: -17 on 3 cores.\n");
	for (size_t i = 0; i < 4; i++)
		report->facts.cores[i].facts.has_tsc_adjust = false;
	assert_says("\nTSC_ADJUST: not supported, by CPUID.\n");
	for (size_t i = 0; i < 4; i++)
		report->facts.cores[i].facts_known = false;
	assert_says("\nTSC_ADJUST: not read.\n");
}

TEST(the_longest_ids_and_figures_of_60_and_255_cores_fit_into_79_columns)
{
	static const size_t counts[] = { 60, 255 };

	for (size_t n = 0; n < 2; n++) {
		int64_t truth_ticks[255] = { [7] = INT64_MAX / 16, [8] = -20000000000 };

		report = literal_make_report_of_cores(counts[n], PAIR_SCHEDULE_ALL, truth_ticks);
		for (size_t i = 0; i < counts[n]; i++) {
			struct core_facts *facts = &report->facts.cores[i].facts;

			report->facts.cores[i].apic_id = UINT32_MAX - (uint32_t)i;
			facts->package = facts->core = facts->thread = UINT32_MAX;
			facts->tsc_adjust = INT64_MIN + (int64_t)i;
			literal_set_drift(report, i, (struct offset){ INT64_MIN + 1, INT64_MAX - 1 });
			report->facts.cores[i].contended[0].p50_ns = UINT64_MAX / 1000;
		}
		report->figures.skew.passes[0].summary.contradictions = SIZE_MAX;
		report->figures.skew.passes[0].summary.contradiction_ticks = INT64_MAX / 16;
		literal_judge(report);
		render(table_render);
	}
}

/* Returns the number of characters in TEXT from the start of the line up to the end of WORD. */
static size_t
find_end_column(const char *text, const char *word)
{
	const char *end = strstr(text, word), *begin;

	assert_non_null(end);
	for (begin = end; begin > text && begin[-1] != '\n'; begin--)
		;
	return (size_t)(end - begin) + strlen(word);
}

TEST(the_longest_tsc_adjust_ends_below_the_end_of_its_heading)
{
	report->facts.cores[1].facts.tsc_adjust = INT64_MIN;
	render(table_put_skew_section);
	assert_int_equal(find_end_column(buffer, " -9223372036854775808\n"),
			 find_end_column(buffer, " TSC_ADJUST, ticks\n"));
}

/* A clock that only one core at a time may read is not named, because this is no failure. */
TEST(clocks_that_no_two_cores_read_at_the_same_time_are_named)
{
	size_t hpet = (size_t)(literal_find_clock(report, "hpet") - report->facts.clocks);
	size_t pit = (size_t)(literal_find_clock(report, "pit") - report->facts.clocks);

	assert_null(strstr(render(table_put_cores).bytes, "Not measured on"));
	for (size_t i = 0; i < report->facts.core_count; i++)
		report->facts.cores[i].contended[hpet].count = report->facts.cores[i].contended[pit].count = 0;
	report->facts.clocks[pit].clock.one_core_only = true;
	assert_non_null(strstr(render(table_put_cores).bytes,
			       "\nNot measured on all cores at once: hpet; no two cores read the same clock at\n"
			       "  the same time, or too little time was left.\n"));
}

/*
 * Stolen time makes the medians of contended reads longer. A core whose time is stolen also does not read at the same
 * time as the other cores. Therefore the ratios of these medians are doubtful.
 */
TEST(ratios_of_contended_reads_have_a_warning_if_time_was_stolen)
{
	size_t hpet = (size_t)(literal_find_clock(report, "hpet") - report->facts.clocks);

	render(table_put_cores);
	assert_null(strstr(buffer, "not reliable"));
	assert_null(strstr(buffer, "\"-\": no other core"));
	literal_fill_gap_search(report);
	literal_add_stolen_time(report, 1, 100, report->figures.interference.observed_ns / 2);
	literal_judge(report);
	report->facts.cores[1].contended[hpet].count = 0;
	render(table_put_cores);
	assert_non_null(strstr(buffer, "\n\"-\": no other core read the clock at that time, or this core did not "
					   "answer.\n"
					   "  Medians and ratios are not reliable: 50.0 % of the observed time was stolen,\n"
					   "  and cores that wait for their host's time do not read together.\n"));
}

TEST(durations_have_a_space_before_the_unit_except_in_a_cell_without_room)
{
	static const struct {
		uint64_t ps;
		const char *text;
	} cases[] = {
		{ 0, "0 ps" },		    { 434, "434 ps" },		 { 999, "999 ps" },
		{ 1000, "1.00 ns" },	    { 9840, "9.84 ns" },		 { 9994, "9.99 ns" },
		{ 9995, "10.0 ns" },	    { 99949, "99.9 ns" },	 { 99950, "100 ns" },
		{ 999499, "999 ns" },	    { 999500, "1.00 us" },	 { 12345678, "12.3 us" },
		{ 999500000, "1.00 ms" },    { 122070312, "122 us" },	 { 1000000000000, "1.00 s" },
		{ 12300000000000, "12.3 s" }, { 999400000000000, "999 s" }, { 86400000000000000, "86400 s" },
		{ 86401000000000000, ">1 day" }, { UINT64_MAX, ">1 day" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(number_from_ps(cases[i].ps).text, cases[i].text);
	assert_string_equal(number_from_ns(9).text, "9 ns");
	assert_string_equal(number_from_ns(999).text, "999 ns");
	assert_string_equal(number_from_ns(1000).text, "1.00 us");
	assert_string_equal(number_from_ns(1234).text, "1.23 us");
	assert_string_equal(number_from_ns(UINT64_MAX).text, ">1 day");
	for (uint64_t ps = 1; ps < UINT64_MAX / 7; ps = ps * 7 / 5 + 1)
		assert_in_range(strlen(number_from_ps(ps).text), 4, 7);
	assert_string_equal(number_in_cell_from_ps(9840).text, "9.84ns");
	assert_string_equal(number_in_cell_from_ps(86400000000000000).text, "86400s");
	assert_string_equal(number_in_cell_from_ns(999).text, "999 ns");
	assert_string_equal(number_in_cell_from_ns(1234).text, "1.23us");
	for (uint64_t ps = 1; ps < UINT64_MAX / 7; ps = ps * 7 / 5 + 1)
		assert_in_range(strlen(number_in_cell_from_ps(ps).text), 4, 6);
}

/* Returns the section on the cost of timing rows of a database. */
static const char *
make_database_section(void)
{
	static char bytes[8192];

	struct text text = text_start(bytes, sizeof(bytes));
	table_put_database_timing_cost(&text, report);
	return bytes;
}

TEST(only_clocks_as_kernels_read_them_have_a_cost_for_a_database)
{
	static const char *const shown[] = { "tsc", "tsc_lfence", "tsc_rdtscp", "hpet_32", "acpi_pm" };
	static const char *const not_shown[] = { "tsc_cpuid", "hpet", "pit", "pit_rdback", "rtc", "rtc_pf", "null" };
	char row[32];

	literal_judge(report);
	const char *bytes = make_database_section();
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		text_format(row, sizeof(row), "\n%s ", shown[i]);
		assert_non_null(strstr(bytes, row));
	}
	for (size_t i = 0; i < sizeof(not_shown) / sizeof(not_shown[0]); i++) {
		text_format(row, sizeof(row), "\n%s ", not_shown[i]);
		assert_null(strstr(bytes, row));
	}
	assert_non_null(strstr(bytes, "\ntsc_lfence     2.2 ms  user space  12.6ns"));
	assert_non_null(strstr(bytes, "\nhpet_32        110 ms  kernel      "));
}

/* A query may run on the core with the cheapest reads, so the lower end of the range over the cores is printed. */
TEST(the_cost_for_a_database_is_a_lower_bound)
{
	struct interval_ns *rows_ps = &literal_find_figures(report, "acpi_pm")->cost.rows_ps;

	literal_judge(report);
	*rows_ps = (struct interval_ns){ true, 199000000000, 7000000000, 300000000000 };
	assert_non_null(strstr(make_database_section(), "\nacpi_pm        7.0 ms  kernel  "));
}

TEST(an_emulator_has_no_time_of_a_query)
{
	literal_judge(report);
	assert_non_null(strstr(make_database_section(), "The model: extra time = "));
	text_format(report->facts.machine.accelerator, sizeof(report->facts.machine.accelerator), "tcg");
	const char *bytes = make_database_section();
	assert_null(strstr(bytes, " ms"));
	assert_null(strstr(bytes, "at least  "));
	assert_non_null(strstr(bytes, "\ntsc_lfence   user space  12.6ns"));
	assert_non_null(strstr(bytes, "No time of a query is given"));
}

TEST(a_failed_clock_is_marked_among_the_costs_for_a_database)
{
	literal_judge(report);
	literal_find_outcome(report, "acpi_pm")->verdict = VERDICT_FAIL;
	assert_non_null(strstr(make_database_section(), "\nacpi_pm! "));
	assert_non_null(strstr(make_database_section(), "the clock failed, so its times cannot be trusted"));
}

TEST(a_run_that_a_key_shortened_says_so_with_the_time)
{
	static char bytes[4096];

	report->facts.run.ended_early = true;
	report->facts.run.ended_early_ms = 12345;
	struct text text = text_start(bytes, sizeof(bytes));
	table_put_machine(&text, report);
	table_put_verdict(&text, report);
	assert_non_null(strstr(bytes, "; 1.00 s per clock to 12.3 s, then 100 ms; "));
	assert_non_null(strstr(bytes, "; ended early at 12.3 s"));
	report->duration_ns = 100000000;
	text_init(&text, bytes, sizeof(bytes));
	table_put_machine(&text, report);
	assert_non_null(strstr(bytes, "; 100 ms per clock; "));
}

TEST(a_figure_is_rounded_to_the_digits_that_its_error_allows)
{
	static const struct {
		int64_t value;
		uint64_t error;
		struct number_within told;
	} cases[] = {
		{ 1021, 31, { 1021, 31 } }, { 1021, 310, { 1020, 320 } }, { 39231, 8980, { 39200, 9100 } },
		{ -449, 100, { -450, 110 } }, { 7, 0, { 7, 0 } }, { 40, 99999, { 0, 101000 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct number_within told = number_round_to_error(cases[i].value, cases[i].error);

		assert_int_equal(told.value, cases[i].told.value);
		assert_int_equal(told.error, cases[i].told.error);
	}
}

TEST(ratios_take_at_most_6_characters)
{
	assert_string_equal(number_from_tenths(0).text, "0.0");
	assert_string_equal(number_from_tenths(123).text, "12.3");
	assert_string_equal(number_from_tenths(99999).text, "9999.9");
	assert_string_equal(number_from_tenths(100000).text, "10000");
	assert_string_equal(number_from_tenths(9999994).text, "999999");
	assert_string_equal(number_from_tenths(9999995).text, ">1e6");
	assert_string_equal(number_from_tenths(UINT64_MAX).text, ">1e6");
}

TEST(rates_take_at_most_12_characters)
{
	static const struct {
		uint64_t millihz;
		const char *text;
	} cases[] = {
		{ 0, "-" },		       { 1000, "1.000 Hz" },	       { 999999, "999.999 Hz" },
		{ 8192000, "8.192000 kHz" },   { 1193181667, "1.193182 MHz" }, { 3579545000, "3.579545 MHz" },
		{ 14318180000, "14.31818 MHz" }, { 100000000000, "100.0000 MHz" },
		{ 999999970000, "1.000000 GHz" }, { 2303998000000, "2.303998 GHz" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(number_from_millihz(cases[i].millihz).text, cases[i].text);
	for (uint64_t millihz = 1; millihz < UINT64_MAX / 7; millihz = millihz * 7 / 5 + 1)
		assert_in_range(strlen(number_from_millihz(millihz).text), 6, 12);
}

TEST(shares_are_rounded_to_nearest)
{
	assert_string_equal(number_as_percent(1, 3, 4).text, "33.3333");
	assert_string_equal(number_as_percent(2, 3, 4).text, "66.6667");
	assert_string_equal(number_as_percent(1, 1, 1).text, "100.0");
	assert_string_equal(number_as_percent(1, 2000000, 4).text, "0.0001");
	assert_string_equal(number_as_percent(0, 0, 4).text, "-");
}

/*
 * Asserts the list of observed durations: "NS:RUNNING " for each row, with dots before a row that follows a gap.
 * RUNNING is the number of reads up to this row.
 */
static void
assert_durations(const struct latency *latency, uint32_t cutoff_millionths, const char *expected)
{
	struct observed_list list = observed_make_duration_list(latency, cutoff_millionths);
	struct observed row;

	struct text text = text_start(buffer, sizeof(buffer));
	while (observed_get_next_row(&list, &row))
		text_printf(&text, "%s%lu:%lu ", row.after_gap ? "... " : "", row.ns, row.running);
	assert_string_equal(buffer, expected);
}

/*
 * There are 10 samples: 7 of 10 ns, 2 of 20 ns, and 1 of 20,000 ns. Durations are listed until their share of the
 * samples reaches the option cutoff=. The longest duration is always the last.
 */
TEST(observed_durations_stop_at_the_cut_off_and_end_with_the_longest)
{
	static const struct literal_duration durations[] = { { 10, 7 }, { 20, 2 }, { 20000, 1 }, { 0, 0 } };
	struct latency *latency = literal_make_latency(durations);

	assert_durations(latency, 70000000, "10:7 ... 20000:10 ");
	assert_durations(latency, 70000001, "10:7 20:9 ... 20000:10 ");
	free(latency);
}

TEST(longest_duration_is_listed_once)
{
	static const struct literal_duration durations[] = { { 0, 7 }, { 9999, 3 }, { 0, 0 } };
	struct latency *latency = literal_make_latency(durations);

	assert_durations(latency, 100000000, "0:7 9999:10 ");
	assert_durations(latency, 0, "0:7 ... 9999:10 ");
	latency_clear(latency);
	literal_record_ns(latency, 9, 7);
	literal_record_ns(latency, 10, 3);
	assert_durations(latency, 70000000, "9:7 ... 10:10 ");
	latency_clear(latency);
	assert_durations(latency, 0, "");
	free(latency);
}
