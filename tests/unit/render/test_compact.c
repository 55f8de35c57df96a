/*
 * Tests of the short report for a serial line: its length, and the parts that it leaves out.
 * tests/qemu/test_console_log.py reads the same format.
 */
#include "test.h"
#include "render/json/compact.h"
#include "golden.h"
#include "render/json/json.h"
#include "judge/judge.h"
#include "many_cores.h"
#include "advice/recommend.h"
#include "report_literal.h"
#include "report/report_sizes.h"

#define AROUND 128 /* size of the lines BEGIN and END, with their line ends */

static struct deflate_work work;
static struct text out, json;

static void
take_memory(void)
{
	out = (struct text){ .size = report_size_csv(CORES) };
	json = (struct text){ .size = report_size_json(CORES) };
	out.bytes = malloc(out.size);
	json.bytes = malloc(json.size);
	assert_true(out.bytes && json.bytes);
}

static void
give_memory(void)
{
	free(out.bytes);
	free(json.bytes);
}

TEST_FIXTURE(take_memory, give_memory);

/* Renders REPORT. Returns the number of bytes that a serial line sends. */
static size_t
rendered(const struct report *report)
{
	size_t lines = 0;

	compact_render(&out, &json, &work, report);
	assert_false(out.truncated || json.truncated);
	for (const char *at = out.bytes; *at; at = strchr(at, '\n') + 1) {
		char number[16];

		snprintf(number, sizeof(number), "bt%04zu:", ++lines);
		assert_memory_equal(at, number, strlen(number));
		assert_true(strspn(at + strlen(number), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
			    (size_t)(strchr(at, '\n') - at) - strlen(number));
	}
	print_message("%zu cores: %zu bytes\n", report->facts.core_count, out.length + lines + AROUND);
	return out.length + lines + AROUND;
}

TEST(a_report_of_64_cores_with_all_latencies_takes_at_most_48_KiB)
{
	struct report *report = make_report(64);

	assert_true(rendered(report) <= 48 << 10);
	assert_null(strstr(json.bytes, "\"latency\":{}"));
	free(report);
}

TEST(a_report_that_would_be_longer_leaves_out_the_latencies_of_cores)
{
	struct report *report = make_report(256);
	size_t length = rendered(report);

	assert_true(length <= 48 << 10);
	assert_non_null(strstr(json.bytes, "\"latency\":{},\"latency_contended\":{}}"));
	free(report);
}

TEST(a_report_that_would_still_be_longer_leaves_out_the_series)
{
	struct report *report = make_report(64);
	struct series_row *rows = calloc(1440, sizeof(*rows));
	struct series_clock *clocks = calloc(1440 * CLOCKS, sizeof(*clocks));
	struct series_rate *rates = calloc(1440 * CLOCKS, sizeof(*rates));
	struct offset offsets[64];

	assert_true(rows && clocks && rates);
	for (size_t i = 0; i < 64; i++)
		offsets[i] = draw_offset();
	for (size_t i = 0; i < 1440; i++)
		rows[i] = (struct series_row){
			.from_tsc = i * draw_below(1u << 30), .to_tsc = draw_below(1u << 30), .gaps = draw_below(1000), .offsets = offsets,
			.clocks = clocks + i * CLOCKS,
		};
	report->facts.series = (struct series){ .max = 1440, .count = 3, .rows = rows };
	report->figures.soak_rates = rates;
	assert_true(rendered(report) <= 48 << 10);
	assert_non_null(strstr(json.bytes, "\"series\":[{"));
	report->facts.series.count = 1440;
	assert_true(rendered(report) <= 48 << 10);
	assert_non_null(strstr(json.bytes, "\"series\":null"));
	free(rates);
	free(clocks);
	free(rows);
	free(report);
}

TEST(a_short_report_has_no_histogram_and_no_matrix_and_matches_its_golden)
{
	struct report *report = literal_make_faulty_report();

	literal_judge(report);
	recommend_clocks(report, &report->advice);
	rendered(report);
	golden_compare("sick.compact", &out);
	for (const char *at = json.bytes; (at = strpbrk(at, "hem")) != NULL; at++)
		assert_true(strncmp(at, "histogram\":[", 12) && strncmp(at, "exact\":[", 8) && strncmp(at, "matrix\":[", 9));
}
