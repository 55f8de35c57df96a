/* Tests of a soak's series, from hand-written figures: the contents of rows, and how rows are merged. */
#include "test.h"
#include "stats/series.h"

#define CLOCKS 2
#define CORES  3
#define ROWS   4

static struct series series;
static void *memory;
static struct scale gigahertz;

static void
begin(void)
{
	size_t size = series_size_bytes(CLOCKS, CORES, ROWS);

	memory = test_malloc(size);
	memset(memory, 0, size);
	scale_init(&gigahertz, (struct rate){ 1000000000, 1 });
	series_init(&series, memory, CLOCKS, CORES, ROWS, 60);
	series_start_row(&series, 1000);
}

static void
end(void)
{
	test_free(memory);
}

TEST_FIXTURE(begin, end);

/* Adds COUNT reads of CLOCK that took NS each. */
static void
read_clock(size_t clock, size_t count, uint64_t ns)
{
	struct sample sample = { 100, 0, 100 + ns };

	while (count--)
		series_add_reads(&series, clock, &gigahertz, &sample, 1);
}

static void
assert_reads(const struct series_clock *clock, uint64_t count, uint64_t min, uint64_t p50, uint64_t p99, uint64_t max)
{
	assert_int_equal(clock->count, count);
	assert_int_equal(clock->min_ns, min);
	assert_int_equal(clock->p50_ns, p50);
	assert_int_equal(clock->p99_ns, p99);
	assert_int_equal(clock->max_ns, max);
}

TEST(a_row_has_the_reads_and_gaps_of_its_time)
{
	const struct series_row *row = series.rows;

	read_clock(0, 900, 20);
	read_clock(0, 99, 50);
	read_clock(0, 1, 5000);
	series_add_gaps(&series, 10, 2, 300);
	series_add_gaps(&series, 20, 1, 200);
	series_add_offset(&series, 1, (struct offset){ -5, 5 });
	series_add_offset(&series, 1, (struct offset){ 1, 3 });
	series_add_offset(&series, 1, (struct offset){ -9, 9 });
	series_close_row(&series, 1060, false);
	assert_int_equal(series.count, 1);
	assert_int_equal(row->from_tsc, 1000);
	assert_int_equal(row->to_tsc, 1060);
	assert_reads(&row->clocks[0], 1000, 20, 20, 50, 5000);
	assert_reads(&row->clocks[1], 0, 0, 0, 0, 0);
	assert_int_equal(row->gaps, 3);
	assert_int_equal(row->worst_gap_ns, 300);
	assert_int_equal(row->observed_ns, 30);
	assert_int_equal(row->offsets[1].low, 1);
	assert_int_equal(row->offsets[1].high, 3);
	assert_false(offset_is_known(row->offsets[2]));
	assert_int_equal(series_get_open_row(&series)->from_tsc, 1060);
}

TEST(a_new_row_is_empty)
{
	const struct series_row *row = series.rows + 1;

	read_clock(0, 10, 900);
	series_add_gaps(&series, 10, 2, 300);
	series_add_offset(&series, 1, (struct offset){ 0, 0 });
	series_close_row(&series, 1060, false);
	read_clock(0, 10, 30);
	series_close_row(&series, 1120, true);
	assert_reads(&row->clocks[0], 10, 30, 30, 30, 30);
	assert_int_equal(row->gaps + row->observed_ns + row->worst_gap_ns, 0);
	assert_false(offset_is_known(row->offsets[1]));
}

/* A round trip that is shorter than a tick of the TSC gives a lower bound above the upper bound. */
TEST(an_offset_whose_bounds_cross_is_narrower_than_any_other_offset)
{
	const struct series_row *row = series.rows;

	series_add_offset(&series, 1, (struct offset){ -3, -4 });
	series_add_offset(&series, 1, (struct offset){ 0, 40 });
	assert_int_equal(row->offsets[1].low, -3);
	series_add_offset(&series, 1, (struct offset){ 5, 2 });
	assert_int_equal(row->offsets[1].low, 5);
}

TEST(nothing_is_recorded_before_the_first_row_and_after_the_last)
{
	struct series none = { .max = 0 };

	series_close_row(&series, 1060, true);
	assert_null(series_get_open_row(&series));
	read_clock(0, 10, 30);
	series_add_gaps(&series, 10, 2, 300);
	series_add_offset(&series, 1, (struct offset){ 0, 0 });
	series_close_row(&series, 2000, true);
	assert_int_equal(series.count, 1);
	assert_int_equal(series.rows[0].gaps, 0);
	series_start_row(&none, 1);
	assert_null(series_get_open_row(&none));
	series_close_row(&none, 2, false);
	assert_int_equal(none.count, 0);
}

/*
 * Closes a row of the clock whose rate is measured. The clock counts 10 ticks in each row. If CUT is true, the reading
 * at the row's end is missing.
 */
static void
close_row(uint64_t row, bool cut)
{
	struct series_clock *clock = &series_get_open_row(&series)->clocks[0];

	clock->first = (struct sample){ 1000 + 60 * row, 10 * row, 1001 + 60 * row };
	if (!cut)
		clock->last = (struct sample){ 1060 + 60 * row, 10 * row + 10, 1061 + 60 * row };
	series_close_row(&series, 1060 + 60 * row, false);
}

TEST(if_the_series_is_full_rows_are_merged_in_pairs_and_the_interval_doubles)
{
	const struct series_row *row = series.rows;

	for (uint64_t i = 0; i < ROWS; i++) {
		read_clock(0, 100, 20 + i);
		read_clock(1, i == 1 ? 5 : 0, 70);
		series_add_gaps(&series, 100, i, 10 * i);
		series_add_offset(&series, 1, (struct offset){ -(int64_t)i - 1, 0 });
		if (i == 3)
			series_add_offset(&series, 2, (struct offset){ 7, 8 });
		close_row(i, false);
	}
	assert_int_equal(series.count, 2);
	assert_int_equal(series.interval_ns, 120);
	assert_int_equal(row[0].from_tsc, 1000);
	assert_int_equal(row[0].to_tsc, 1120);
	assert_int_equal(row[1].from_tsc, 1120);
	assert_int_equal(row[1].to_tsc, 1240);
	assert_reads(&row[0].clocks[0], 200, 20, 21, 21, 21);
	assert_reads(&row[1].clocks[0], 200, 22, 23, 23, 23);
	assert_reads(&row[0].clocks[1], 5, 70, 70, 70, 70);
	assert_reads(&row[1].clocks[1], 0, 0, 0, 0, 0);
	assert_int_equal(row[0].gaps, 1);
	assert_int_equal(row[1].gaps, 5);
	assert_int_equal(row[1].worst_gap_ns, 30);
	assert_int_equal(row[1].observed_ns, 200);
	assert_int_equal(row[0].offsets[1].low, -1);
	assert_int_equal(row[1].offsets[1].low, -3);
	assert_false(offset_is_known(row[0].offsets[2]));
	assert_int_equal(row[1].offsets[2].low, 7);
	assert_int_equal(row[1].clocks[0].first.ticks, 20);
	assert_int_equal(row[1].clocks[0].last.ticks, 40);
	assert_int_equal(series_get_open_row(&series)->from_tsc, 1240);
	assert_int_equal(series_get_open_row(&series)->observed_ns, 0);
}

/* Rows are merged repeatedly. Each tick and each gap of the run must be in exactly one row. */
TEST(a_few_rows_have_all_figures_of_a_long_run)
{
	uint64_t gaps = 0;

	for (uint64_t i = 0; i < 1000 * ROWS; i++) {
		series_add_gaps(&series, 1, 1, 1);
		close_row(i, false);
		assert_true(series.count < ROWS);
	}
	for (size_t i = 0; i < series.count; i++) {
		gaps += series.rows[i].gaps;
		assert_int_equal(series.rows[i].from_tsc, i ? series.rows[i - 1].to_tsc : 1000);
		assert_int_equal(10 * (series.rows[i].to_tsc - series.rows[i].from_tsc),
				 60 * (series.rows[i].clocks[0].last.ticks - series.rows[i].clocks[0].first.ticks));
	}
	assert_int_equal(gaps, 1000 * ROWS);
	assert_int_equal(series.rows[series.count - 1].to_tsc, 1000 + 60 * 1000 * ROWS);
}

TEST(a_merged_row_has_no_rate_if_one_of_its_rows_has_none)
{
	for (uint64_t i = 0; i < ROWS; i++)
		close_row(i, i == 2);
	assert_int_equal(series.rows[0].clocks[0].last.ticks, 20);
	assert_int_equal(series.rows[1].clocks[0].last.end, 0);
}

/* At the end of a run, the last row may fill the series. No row follows, so the rows need not be merged. */
TEST(the_last_row_of_a_full_series_is_not_merged)
{
	for (uint64_t i = 0; i + 1 < ROWS; i++)
		close_row(i, false);
	series_close_row(&series, 1240, true);
	assert_int_equal(series.count, ROWS);
	assert_int_equal(series.interval_ns, 60);
	assert_null(series_get_open_row(&series));
}

TEST(there_are_1440_rows_or_an_even_smaller_number_with_many_cores)
{
	assert_int_equal(series_max_rows(1), 1440);
	assert_int_equal(series_max_rows(64), 1440);
	assert_int_equal(series_max_rows(65), 720);
	assert_int_equal(series_max_rows(256), 360);
	for (size_t cores = 1; cores <= 4096; cores++) {
		assert_true(series_max_rows(cores) * cores <= 1440 * 64);
		assert_true(series_max_rows(cores) >= 2 && series_max_rows(cores) % 2 == 0);
	}
}
