/* The table against its goldens, and what must hold of every table: width, order, nothing left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "number.h"
#include "observed.h"
#include "report_literal.h"
#include "table_internal.h"

#define TEXT_SIZE (1 << 20)

static char buffer[TEXT_SIZE];

typedef void renderer(struct text *out, const struct report *report);

static struct text
render(renderer *put, struct report *report)
{
	struct text text;

	text_init(&text, buffer, sizeof(buffer));
	put(&text, report);
	return text;
}

static size_t
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
	return lines;
}

static void
compare(renderer *put, struct report *(*literal)(void), const char *golden)
{
	struct report *report = literal();
	struct text text;

	rules_judge(report);
	text = render(put, report);
	assert_lines_fit(&text);
	golden_compare(golden, &text);
	literal_free(report);
}

static void
clean_machine_renders_as_its_golden(void **state)
{
	(void)state;
	compare(table_render, literal_clean, "clean.txt");
}

static void
sick_machine_renders_as_its_golden(void **state)
{
	(void)state;
	compare(table_render, literal_sick, "sick.txt");
}

static void
unmeasured_machine_renders_as_its_golden(void **state)
{
	(void)state;
	compare(table_render, literal_empty, "empty.txt");
}

static void
summaries_render_as_their_goldens(void **state)
{
	(void)state;
	compare(table_summary, literal_clean, "clean-summary.txt");
	compare(table_summary, literal_sick, "sick-summary.txt");
}

static void
summary_of_15_clocks_and_80_sentences_fits_24_lines(void **state)
{
	struct report *report = literal_clean();
	struct text text;

	(void)state;
	for (; report->clock_count < 15; report->clock_count++)
		literal_fill_clock(&report->clocks[report->clock_count], &literal_clocks[0]);
	literal_find(report, "pit_rdback")->clock.id = "pit_rb";
	for (unsigned i = 0; i < REPORT_FINDINGS_MAX; i++)
		rules_add_finding(report, "acpi-table", NULL, i, "Sentence %u.", i);
	for (unsigned i = 0; i < REPORT_NOTES_MAX; i++)
		report_note(report, "Note %u.", i);
	rules_judge(report);
	text = render(table_summary, report);
	assert_int_equal(assert_lines_fit(&text), 24);
	assert_non_null(strstr(text.bytes, "\n80 more findings or notes: see the full table.\n"));
	literal_free(report);
}

static void
summary_of_16_clocks_fits_24_lines(void **state)
{
	struct report *report = literal_clean();
	struct text text;

	(void)state;
	for (; report->clock_count < REPORT_CLOCKS_MAX; report->clock_count++)
		literal_fill_clock(&report->clocks[report->clock_count], &literal_clocks[0]);
	literal_find(report, "pit_rdback")->clock.id = "pit_rb";
	rules_judge(report);
	text = render(table_summary, report);
	assert_int_equal(assert_lines_fit(&text), 24);
	literal_free(report);
}

static void
summary_shows_the_last_sentence_where_just_one_line_is_left(void **state)
{
	struct report *report = literal_clean();
	struct text text;

	(void)state;
	report_note(report, "zero");
	report_note(report, "one");
	report_note(report, "two");
	report_note(report, "three");
	rules_judge(report);
	text = render(table_summary, report);
	assert_int_equal(assert_lines_fit(&text), 24);
	assert_non_null(strstr(text.bytes, "\nnote  three\n"));
	report_note(report, "four");
	text = render(table_summary, report);
	assert_int_equal(assert_lines_fit(&text), 24);
	assert_null(strstr(text.bytes, "three"));
	assert_non_null(strstr(text.bytes, "\n2 more findings or notes: see the full table.\n"));
	literal_free(report);
}

static void
longest_strings_keep_79_columns(void **state)
{
	struct report *report = literal_sick();
	struct text text;

	(void)state;
	memset(report->cpu, 'c', sizeof(report->cpu) - 1);
	memset(report->firmware, 'f', sizeof(report->firmware) - 1);
	memset(report->notes[0], 'n', REPORT_SENTENCE - 1);
	memset(report->clocks[0].clock.reason, 'r', CLOCK_REASON_SIZE - 1);
	report->clocks[0].clock.state = CLOCK_BROKEN;
	report->cores[0].apic_id = UINT32_MAX;
	report->cores[2].apic_id = UINT32_MAX - 1;
	literal_record(report->clocks[1].latency, HISTOGRAM_VALUE_MAX, 1);
	rules_judge(report);
	text = render(table_render, report);
	assert_lines_fit(&text);
	assert_non_null(strstr(text.bytes, "4294967295*\n"));
	text = render(table_summary, report);
	assert_lines_fit(&text);
	literal_free(report);
}

static void
table_cut_off_at_any_size_is_the_start_of_the_whole_one(void **state)
{
	struct report *report = literal_sick();
	static char whole[TEXT_SIZE];
	struct text text;

	(void)state;
	rules_judge(report);
	text = render(table_render, report);
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
	literal_free(report);
}

static void
lines_break_between_words_as_late_as_they_can(void **state)
{
	(void)state;
	assert_int_equal(table_fit("aaa bbb cc", 10), 10);
	assert_int_equal(table_fit("aaa bbb cc", 9), 7);
	assert_int_equal(table_fit("aaa bbb cc", 7), 7);
	assert_int_equal(table_fit("aaa bbb cc", 6), 3);
	assert_int_equal(table_fit("aaa bbb cc", 2), 2);
	assert_int_equal(table_fit("", 5), 0);
}

static void
starved_warp_check_is_inconclusive_unless_it_saw_a_warp(void **state)
{
	struct report *report = literal_clean();

	(void)state;
	report->skew.starved = true;
	assert_non_null(strstr(render(table_render, report).bytes, "inconclusive"));
	report->skew.warps = 1;
	assert_null(strstr(render(table_render, report).bytes, "inconclusive"));
	assert_non_null(strstr(buffer, ": 1 warp, the worst"));
	literal_free(report);
}

static void
durations_take_at_most_6_characters(void **state)
{
	static const struct {
		uint64_t ps;
		const char *text;
	} cases[] = {
		{ 0, "0 ps" },		    { 434, "434 ps" },		 { 999, "999 ps" },
		{ 1000, "1.00ns" },	    { 9840, "9.84ns" },		 { 9994, "9.99ns" },
		{ 9995, "10.0ns" },	    { 99949, "99.9ns" },	 { 99950, "100 ns" },
		{ 999499, "999 ns" },	    { 999500, "1.00us" },	 { 12345678, "12.3us" },
		{ 999500000, "1.00ms" },    { 122070312, "122 us" },	 { 1000000000000, "1.00 s" },
		{ 12300000000000, "12.3 s" }, { 999400000000000, "999 s" }, { 86400000000000000, "86400s" },
		{ 86401000000000000, ">1 day" }, { UINT64_MAX, ">1 day" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(number_ps(cases[i].ps).text, cases[i].text);
	assert_string_equal(number_ns(9).text, "9 ns");
	assert_string_equal(number_ns(999).text, "999 ns");
	assert_string_equal(number_ns(1000).text, "1.00us");
	assert_string_equal(number_ns(1234).text, "1.23us");
	assert_string_equal(number_ns(UINT64_MAX).text, ">1 day");
	for (uint64_t ps = 1; ps < UINT64_MAX / 7; ps = ps * 7 / 5 + 1)
		assert_in_range(strlen(number_ps(ps).text), 4, 6);
}

static void
rates_take_at_most_12_characters(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(number_rate(cases[i].millihz).text, cases[i].text);
	for (uint64_t millihz = 1; millihz < UINT64_MAX / 7; millihz = millihz * 7 / 5 + 1)
		assert_in_range(strlen(number_rate(millihz).text), 6, 12);
}

static void
shares_are_rounded_to_nearest(void **state)
{
	(void)state;
	assert_string_equal(number_percent(1, 3, 4).text, "33.3333");
	assert_string_equal(number_percent(2, 3, 4).text, "66.6667");
	assert_string_equal(number_percent(1, 1, 1).text, "100.0");
	assert_string_equal(number_percent(1, 2000000, 4).text, "0.0001");
	assert_string_equal(number_percent(0, 0, 4).text, "-");
}

/* 7, 2 and 1 of 10 samples: the list goes on until a row reaches the cut-off, and ends with the longest. */
static void
observed_durations_stop_at_the_cut_off_and_end_with_the_longest(void **state)
{
	static const struct literal_duration durations[] = { { 10, 7 }, { 20, 2 }, { 20000, 1 }, { 0, 0 } };
	struct latency *latency = literal_latency(durations);
	struct observed_list list = observed_list(latency, 70000000);
	struct observed row;

	(void)state;
	assert_true(observed_next(&list, &row));
	assert_int_equal(row.ns, 10);
	assert_int_equal(row.running, 7);
	assert_false(row.after_gap);
	assert_true(observed_next(&list, &row));
	assert_int_equal(row.ns, 20000);
	assert_int_equal(row.count, 1);
	assert_int_equal(row.running, 10);
	assert_true(row.after_gap);
	assert_false(observed_next(&list, &row));

	list = observed_list(latency, 70000001);
	assert_true(observed_next(&list, &row) && observed_next(&list, &row));
	assert_int_equal(row.ns, 20);
	assert_int_equal(row.running, 9);
	assert_true(observed_next(&list, &row));
	assert_int_equal(row.ns, 20000);
	assert_false(observed_next(&list, &row));
	free(latency);
}

static void
longest_duration_is_listed_once(void **state)
{
	static const struct literal_duration durations[] = { { 0, 7 }, { 9999, 3 }, { 0, 0 } };
	struct latency *latency = literal_latency(durations);
	struct observed_list list = observed_list(latency, 100000000);
	struct observed row;

	(void)state;
	assert_true(observed_next(&list, &row) && observed_next(&list, &row));
	assert_int_equal(row.ns, 9999);
	assert_false(row.after_gap);
	assert_false(observed_next(&list, &row));
	list = observed_list(latency, 0);
	assert_true(observed_next(&list, &row) && observed_next(&list, &row));
	assert_int_equal(row.ns, 9999);
	assert_true(row.after_gap);
	assert_false(observed_next(&list, &row));
	latency_clear(latency);
	literal_record(latency, 9, 7);
	literal_record(latency, 10, 3);
	list = observed_list(latency, 70000000);
	assert_true(observed_next(&list, &row) && observed_next(&list, &row));
	assert_int_equal(row.ns, 10);
	assert_false(observed_next(&list, &row));
	latency_clear(latency);
	list = observed_list(latency, 0);
	assert_false(observed_next(&list, &row));
	free(latency);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_machine_renders_as_its_golden),
		cmocka_unit_test(sick_machine_renders_as_its_golden),
		cmocka_unit_test(unmeasured_machine_renders_as_its_golden),
		cmocka_unit_test(summaries_render_as_their_goldens),
		cmocka_unit_test(summary_of_15_clocks_and_80_sentences_fits_24_lines),
		cmocka_unit_test(summary_of_16_clocks_fits_24_lines),
		cmocka_unit_test(summary_shows_the_last_sentence_where_just_one_line_is_left),
		cmocka_unit_test(longest_strings_keep_79_columns),
		cmocka_unit_test(table_cut_off_at_any_size_is_the_start_of_the_whole_one),
		cmocka_unit_test(lines_break_between_words_as_late_as_they_can),
		cmocka_unit_test(starved_warp_check_is_inconclusive_unless_it_saw_a_warp),
		cmocka_unit_test(durations_take_at_most_6_characters),
		cmocka_unit_test(rates_take_at_most_12_characters),
		cmocka_unit_test(shares_are_rounded_to_nearest),
		cmocka_unit_test(observed_durations_stop_at_the_cut_off_and_end_with_the_longest),
		cmocka_unit_test(longest_duration_is_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
