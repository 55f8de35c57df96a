/* The JSON report is compared with its goldens. tests/report/test_schema.py checks that these follow the schema. */
#include "test.h"
#include "judge/judge.h"
#include "golden.h"
#include "render/json/json.h"
#include "render/json/json_writer.h"
#include "advice/recommend.h"
#include "report_literal.h"

#define TEXT_SIZE (1 << 24)

static char buffer[TEXT_SIZE];

static void
compare(struct report *(*literal)(void), const char *golden)
{
	struct report *report = literal();

	literal_judge(report);
	recommend_clocks(report, &report->advice);
	struct text text = text_start(buffer, sizeof(buffer));
	json_render(&text, report);
	for (size_t i = 0; i < text.length; i++)
		assert_true(buffer[i] == '\n' || (buffer[i] >= 0x20 && buffer[i] <= 0x7e));
	golden_compare(golden, &text);
}

TEST(reports_of_a_healthy_and_a_faulty_machine_and_without_measurements_match_their_goldens)
{
	compare(literal_make_clean_report, "clean.json");
	compare(literal_make_faulty_report, "sick.json");
	compare(literal_make_empty_report, "empty.json");
}

/* The report's series has two rows, and the second row is nearly empty. The TSC runs at 2 GHz. */
TEST(series_is_a_list_of_rows_by_clock_and_core)
{
	static const char expected[] =
		"\"series\":[{\"from_ms\":1,\"to_ms\":60001,\"clocks\":{"
		"\"tsc\":{\"count\":9,\"min_ns\":20,\"p50_ns\":21,\"p99_ns\":22,\"max_ns\":23,"
		"\"ppm\":{\"value\":1.5,\"low\":-0.001,\"high\":3}}},"
		"\"cores\":[{\"offset_ns\":null},{\"offset_ns\":{\"value\":-4,\"low\":-5,\"high\":-3}}],"
		"\"gaps\":7,\"worst_gap_ns\":8,\"observed_ns\":9},"
		"{\"from_ms\":60001,\"to_ms\":60002,\"clocks\":{"
		"\"tsc\":{\"count\":0,\"min_ns\":null,\"p50_ns\":null,\"p99_ns\":null,\"max_ns\":null,\"ppm\":null}},"
		"\"cores\":[{\"offset_ns\":null},{\"offset_ns\":null}],"
		"\"gaps\":null,\"worst_gap_ns\":null,\"observed_ns\":0}],";
	struct report *report = literal_make_clean_report();
	struct series_clock clocks[] = { { .count = 9, 20, 21, 22, 23 }, { .count = 0 } };
	struct series_rate rates[] = { { .ppb = { true, 1500, -1, 3000 } }, { .ppb.known = false } };
	struct offset offsets[][2] = { { OFFSET_UNKNOWN, { -10, -6 } }, { OFFSET_UNKNOWN, OFFSET_UNKNOWN } };
	struct series_row rows[] = {
		{ 2000000, 120002000000, 7, 8, 9, &clocks[0], offsets[0] },
		{ 120002000000, 120004000000, 0, 0, 0, &clocks[1], offsets[1] },
	};

	report->facts.run.start_tsc = 0;
	report->facts.clock_count = 1;
	report->facts.core_count = 2;
	report->facts.series = (struct series){ .max = 2, .count = 2, .rows = rows };
	report->figures.soak_rates = rates;
	struct text text = text_start(buffer, sizeof(buffer));
	json_render_brief(&text, report);
	assert_non_null(strstr(buffer, "\"series\""));
	*strstr(buffer, "\"discontinuities\"") = '\0';
	assert_string_equal(strstr(buffer, "\"series\":["), expected);
	report->facts.clock_count = LITERAL_CLOCKS;
}

static struct json
writer(void)
{
	static struct text text;

	text_init(&text, buffer, sizeof(buffer));
	return json_start_writer(&text);
}

TEST(strings_and_keys_are_escaped_to_ascii)
{
	struct json json = writer();

	json_put_string(&json, NULL, "a\"b\\c</script>\n\x7f\xe9");
	assert_string_equal(buffer, "\"a\\\"b\\\\c\\u003c/script>\\u000a\\u007f\\u00e9\"");
	json = writer();
	json_open(&json, NULL, '{', true);
	json_put_null(&json, "<\"");
	json_close(&json, '}');
	assert_string_equal(buffer, "{\"\\u003c\\\"\": null}");
}

TEST(decimals_are_exact_and_have_no_zeros_at_their_end)
{
	struct json json = writer();

	json_open(&json, NULL, '[', true);
	json_put_number(&json, NULL, 1193181667, 3, false);
	json_put_number(&json, NULL, 2000, 3, false);
	json_put_number(&json, NULL, 1, 3, false);
	json_put_number(&json, NULL, 99990000, 6, false);
	json_put_number(&json, NULL, 100, 0, false);
	json_put_number(&json, NULL, UINT64_MAX, 3, false);
	json_put_number(&json, NULL, (uint64_t)-1524, 3, true);
	json_put_number(&json, NULL, (uint64_t)-1, 3, true);
	json_put_number(&json, NULL, (uint64_t)INT64_MIN, 3, true);
	json_put_number(&json, NULL, (uint64_t)0, 3, true);
	json_close(&json, ']');
	assert_string_equal(buffer, "[1193181.667, 2, 0.001, 99.99, 100, 18446744073709551.615, -1.524, -0.001, "
					"-9223372036854775.808, 0]");
}

TEST(empty_and_nested_brackets_need_no_comma)
{
	struct json json = writer();

	json_open(&json, NULL, '{', false);
	json_open(&json, "none", '[', false);
	json_close(&json, ']');
	json_open(&json, "some", '[', false);
	json_open(&json, NULL, '{', true);
	json_open(&json, "a", '[', true);
	json_put_number(&json, NULL, 1, 0, false);
	json_put_number(&json, NULL, 2, 0, false);
	json_close(&json, ']');
	json_put_bool(&json, "b", true);
	json_close(&json, '}');
	json_open(&json, NULL, '{', true);
	json_close(&json, '}');
	json_close(&json, ']');
	json_put_number(&json, "last", (uint64_t)-3, 0, true);
	json_close(&json, '}');
	assert_string_equal(buffer, "{\n  \"none\": [],\n  \"some\": [\n    {\"a\": [1, 2], \"b\": true},\n    {}\n"
					"  ],\n  \"last\": -3\n}");
}

TEST(a_report_that_does_not_fit_is_truncated_and_says_so)
{
	struct report *report = literal_make_clean_report();
	struct text text;

	for (size_t size = 1; size < 5000; size += 97) {
		text_init(&text, buffer, size);
		json_render(&text, report);
		assert_true(text.truncated);
		assert_int_equal(text.length, size - 1);
	}
}

/*
 * Returns the end of the JSON value that starts at AT. Numbers and strings may have only the forms that occur in
 * reports.
 */
static const char *
skip_value(const char *at)
{
	char close = *at == '{' ? '}' : ']';

	if (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			at += *at == '\\';
		return *at ? at + 1 : at;
	}
	if (*at != '{' && *at != '[') {
		size_t length = strspn(at, "-.0123456789");

		for (size_t i = 0; !length && i < 3; i++) {
			const char *const words[] = { "null", "true", "false" };

			if (strncmp(at, words[i], strlen(words[i])) == 0)
				length = strlen(words[i]);
		}
		if (!length)
			fail_msg("no value: %.60s", at);
		return at + length;
	}
	for (at++; *at != close;) {
		at += strspn(at, " \n");
		if (close == '}') {
			assert_int_equal(*at, '"');
			at = skip_value(at);
			assert_int_equal(*at++, ':');
			at += strspn(at, " ");
		}
		at = skip_value(at);
		if (*at == ',' && at[1 + strspn(at + 1, " \n")] != close)
			at++;
		else
			at += strspn(at, " \n");
		if (!*at)
			fail_msg("a %c is missing", close);
	}
	return at + 1;
}

static struct report *
report_of(size_t cores, enum pair_schedule kind, const int64_t *truth_ticks)
{
	struct report *report = literal_make_report_of_cores(cores, kind, truth_ticks);

	literal_judge(report);
	return report;
}

static size_t
render(const struct report *report)
{
	struct text text = text_start(buffer, sizeof(buffer));
	json_render(&text, report);
	assert_false(text.truncated);
	assert_string_equal(skip_value(buffer), "\n");
	return text.length;
}

/* The size is limited to 20 bytes for each entry of the two matrices, 6 KB for each core, and 40 KB for the clocks. */
TEST(reports_of_1_to_1024_cores_are_complete_and_limited_in_size)
{
	static const size_t counts[] = { 1, 2, 60, 61, 255, 256, 257, 1024 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		int64_t truth_ticks[1024] = { [1] = -1000000 };
		size_t cores = counts[i], entries = cores > 256 ? 0 : cores * cores;
		struct report *report = report_of(cores, PAIR_SCHEDULE_ALL, truth_ticks);
		size_t size = render(report);

		assert_in_range(size, 1000 * cores, 2 * 20 * entries + 6000 * cores + 40000);
		assert_int_equal(strstr(buffer, "\"skew\": null") != NULL, cores == 1);
		assert_int_equal(strstr(buffer, "\"matrix\": [") != NULL, cores > 1 && cores <= 256);
	}
}

/*
 * The first row and the first column of the matrix belong to the boot core. For a pair without a ping-pong the entry
 * is null. A core that took part in no pass has only null entries.
 */
TEST(an_entry_of_the_matrix_is_the_columns_core_minus_the_rows_core)
{
	int64_t truth_ticks[4] = { [3] = 2000 };
	struct report *report = report_of(4, PAIR_SCHEDULE_STAR, truth_ticks);
	/* offsets of the last pass, for the three pairs of cores 0, 2 and 3 */
	struct offset later[3] = { { -100, 120 }, OFFSET_UNKNOWN, { -300, -200 } };

	render(report);
	assert_non_null(strstr(buffer, "    \"matrix\": [\n"
				       "      [[0, 0], [-22, 24], [-23, 27], [975, 1021]],\n"
				       "      [[-24, 22], [0, 0], null, null],\n"
				       "      [[-27, 23], null, [0, 0], null],\n"
				       "      [[-1021, -975], null, null, [0, 0]]\n    ],\n"));
	assert_non_null(strstr(buffer, "\"schedule\": \"star\",\n    \"schedule_reason\": \"Measuring all pairs would "
		"take longer"));
	assert_non_null(strstr(buffer, "\"worst_offset_ns\": 998,\n    \"worst_pair\": [0, 6],\n"
				       "    \"error_ns\": 23,\n    \"within_ns\": null,\n"));
	report->facts.cores[1].started = false;
	literal_fill_pass(report, PAIR_SCHEDULE_ALL, truth_ticks);
	report->figures.skew.passes[1].offsets.pairs = later;
	literal_insert_middle_pass(report, report->figures.skew.passes[0].offsets);
	render(report);
	assert_non_null(strstr(buffer, "    \"later\": [\n"
				       "      {\n"
				       "        \"begin_ms\": 3100,\n"
				       "        \"end_ms\": 3100.999,\n"
				       "        \"matrix\": [\n"
				       "          [[0, 0], null, [-22, 24], [977, 1027]],\n"));
	report->figures.skew.passes[1] = report->figures.skew.passes[2];
	report->figures.skew.pass_count = 2;
	render(report);
	assert_non_null(strstr(buffer, "\"shown\": \"first\","));
	report->outcomes.sync.shown = 1;
	render(report);
	assert_non_null(strstr(buffer, "\"shown\": \"last\","));
	assert_non_null(strstr(buffer, "      [null, null, null, null],\n"));
	assert_non_null(strstr(buffer, "    \"later\": [\n"
				       "      {\n"
				       "        \"begin_ms\": 21169.999,\n"
				       "        \"end_ms\": 21170.999,\n"
				       "        \"matrix\": [\n"
				       "          [[0, 0], null, [-50, 60], null],\n"
				       "          [null, null, null, null],\n"
				       "          [[-60, 50], null, [0, 0], [-150, -100]],\n"
				       "          [null, null, [100, 150], [0, 0]]\n        ]\n      }\n    ],\n"));
}

TEST(the_row_of_a_check_has_the_fault_that_explains_it)
{
	struct report *report = literal_make_clean_report();
	struct behaviour *rows = report->outcomes.behaviours.rows;

	rows[0].explained_by = (struct rule_fault){ "core-missing", BEHAVIOUR_OF_MACHINE, 3, { 0, 0 } };
	rows[1].explained_by = (struct rule_fault){ "clock-stuck", "hpet", REPORT_NO_CORE, { 0, 0 } };
	render(report);
	assert_non_null(strstr(buffer, "\"explained_by\": {\"rule\": \"core-missing\", \"clock\": null, \"core\": 3},"));
	assert_non_null(strstr(buffer, "\"explained_by\": {\"rule\": \"clock-stuck\", \"clock\": \"hpet\", \"core\": null},"));
}
