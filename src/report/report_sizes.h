/*
 * How much memory the report's texts may take, so that it can be had before anything is measured.
 * Shared by what allocates them and the test that fills them with the longest figures there are.
 */
#ifndef BARETICK_REPORT_SIZES_H
#define BARETICK_REPORT_SIZES_H

#include <stddef.h>

#include "report/report.h"

/* Twelve clocks with every exact duration listed come to 6 MB. */
#define REPORT_SIZE          ((size_t)8 << 20)
#define REPORT_SIZE_PER_ROW  144u  /* three figures of 20 digits, their keys, the clock's id */
#define REPORT_SIZE_PER_CORE (2 * REPORT_CLOCKS_MAX * REPORT_SIZE_PER_ROW + 2048u)
#define REPORT_SIZE_PER_PAIR 48u   /* two figures of 20 digits */
#define REPORT_SIZE_SERIES     256u /* of a row of the series: five figures of 20 digits and their keys, */
#define REPORT_SIZE_SERIES_CLOCK 320u /* eight, */
#define REPORT_SIZE_SERIES_CORE 128u /* and three */
#define REPORT_MATRIX_CORES  256u  /* above them the report has no matrix */
#define REPORT_SERIAL_CORES  64u   /* above them serial lines get json_render_serial() and csv_render_serial() */
#define REPORT_SIZE_CSV      ((size_t)384 << 10)
#define REPORT_SIZE_CSV_ROW  320u  /* run, clock, metric, three figures of 20 digits, the machine in quotes */
#define REPORT_SIZE_CSV_TIMERS (REPORT_INTERVALS_MAX * 14 * REPORT_SIZE_CSV_ROW)
#define REPORT_SIZE_CSV_CORE ((6 * REPORT_CLOCKS_MAX + 8) * REPORT_SIZE_CSV_ROW)

/* For the table, with its final 0. */
static inline size_t
report_size_table(size_t cores)
{
	return REPORT_SIZE + cores * REPORT_SIZE_PER_CORE;
}

/* What ROWS of the series add to the JSON, and to the page. */
static inline size_t
report_size_series(size_t cores, size_t rows)
{
	return rows * (REPORT_SIZE_SERIES + REPORT_CLOCKS_MAX * REPORT_SIZE_SERIES_CLOCK +
		       cores * REPORT_SIZE_SERIES_CORE);
}

/* For the JSON, likewise, without a series. */
static inline size_t
report_size_json(size_t cores)
{
	size_t pairs = cores <= REPORT_MATRIX_CORES ? (1 + REPORT_LATER_MAX) * cores * cores : 0;

	return REPORT_SIZE + cores * REPORT_SIZE_PER_CORE + pairs * REPORT_SIZE_PER_PAIR;
}

/* For the page, whose template is PAGE_LENGTH long. */
static inline size_t
report_size_html(size_t cores, size_t page_length)
{
	return page_length + report_size_json(cores);
}

/* For the CSV, with its final 0. */
static inline size_t
report_size_csv(size_t cores)
{
	return REPORT_SIZE_CSV + REPORT_SIZE_CSV_TIMERS + cores * REPORT_SIZE_CSV_CORE;
}

#endif
