/*
 * The table of a run over time (soak), from hand-written figures: the text of its lines, their number, and their
 * marks.
 */
#include "test.h"
#include "report_literal.h"
#include "render/sections/table_sections.h"

#define ROWS     40
#define INTERVAL UINT64_C(60000000000) /* ns */
#define TICKS_NS 2

static struct {
	struct report *report;
	void *memory;
	char bytes[8192];
	struct text text;
} here;

static void
begin(void)
{
	struct report *report = here.report = literal_make_clean_report();
	size_t size = series_size_bytes(report->facts.clock_count, report->facts.core_count, ROWS);

	here.memory = calloc(1, size);
	report->facts.run.start_tsc = 1000;
	series_init(&report->facts.series, here.memory, report->facts.clock_count, report->facts.core_count, ROWS,
		    INTERVAL);
	report->figures.soak_rates = report->facts.series.rates;
	text_init(&here.text, here.bytes, sizeof(here.bytes));
}

static void
end(void)
{
	free(here.memory);
}

TEST_FIXTURE(begin, end);

static struct series_clock *
clock_of(struct series_row *row, const char *id)
{
	return &row->clocks[report_find_clock(here.report, id) - here.report->facts.clocks];
}

/*
 * Adds a row for one more minute: the 99th percentile of the TSC's latency, the offset of core 1's TSC, the PM timer's
 * rate and the error of this rate.
 */
static struct series_row *
add_minute(uint64_t tsc_p99_ns, int64_t offset_ticks, int64_t ppb, int64_t error_ppb)
{
	struct series *series = &here.report->facts.series;
	struct series_row *row = &series->rows[series->count];

	row->from_tsc = here.report->facts.run.start_tsc + series->count * INTERVAL * TICKS_NS;
	row->to_tsc = row->from_tsc + INTERVAL * TICKS_NS;
	*clock_of(row, "tsc") = (struct series_clock){ .count = 1000, .p99_ns = tsc_p99_ns };
	*clock_of(row, "hpet") = (struct series_clock){ .count = 10, .p99_ns = 600 };
	*clock_of(row, "acpi_pm") = (struct series_clock){ .count = 10, .p99_ns = 1200 };
	series->rates[clock_of(row, "hpet") - series->rows[0].clocks].ppb = (struct interval_ppb){ true, 0, 0, 0 };
	series->rates[clock_of(row, "acpi_pm") - series->rows[0].clocks].ppb =
		(struct interval_ppb){ error_ppb != 0, ppb, ppb - error_ppb, ppb + error_ppb };
	for (size_t i = 0; i < here.report->facts.core_count; i++)
		row->offsets[i] = i == 1 ? (struct offset){ offset_ticks - 4, offset_ticks + 4 } : OFFSET_UNKNOWN;
	series->count++;
	return row;
}

static const char *
table(void)
{
	table_put_series(&here.text, here.report);
	assert_false(here.text.truncated);
	return here.bytes;
}

static size_t
lines_with(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text++)
		count++;
	return count;
}

TEST(a_run_without_a_series_has_no_table)
{
	assert_string_equal(table(), "");
	table_put_latest_series_row(&here.text, here.report);
	assert_string_equal(here.bytes, "");
}

TEST(a_line_has_the_worst_figures_of_its_rows_and_the_known_rates)
{
	struct series_row *row = add_minute(85, 20, 1234, 12);
	row->gaps = 2;
	row->worst_gap_ns = 12345;
	add_minute(90, -40, -39231, 8980);
	add_minute(90, -40, 0, 0);
	assert_non_null(strstr(table(),
			       "   up to     gap   cores     tsc       ppm    hpet       ppm acpi_pm       ppm\n"
			       "    60 s  12.3us   12 ns   85 ns         -  600 ns         -  1.20us    +1.234\n"
			       "   120 s       -   22 ns   90 ns         -  600 ns         -  1.20us     -39.2\n"
			       "   180 s       -   22 ns   90 ns         -  600 ns         -  1.20us         -\n"));
	assert_non_null(strstr(here.bytes, "against hpet"));
}

static const char *
table_again(void)
{
	text_init(&here.text, here.bytes, sizeof(here.bytes));
	return table();
}

/* In a row, cores exchange fewer messages than in a pass, so the bound of a row can be larger than the answer's. */
TEST(a_bound_of_a_row_is_explained_only_if_it_exceeds_the_bound_of_the_run)
{
	static const char words[] = "  \"cores\" comes from separate and mostly shorter measurements, so it can be\n"
				    "  larger than the bound under \"TSC synchronisation of the cores\". The offset\n"
				    "  may also really have been larger then.\n";

	add_minute(85, 0, 0, 0);
	add_minute(85, -40, 0, 0); /* at most 44 ticks, or 22 ns */
	add_minute(85, 0, 0, 0);
	here.report->outcomes.sync.within_known = true;
	here.report->outcomes.sync.within_ns = 21;
	assert_non_null(strstr(table(), words));
	here.report->outcomes.sync.within_ns = 22;
	assert_non_null(strstr(table_again(), "\"cores\": largest"));
	assert_null(strstr(here.bytes, "shorter measurements"));
	here.report->outcomes.sync.within_ns = 21;
	here.report->outcomes.sync.within_known = false;
	assert_non_null(strstr(table_again(), "\"cores\": largest"));
	assert_null(strstr(here.bytes, "shorter measurements"));
}

/* The offset is at most 44 ticks. At the lowest possible rate of 1.9 GHz these take 23.2 ns. */
TEST(the_largest_offset_is_rounded_up_at_the_lowest_rate_of_the_tsc)
{
	here.report->figures.tsc_within = (struct rate_interval){ true, 2000000000000000, 1900000000000000,
								  2100000000000000 };
	add_minute(85, -40, 0, 0);
	assert_non_null(strstr(table(), "    60 s       -   24 ns "));
}

/*
 * 40 minutes are shown in 12 lines, and the last line ends with the run. In one of the minutes a read took long, and a
 * line must show it.
 */
TEST(a_long_run_has_a_dozen_lines_that_include_every_minute)
{
	for (size_t i = 0; i < ROWS; i++)
		add_minute(i == 17 ? 4000 : 85, 0, (int64_t)i, 5);
	assert_int_equal(lines_with(table(), " s       -    2 ns"), 12);
	assert_int_equal(lines_with(here.bytes, "4.00us"), 1);
	assert_non_null(strstr(here.bytes, "  2400 s"));
	assert_non_null(strstr(here.bytes, "A line covers up to 4 rows of the series"));
}

TEST(the_latest_row_has_its_own_line)
{
	add_minute(85, 0, 10, 5);
	add_minute(170, 0, 20, 5);
	table_put_latest_series_row(&here.text, here.report);
	assert_string_equal(here.bytes, "   120 s       -    2 ns  170 ns         -  600 ns         -  1.20us    +0.020\n");
}
