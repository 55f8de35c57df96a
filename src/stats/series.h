/*
 * A run as a series in time: rows of one interval each with their measurements. Memory for a fixed number of
 * rows is allocated before anything is measured. If all rows are used, neighbours are merged in pairs, and from
 * then on the interval is twice as long.
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
#define SERIES_CORES_ALL 64 /* with more cores there are fewer rows */

struct series_clock { /* one clock in a row */
	/* Reads on the boot core; count 0 if there were none. Merged rows have the larger p50 and p99. */
	uint64_t count, min_ns, p50_ns, p99_ns, max_ns;
	struct sample first, last; /* unwrapped readings at its ends; if end is 0, no rate spans the row */
	/*
	 * Set by the caller: the TSC's rate by the clock's exact nominal frequency, and the clock's rate
	 * against the clock that sets the scale.
	 */
	struct rate_interval implied;
	struct interval_ppb rate;
};

struct series_row {
	uint64_t from_tsc, to_tsc;
	uint64_t gaps, worst_gap_ns; /* number and longest of the gaps on all cores */
	uint64_t observed_ns;        /* sum of the time in which cores were observed for gaps */
	struct series_clock *clocks;
	struct offset *offsets; /* The narrowest offset of each core's TSC against the boot core, in ticks. */
};

struct series_reads { /* reads of one clock in the open row */
	uint64_t min_ns, max_ns;
	struct histogram histogram;
};

struct series {
	uint64_t interval_ns; /* shortest duration of a row */
	size_t clocks, cores, max; /* max: 0 if there is no series */
	size_t count;              /* completed rows */
	bool open;                 /* rows[count] is being filled */
	struct series_row *rows;   /* max + 1 rows */
	struct series_reads *reads;
};

/* Most rows of a series of CORES cores: an even number. */
size_t series_rows(size_t cores);

/* Bytes for a series; and lays it out in zeroed MEMORY of that size, aligned to 8 bytes. */
size_t series_size(size_t clocks, size_t cores, size_t max);
void series_lay_out(struct series *series, void *memory, size_t clocks, size_t cores, size_t max,
		    uint64_t interval_ns);

/* The row that is being filled. NULL if there is none, and then the functions below do nothing. */
struct series_row *series_open_row(const struct series *series);

void series_begin(struct series *series, uint64_t now_tsc); /* starts the first row */
void series_reads(struct series *series, size_t clock, const struct scale *scale, const struct sample *samples,
		  size_t count);
void series_offset(struct series *series, size_t core, struct offset offset);
void series_gaps(struct series *series, uint64_t observed_ns, uint64_t gaps, uint64_t worst_ns);

/* Closes the row. The next one starts at once, unless this was the LAST. */
void series_close(struct series *series, uint64_t now_tsc, bool last);

#endif
