/*
 * Chooses the rows of a histogram of several clocks. Rows are narrow where the clocks have many reads. In the tails
 * each row is an octave (a factor of two in latency).
 */
#ifndef BARETICK_HISTOGRAM_ROWS_H
#define BARETICK_HISTOGRAM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/latency.h"

/* maximum number of lines: rows, and a line for each long empty range between two rows */
#define HISTOGRAM_LINES_MAX 40

struct histogram_row {
	/* duration of the shortest and of the longest read in the row, with the precision of a histogram bucket */
	uint64_t low_ns, high_ns;
	uint64_t width_ns;        /* width of the row in ns, before its ends without reads were cut off */
	/*
	 * True if there is a long empty range of latencies before this row. Long means at least a quarter of the
	 * latency at which the range starts, and at least the width of each row next to it.
	 */
	bool after_gap;
};

struct histogram_rows {
	size_t count;
	size_t lines; /* number of printed lines: rows, and gaps between them */
	struct histogram_row rows[HISTOGRAM_LINES_MAX];
};

/* Chooses the rows of a histogram of CLOCKS: at most HISTOGRAM_LINES_MAX lines. No row divides a histogram bucket. */
void histogram_pick_rows(struct histogram_rows *picked, const struct latency *const clocks[], size_t clock_count);

#endif
