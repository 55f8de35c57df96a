/*
 * Fits a line through brackets. Each reading at the end of a window lies between two TSC readings and is exact
 * to less than the clock's resolution. So the line of count against TSC has to pass two corners. When the
 * bracket ended, the clock had reached the reading. When the bracket began, the clock was not beyond it. All
 * lines that satisfy this for all readings give the highest and the lowest slope. This is a linear programme
 * with two unknowns, solved in exact integers over pairs of corners.
 */
#ifndef BARETICK_RATE_FIT_H
#define BARETICK_RATE_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"
#include "consensus/rate.h"

#define RATE_CORNERS_MAX 8 /* for each side: a line with about the clock's rate touches one or two of them */
#define RATE_BETWEEN_MAX 16 /* short looks between the ends */
#define RATE_ENDS_MAX    (4 + RATE_BETWEEN_MAX)

struct rate_corner { /* relative to the end's own sample */
	int64_t tsc, ticks;
};

/*
 * The corners of an end's readings that a line can touch, out of at most RATE_SAMPLES_MAX. Leaving some out
 * only widens the result.
 */
struct rate_corners {
	uint64_t begin;     /* start of the tightest sample, which identifies this end */
	uint64_t narrowest; /* the narrowest bracket */
	size_t lower_count, upper_count;
	/* LOWER is at each bracket's end, UPPER at its begin. */
	struct rate_corner lower[RATE_CORNERS_MAX], upper[RATE_CORNERS_MAX];
};

#define RATE_SAMPLES_MAX 128 /* at one end */

/*
 * The corners of COUNT chained raw samples. TRUST_TICKS as for clock_comparable(). RISE is about the slope of
 * the lines sought, in ticks per 2^32 TSC ticks.
 */
struct rate_corners rate_corners(const struct clock *clock, uint64_t trust_ticks, uint64_t rise,
				 const struct sample *samples, size_t count);

struct rate_end {
	struct sample sample;               /* the tightest sample, unwrapped */
	const struct rate_corners *corners; /* NULL: only the sample's own corners */
};

struct rate_ends { /* ends of a window in order of time */
	struct rate_end ends[RATE_ENDS_MAX];
	size_t count;                  /* at least 2 */
	/* The clock's resolution if it moves evenly: the greatest common divisor of all its differences. */
	uint64_t even_ticks;
	uint64_t uneven_ticks;         /* The resolution if it moves unevenly: the least difference plus 2. */
	uint64_t tsc_resolution_ticks; /* see struct rate_window */
};

/* The slope. FIT says which readings it is based on. */
struct rate_slope rate_fit(const struct rate_ends *ends, enum rate_fit *fit);

#endif
