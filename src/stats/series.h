/*
 * A run as a series of rows. Each row has the measurements of one interval of time. The number of rows is fixed, and
 * their memory is allocated before the measurements. If all rows are used, rows are merged in pairs, and from then on
 * an interval is twice as long.
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
/* maximum number of cores for a series with all rows; with more cores, a series has fewer rows */
#define SERIES_CORES_ALL 64

struct series_clock { /* one clock in one row */
	/*
	 * Reads of the clock on the boot core; COUNT is 0 if there were none. When two rows are merged, p50 and p99 are the
	 * larger of the two values.
	 */
	uint64_t count, min_ns, p50_ns, p99_ns, max_ns;
	/* first and last reading in the row, without wraps; if `end` of a reading is 0, the row has no rate */
	struct sample first, last;
	/*
	 * Set by the caller. IMPLIED: the TSC's rate, if the clock has exactly its nominal frequency. RATE: the clock's
	 * rate, compared with the clock that sets the scale.
	 */
	struct rate_interval implied;
	struct interval_ppb rate;
};

struct series_row {
	uint64_t from_tsc, to_tsc;
	uint64_t gaps, worst_gap_ns; /* number of gaps on all cores, and the longest of them */
	uint64_t observed_ns;        /* time in which cores were observed for gaps, summed over the cores */
	struct series_clock *clocks;
	struct offset *offsets; /* Narrowest offset of each core's TSC from the boot core's TSC, in ticks. */
};

struct series_reads { /* reads of one clock in the current row */
	uint64_t min_ns, max_ns;
	struct histogram histogram;
};

struct series {
	uint64_t interval_ns; /* shortest duration of a row */
	size_t clocks, cores, max; /* MAX is the maximum number of rows; 0 if there is no series */
	size_t count;              /* number of completed rows */
	bool open;                 /* true if rows[count] is being filled */
	struct series_row *rows;   /* memory for max + 1 rows */
	struct series_reads *reads;
};

/* Returns the largest number of rows in a series for CORES cores. The number is even. */
size_t series_rows(size_t cores);

/*
 * series_size() returns the size of a series in bytes. series_lay_out() initializes SERIES in zeroed MEMORY of that
 * size, aligned to 8 bytes.
 */
size_t series_size(size_t clocks, size_t cores, size_t max);
void series_lay_out(struct series *series, void *memory, size_t clocks, size_t cores, size_t max,
		    uint64_t interval_ns);

/* Returns the row that is being filled. If there is none it returns NULL, and the functions below do nothing. */
struct series_row *series_open_row(const struct series *series);

void series_begin(struct series *series, uint64_t now_tsc); /* starts the first row at NOW_TSC */
void series_reads(struct series *series, size_t clock, const struct scale *scale, const struct sample *samples,
		  size_t count);
void series_offset(struct series *series, size_t core, struct offset offset);
void series_gaps(struct series *series, uint64_t observed_ns, uint64_t gaps, uint64_t worst_ns);

/* Completes the row at NOW_TSC. The next row starts at once, unless this row is the LAST. */
void series_close(struct series *series, uint64_t now_tsc, bool last);

#endif
