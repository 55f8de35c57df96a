/*
 * Upper bounds of the size of the report's texts in bytes, so that memory can be allocated before the measurements. A
 * test fills the report with the longest possible values.
 */
#ifndef BARETICK_REPORT_SIZES_H
#define BARETICK_REPORT_SIZES_H

#include <stddef.h>

#include "report/report.h"

/* space for JSON with all durations that struct latency counts exactly, which need 6 MB for twelve clocks */
#define REPORT_SIZE          ((size_t)8 << 20)
/* latencies of one clock on one core: three numbers of 20 digits with their keys, and the clock's id */
#define REPORT_SIZE_PER_ROW  144u
#define REPORT_SIZE_PER_CORE (2 * REPORT_CLOCKS_MAX * REPORT_SIZE_PER_ROW + 2048u)
#define REPORT_SIZE_PER_PAIR 48u   /* one pair of cores in a matrix of pairs: two numbers of 20 digits */
#define REPORT_SIZE_SERIES     256u /* a row of the series: five numbers of 20 digits with their keys */
#define REPORT_SIZE_SERIES_CLOCK 320u /* one clock in a row of the series: eight numbers of 20 digits with their keys */
#define REPORT_SIZE_SERIES_CORE 128u /* one core in a row of the series: three numbers of 20 digits with their keys */
#define REPORT_MATRIX_CORES  256u  /* maximum number of cores for a report with a matrix of pairs */
/*
 * With more cores, the serial line gets a shorter JSON and a shorter CSV, from json_render_for_serial_port() and
 * csv_render_for_serial_port().
 */
#define REPORT_SERIAL_CORES  64u
#define REPORT_SIZE_CSV      ((size_t)384 << 10)
/* a row of the CSV: run, clock, metric, three numbers of 20 digits, and the machine in quotes */
#define REPORT_SIZE_CSV_ROW  320u
#define REPORT_SIZE_CSV_TIMERS (REPORT_INTERVALS_MAX * 14 * REPORT_SIZE_CSV_ROW)
#define REPORT_SIZE_CSV_CORE ((6 * REPORT_CLOCKS_MAX + 8) * REPORT_SIZE_CSV_ROW)

/* Returns the maximum size of the text report, with its final 0. */
static inline size_t
report_size_table(size_t cores)
{
	return REPORT_SIZE + cores * REPORT_SIZE_PER_CORE;
}

/* Returns the number of bytes that ROWS rows of the series add to the JSON and to the HTML page. */
static inline size_t
report_size_series(size_t cores, size_t rows)
{
	return rows * (REPORT_SIZE_SERIES + REPORT_CLOCKS_MAX * REPORT_SIZE_SERIES_CLOCK +
		       cores * REPORT_SIZE_SERIES_CORE);
}

/* Returns the maximum size of the JSON without a series, with its final 0. */
static inline size_t
report_size_json(size_t cores)
{
	size_t pairs = cores <= REPORT_MATRIX_CORES ? REPORT_PASSES * cores * cores : 0;

	return REPORT_SIZE + cores * REPORT_SIZE_PER_CORE + pairs * REPORT_SIZE_PER_PAIR;
}

/* Returns the maximum size of the HTML page, if its template has PAGE_LENGTH bytes. */
static inline size_t
report_size_html(size_t cores, size_t page_length)
{
	return page_length + report_size_json(cores);
}

/* Returns the maximum size of the CSV, with its final 0. */
static inline size_t
report_size_csv(size_t cores)
{
	return REPORT_SIZE_CSV + REPORT_SIZE_CSV_TIMERS + cores * REPORT_SIZE_CSV_CORE;
}

#endif
