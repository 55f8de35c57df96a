/*
 * Calculates a clock's rate from many readings, as the slopes of all straight lines that fit them. A batch is a series
 * of readings in direct succession.
 *
 * Imagine a diagram of the clock's count against the TSC. Each reading happened between two TSC reads, and its error is
 * below the clock's resolution. It gives two points, called corners. At the second TSC read the clock had reached the
 * reading, so the line must pass above the lower corner (end, ticks). At the first TSC read the clock was not beyond
 * the reading, so the line must pass below the upper corner (begin, ticks + resolution).
 *
 * The result is the lowest and the highest slope of all lines that fulfil both conditions for all readings. This is a
 * linear programme with two unknowns, the line's slope and height. It is solved in exact integers over pairs of
 * corners.
 */
#ifndef BARETICK_RATE_FIT_H
#define BARETICK_RATE_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"
#include "consensus/rate.h"

/*
 * Maximum number of lower (or upper) corners that are kept for each batch. A line with about the clock's rate touches
 * only one or two of them.
 */
#define RATE_CORNERS_MAX 8
#define RATE_BETWEEN_MAX 16 /* maximum number of batches between the first and the last */
/*
 * Maximum number of batches: first, middle, last (or the latest before a discontinuity), end of the run, and the
 * batches in between.
 */
#define RATE_ENDS_MAX    (4 + RATE_BETWEEN_MAX)

/*
 * Limits the number of kept batches between the ends of a rate window. Batches are numbered from 0, and those whose
 * number is a multiple of the returned value are kept. Up to batch NUMBER, these are at most RATE_BETWEEN_MAX batches,
 * spread evenly.
 */
static inline uint64_t
rate_batches_per_kept_batch(uint64_t number)
{
	uint64_t every = 1;

	while (number / RATE_BETWEEN_MAX >= every)
		every *= 2;
	return every;
}

struct rate_corner { /* a corner; its coordinates are relative to the shortest sample of the same batch */
	int64_t tsc, ticks;
};

/*
 * The corners of one batch that a line may touch. A batch has at most RATE_SAMPLES_MAX readings. If
 * corners are left out, the resulting interval only becomes wider.
 */
struct rate_corners {
	uint64_t narrowest; /* duration of the shortest sample (end - begin) in TSC ticks */
	size_t lower_count, upper_count;
	/* the line must pass above all lower corners (end, ticks), and below all upper corners (begin, ticks) */
	struct rate_corner lower[RATE_CORNERS_MAX], upper[RATE_CORNERS_MAX];
};

#define RATE_SAMPLES_MAX 128 /* maximum number of readings in one batch */

/*
 * Returns the corners of COUNT successive samples, which bound the lines that fit the samples (see the top of this
 * file). RISE is the approximate slope of these lines, in clock ticks per 2^32 TSC ticks. A corner that no line of this
 * slope touches may be left out. The two corners of the shortest sample are always returned. TRUST_TICKS is explained
 * at clock_comparable().
 */
struct rate_corners rate_find_corners(const struct clock *clock, uint64_t trust_ticks, uint64_t rise,
				      const struct sample *samples, size_t count);

struct rate_end {
	struct sample sample;               /* the shortest sample of a batch; wraps of its ticks are added */
	const struct rate_corners *corners;
};

struct rate_ends { /* The batches that the lines must fit, in order of time. */
	struct rate_end ends[RATE_ENDS_MAX];
	size_t count;                  /* number of batches, at least 2 */
	/*
	 * The clock's resolution if it advances in steps of equal size: the greatest common divisor of all differences
	 * between readings.
	 */
	uint64_t even_ticks;
	/* the clock's resolution if the size of its steps varies: the smallest difference between readings, plus 2 */
	uint64_t uneven_ticks;
	uint64_t tsc_resolution_ticks; /* the TSC's resolution, as in struct rate_window */
};

/*
 * Returns the bounds of the lines' slope, in clock ticks per TSC tick. Sets FIT to the kind of readings that the lines
 * fit.
 */
struct rate_slope rate_fit_line(const struct rate_ends *ends, enum rate_fit *fit);

#endif
