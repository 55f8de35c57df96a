/*
 * A series divides a long run into rows. Each row has the results of one interval of time. The memory for a fixed
 * number of rows is allocated before the measurements. When all rows are used, neighbouring rows are merged in pairs.
 * From then on, an interval is twice as long.
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
/* maximum number of cores with SERIES_ROWS_MAX rows; if there are more cores, there are fewer rows */
#define SERIES_CORES_ALL 64

struct series_clock { /* Results of one clock in one row of the series. */
	/*
	 * Read latency of the clock on the boot core; COUNT is the number of reads, and may be 0. When two rows are
	 * merged, p50 and p99 are the larger of their two values.
	 */
	uint64_t count, min_ns, p50_ns, p99_ns, max_ns;
	/*
	 * the first and the last sample of the clock in the row, with wraps added; the row has no rate if the `end` of
	 * either sample is 0
	 */
	struct sample first, last;
};

struct series_rate { /* The rate of one clock in one row of the series, which src/analysis calculates. */
	struct rate_interval implied; /* the TSC's rate if the clock has exactly its nominal frequency */
	struct interval_ppb ppb;      /* the clock's rate relative to the clock that sets the scale */
};

struct series_row {
	uint64_t from_tsc, to_tsc;
	uint64_t gaps, worst_gap_ns; /* number of gaps on all cores, and length of the longest gap */
	uint64_t observed_ns;        /* time in which cores were observed for gaps, added up for all cores */
	struct series_clock *clocks;
	/*
	 * for each core, the offset of its TSC against the boot core's TSC in ticks, by the core's best ping-pong; does
	 * not include the error by the TSC's resolution, see series_add_resolution()
	 */
	struct offset *offsets;
};

struct series_reads { /* Reads of one clock in the row that is being filled. */
	uint64_t min_ns, max_ns;
	struct histogram histogram;
};

struct series {
	uint64_t interval_ns; /* shortest duration of a row */
	size_t clocks, cores, max; /* MAX is the maximum number of rows, or 0 if there is no series */
	size_t count;              /* number of completed rows */
	bool open;                 /* true if rows[count] is being filled */
	struct series_row *rows;   /* memory for max + 1 rows */
	/* memory for the rates: the rate of clock I in row R has the index CLOCKS * R + I, like rows[0].clocks */
	struct series_rate *rates;
	struct series_reads *reads;
};

/* Returns the OFFSET of a core in a row, widened by the resolution of the TSC in ticks. */
static inline struct offset
series_add_resolution(uint64_t resolution_ticks, struct offset offset)
{
	int64_t ticks = resolution_ticks < INT64_MAX ? (int64_t)resolution_ticks : INT64_MAX;

	return offset_add(offset, (struct offset){ -ticks, ticks });
}

/* Returns the maximum number of rows of a series with CORES cores. It is an even number. */
size_t series_max_rows(size_t cores);

/*
 * series_size_bytes() returns the size of a series in bytes. series_init() initializes SERIES. MEMORY must have this
 * size, be zeroed, and be aligned to 8 bytes.
 */
size_t series_size_bytes(size_t clocks, size_t cores, size_t max);
void series_init(struct series *series, void *memory, size_t clocks, size_t cores, size_t max,
		    uint64_t interval_ns);

/*
 * Returns the row that is being filled, or NULL if there is none. In the latter case, the functions below do nothing.
 */
struct series_row *series_get_open_row(const struct series *series);

void series_start_row(struct series *series, uint64_t now_tsc); /* starts the first row at the time NOW_TSC */
void series_add_reads(struct series *series, size_t clock, const struct scale *scale, const struct sample *samples,
		      size_t count);
void series_add_offset(struct series *series, size_t core, struct offset offset);
void series_add_gaps(struct series *series, uint64_t observed_ns, uint64_t gaps, uint64_t worst_ns);

/* Completes the row at the time NOW_TSC. The next row starts at once, unless LAST is true. */
void series_close_row(struct series *series, uint64_t now_tsc, bool last);

#endif
