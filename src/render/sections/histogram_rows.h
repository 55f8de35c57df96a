/* The rows of a histogram of several clocks, chosen from their reads: narrow at the reads, octaves in the tails. */
#ifndef BARETICK_HISTOGRAM_ROWS_H
#define BARETICK_HISTOGRAM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/latency.h"

#define HISTOGRAM_LINES_MAX 40 /* rows, and a line for each long empty stretch between two rows */

struct histogram_row {
	uint64_t low_ns, high_ns; /* shortest and longest read in the row, to the precision of a bucket */
	uint64_t width_ns;        /* width of the whole row with its empty ends */
	/*
	 * True if the empty stretch before this row is long. That means at least a quarter of the latency at which it
	 * starts, and at least the width of each row next to it.
	 */
	bool after_gap;
};

struct histogram_rows {
	size_t count;
	size_t lines; /* rows and gaps */
	struct histogram_row rows[HISTOGRAM_LINES_MAX];
};

/* Chooses rows for CLOCKS that make at most HISTOGRAM_LINES_MAX lines. A row has whole buckets of the histograms. */
void histogram_pick_rows(struct histogram_rows *picked, const struct latency *const clocks[], size_t clock_count);

#endif
