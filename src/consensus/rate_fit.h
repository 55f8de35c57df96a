/*
 * Finds the slopes of all lines that fit many readings. Each reading at the end of a window lies between two TSC
 * readings, and is exact to less than the clock's resolution. In a diagram of the clock's count against the TSC, each
 * reading therefore gives two points, called corners. At the sample's end, the clock had reached the reading, so the
 * clock's line must pass above this corner. At its begin, the clock was not yet beyond the reading, so the line must
 * pass below that corner. The result is the highest and the lowest slope of all lines that satisfy this for all
 * readings. This is a linear programme with two unknowns (the line's slope and height), which is solved in exact
 * integers over pairs of corners.
 */
#ifndef BARETICK_RATE_FIT_H
#define BARETICK_RATE_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"
#include "consensus/rate.h"

/*
 * Maximum number of corners (see above) that are kept on each side of the lines. A line near the clock's rate touches
 * only one or two of them.
 */
#define RATE_CORNERS_MAX 8
#define RATE_BETWEEN_MAX 16 /* maximum number of short series of readings between the ends */
/*
 * maximum number of ends: first, middle, last (or the latest reading before a discontinuity), end of the run, and the
 * readings in between
 */
#define RATE_ENDS_MAX    (4 + RATE_BETWEEN_MAX)

/*
 * Batches are short series of readings between the ends of a window, numbered from 0. Only batches whose number is a
 * multiple of the result are kept. After batch NUMBER these are at most RATE_BETWEEN_MAX, spread evenly over the window
 * until then.
 */
static inline uint64_t
rate_batch_interval(uint64_t number)
{
	uint64_t every = 1;

	while (number / RATE_BETWEEN_MAX >= every)
		every *= 2;
	return every;
}

struct rate_corner { /* a corner; its coordinates are relative to the shortest sample at the same end */
	int64_t tsc, ticks;
};

/*
 * The corners that a line may touch, from at most RATE_SAMPLES_MAX readings at one end of a window. If some are left
 * out, the result only becomes wider.
 */
struct rate_corners {
	uint64_t narrowest; /* duration of the shortest sample, in TSC ticks */
	size_t lower_count, upper_count;
	/* Corners below the line (at each sample's end), and above it (at each sample's begin). */
	struct rate_corner lower[RATE_CORNERS_MAX], upper[RATE_CORNERS_MAX];
};

#define RATE_SAMPLES_MAX 128 /* maximum number of readings at one end of a window */

/*
 * Returns the corners of COUNT successive samples. TRUST_TICKS is explained at clock_comparable(). RISE is the
 * approximate slope of the line, in ticks per 2^32 TSC ticks. Samples with long brackets may be left out. The sample
 * with the shortest bracket is always used, so LOWER and UPPER both have at least one corner.
 */
struct rate_corners rate_corners(const struct clock *clock, uint64_t trust_ticks, uint64_t rise,
				 const struct sample *samples, size_t count);

struct rate_end {
	struct sample sample;               /* the sample with the shortest bracket; wraps of its ticks are added */
	const struct rate_corners *corners;
};

struct rate_ends { /* readings at the ends of a window and between them, in order of time */
	struct rate_end ends[RATE_ENDS_MAX];
	size_t count;                  /* number of entries, at least 2 */
	/* The clock's resolution if it moves in even steps: the greatest common divisor of all differences. */
	uint64_t even_ticks;
	/* the clock's resolution if its steps are uneven: the smallest difference plus 2 */
	uint64_t uneven_ticks;
	uint64_t tsc_resolution_ticks; /* the TSC's resolution, as in struct rate_window */
};

/* Returns the slope. FIT is set to the kind of readings that it is based on. */
struct rate_slope rate_fit(const struct rate_ends *ends, enum rate_fit *fit);

#endif
