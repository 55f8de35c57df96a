/* Tests of the histogram that compares clocks: how its rows are chosen, its bars, and its width. */
#include "test.h"
#include "render/sections/histogram_rows.h"
#include "random.h"
#include "report_literal.h"
#include "render/sections/table_sections.h"

#define CLOCKS 5

static char buffer[1 << 16];

/* Returns the histogram of a report with two clocks. A and B are the durations of the clocks' reads; B may be NULL. */
static const char *
render(const struct literal_duration *a, const struct literal_duration *b)
{
	struct report *report = literal_make_clean_report();
	size_t clock_count = report->facts.clock_count;

	report->facts.clock_count = b ? 2 : 1;
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		free(report->facts.clocks[i].latency);
		report->facts.clocks[i].latency = literal_make_latency(i ? b : a);
		report->facts.clocks[i].clock.main = report->facts.clocks[i].clock.id = i ? "hpet" : "tsc";
	}
	struct text text = text_start(buffer, sizeof(buffer));
	table_put_all_histograms(&text, report);
	assert_false(text.truncated);
	report->facts.clock_count = clock_count;
	*strstr(buffer, "\n\nA full bar is") = '\0';
	return strstr(buffer, "reads\n\n") + sizeof("reads\n\n") - 1;
}

TEST(a_single_peak_has_a_row_for_each_duration)
{
	assert_string_equal(render((struct literal_duration[]){ { 96, 10 }, { 100, 200 }, { 104, 600 }, { 108, 150 },
								 { 116, 40 }, { 0, 0 } }, NULL),
			    "           tsc\n"
			    "<=  96 ns   1.0\n"
			    "<= 100 ns  20.0 ##:\n"
			    "<= 104 ns  60.0 #######\n"
			    "<= 108 ns  15.0 ##\n"
			    "<= 116 ns   4.0 :");
}

TEST(two_peaks_have_rows_with_few_reads_between_them)
{
	assert_string_equal(render((struct literal_duration[]){ { 40, 50 }, { 42, 400 }, { 44, 30 }, { 46, 15 },
								 { 48, 50 }, { 50, 425 }, { 52, 30 }, { 0, 0 } }, NULL),
			    "           tsc\n"
			    "<=  40 ns   5.0 #\n"
			    "<=  42 ns  40.0 ######:\n"
			    "<=  44 ns   3.0 :\n"
			    "<=  46 ns   1.5\n"
			    "<=  48 ns   5.0 #\n"
			    "<=  50 ns  42.5 #######\n"
			    "<=  52 ns   3.0 :");
}

/*
 * Each of these durations has less than 1 in 100 reads, so they share rows by octave. The row up to 1023 ns has 700
 * and 900 ns, and the row up to 2047 ns has 1100 and 2000 ns.
 */
TEST(a_tail_has_a_row_for_each_octave)
{
	assert_string_equal(render((struct literal_duration[]){ { 500, 99900 }, { 700, 30 }, { 900, 40 },
								 { 1100, 1 }, { 2000, 9 }, { 3000, 20 }, { 0, 0 } }, NULL),
			    "           tsc\n"
			    "<= 503 ns  99.9 #######\n"
			    "<= 903 ns   0.1\n"
			    "<= 2.02us  <0.1\n"
			    "<= 3.00us  <0.1");
}

TEST(a_long_range_without_reads_is_one_row_of_dots)
{
	assert_string_equal(render((struct literal_duration[]){ { 20, 500 }, { 0, 0 } },
				   (struct literal_duration[]){ { 300, 499 }, { 100000, 1 }, { 0, 0 } }),
			    "           tsc           hpet\n"
			    "<=  20 ns 100.0 #######\n"
			    "    . . .\n"
			    "<= 303 ns                99.8 #######\n"
			    "    . . .\n"
			    "<= 100 us                 0.2");
}

/*
 * Many TSCs count in steps of 10 ns. The durations in between never occur, and must not count as empty ranges.
 * Otherwise a row of dots would follow almost each row.
 */
TEST(the_step_of_a_coarse_tsc_is_no_empty_range)
{
	assert_string_equal(render((struct literal_duration[]){ { 0, 100 }, { 10, 700 }, { 20, 100 }, { 30, 100 },
								 { 0, 0 } }, NULL),
			    "           tsc\n"
			    "<=   0 ns  10.0 #\n"
			    "<=  10 ns  70.0 #######\n"
			    "<=  20 ns  10.0 #\n"
			    "<=  30 ns  10.0 #");
}

TEST(one_read_or_reads_of_the_same_duration_are_one_row)
{
	assert_string_equal(render((struct literal_duration[]){ { 26, 100000 }, { 0, 0 } }, NULL),
			    "           tsc\n<=  26 ns 100.0 #######");
	assert_string_equal(render((struct literal_duration[]){ { UINT64_MAX, 1 }, { 0, 0 } }, NULL),
			    "           tsc\n<= >1 day 100.0 #######");
	assert_string_equal(render((struct literal_duration[]){ { 1234, 1 }, { 0, 0 } }, NULL),
			    "           tsc\n<= 1.23us 100.0 #######");
	assert_string_equal(render((struct literal_duration[]){ { 0, 1 }, { 0, 0 } }, NULL),
			    "           tsc\n<=   0 ns 100.0 #######");
}

/* One of 3,000,000 reads is 0.00003 %. It must have a row, although this share is printed as 0.0 %. */
TEST(a_single_read_among_millions_has_a_row)
{
	assert_non_null(strstr(render((struct literal_duration[]){ { 26, 2999999 }, { 60, 1 }, { 0, 0 } }, NULL),
			       "<=  26 ns >99.9 #######\n    . . .\n<=  60 ns  <0.1"));
}

/*
 * A clock's longest bar belongs to the row with the most reads of this clock. The reads of the other clock do not
 * change the bars of this clock.
 */
TEST(bars_are_scaled_for_each_clock)
{
	assert_string_equal(render((struct literal_duration[]){ { 20, 10 }, { 22, 5 }, { 24, 5 }, { 0, 0 } },
				   (struct literal_duration[]){ { 22, 100 }, { 24, 900000 }, { 0, 0 } }),
			    "           tsc           hpet\n"
			    "<=  20 ns  50.0 #######\n"
			    "<=  22 ns  25.0 ###:     <0.1\n"
			    "<=  24 ns  25.0 ###:    >99.9 #######");
}

/* Draws the durations of reads at random: a few narrow peaks, a flat range of values, or values of any size. */
static void
draw(struct latency *latency, uint64_t *seed)
{
	uint64_t kind = random_next(seed) % 3, base = random_next(seed) >> (random_next(seed) % 64);

	latency_clear(latency);
	for (size_t i = 0; i < 300; i++) {
		uint64_t value = random_next(seed) >> (random_next(seed) % 64), count = 1 + (value >> 50);

		if (kind == 0)
			value = (base >> (value % 3)) + value % 7;
		else if (kind == 1)
			value = base / 2 + value % (base + 1) / 2;
		literal_record_ns(latency, value, count);
	}
}

TEST(random_histograms_fit_and_lose_no_read)
{
	static struct latency latencies[CLOCKS];
	uint64_t seed = 2026;

	for (size_t turn = 0; turn < 300; turn++) {
		const struct latency *clocks[CLOCKS];
		struct histogram_rows rows;
		size_t count = 1 + turn % CLOCKS, lines = 0;

		for (size_t i = 0; i < count; i++) {
			draw(&latencies[i], &seed);
			clocks[i] = &latencies[i];
		}
		histogram_pick_rows(&rows, clocks, count);
		for (size_t row = 0; row < rows.count; row++) {
			lines += rows.rows[row].after_gap ? 2 : 1;
			assert_true(rows.rows[row].low_ns <= rows.rows[row].high_ns);
			assert_true(row == 0 || rows.rows[row].low_ns > rows.rows[row - 1].high_ns);
		}
		assert_in_range(rows.count, 1, HISTOGRAM_LINES_MAX);
		assert_in_range(lines, 1, 40);
		for (size_t i = 0; i < count; i++) {
			uint64_t total = 0;

			for (size_t row = 0; row < rows.count; row++)
				total += histogram_count_between(&clocks[i]->histogram, rows.rows[row].low_ns,
								 rows.rows[row].high_ns);
			assert_int_equal(total, clocks[i]->histogram.total);
		}
	}
}

TEST(random_histograms_are_at_most_79_columns_wide)
{
	struct report *report = literal_make_clean_report();
	uint64_t seed = 7;

	for (size_t turn = 0; turn < 100; turn++) {
		for (size_t i = 0; i < report->facts.clock_count; i++)
			if (report->facts.clocks[i].latency)
				draw(report->facts.clocks[i].latency, &seed);
		struct text text = text_start(buffer, sizeof(buffer));
		table_put_all_histograms(&text, report);
		assert_false(text.truncated);
		for (const char *line = buffer; *line; line += strcspn(line, "\n") + 1)
			assert_in_range(strcspn(line, "\n"), 0, 79);
	}
}
