/*
 * A run as a series in time: rows of one interval each, with what was measured in it. There is space for a fixed number
 * of rows, taken before anything is measured: where it is full, rows become one with their neighbours, pair by pair,
 * and the interval is twice as long from then on.
 */
#ifndef BARETICK_SERIES_H
#define BARETICK_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/interval.h"
#include "base/offset.h"
#include "base/scale.h"
#include "clock/sample.h"

#define SERIES_ROWS_MAX  1440
#define SERIES_CORES_ALL 64 /* up to so many cores there are as many rows, and with more of them fewer */

struct series_clock { /* of one clock in a row */
	/* Of its reads on the boot core; count 0: there were none. Of rows that became one, the larger p50 and p99. */
	uint64_t count, min_ns, p50_ns, p99_ns, max_ns;
	struct sample first, last; /* readings at its ends, wraps undone; end 0: no rate holds over the row */
	/* The caller's: the TSC's rate by its claim as it is written, and its own against the clock that sets the scale. */
	struct rate_interval implied;
	struct interval_ppb rate;
};

struct series_row {
	uint64_t from_tsc, to_tsc;
	uint64_t gaps, worst_gap_ns; /* of all cores, */
	uint64_t observed_ns;        /* which were observed for them so long */
	struct series_clock *clocks;
	struct offset *offsets; /* of each core's TSC against the boot core's, in ticks: the narrowest that was seen */
};

struct series_reads { /* of one clock, in the row that is not over */
	uint64_t min_ns, max_ns;
	struct histogram histogram;
};

struct series {
	uint64_t interval_ns; /* of a row, at least */
	size_t clocks, cores, max; /* max: 0 where there is none */
	size_t count;              /* rows that are over */
	bool open;                 /* rows[count] is being filled */
	struct series_row *rows;   /* max + 1 */
	struct series_reads *reads;
};

/* How many rows a series of CORES cores has at most: an even number. */
size_t series_rows(size_t cores);

/* Bytes for a series; and it laid out in MEMORY of that size, zeroed, which begins at a multiple of 8. */
size_t series_size(size_t clocks, size_t cores, size_t max);
void series_lay_out(struct series *series, void *memory, size_t clocks, size_t cores, size_t max,
		    uint64_t interval_ns);

/* The row that is being filled; NULL: none is, and what follows does nothing. */
struct series_row *series_open_row(const struct series *series);

void series_begin(struct series *series, uint64_t now_tsc); /* the first row */
void series_reads(struct series *series, size_t clock, const struct scale *scale, const struct sample *samples,
		  size_t count);
void series_offset(struct series *series, size_t core, struct offset offset);
void series_gaps(struct series *series, uint64_t observed_ns, uint64_t gaps, uint64_t worst_ns);

/* The row is over. The next begins at once, unless that was the LAST. */
void series_close(struct series *series, uint64_t now_tsc, bool last);

#endif
