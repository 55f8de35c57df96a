/*
 * A line through brackets. Each reading at the end of a window is known to lie between two TSC readings, and to be
 * off by less than the clock's resolution. So the line of count against TSC passes each of two corners: at the
 * bracket's end it has come to the reading, at its begin it had not gone beyond it. All lines that do so for all
 * readings give the highest and the lowest slope: a linear programme in two unknowns, solved in exact integers by
 * pairs of corners.
 */
#ifndef BARETICK_RATE_FIT_H
#define BARETICK_RATE_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"
#include "consensus/rate.h"

#define RATE_CORNERS_MAX 8 /* of each kind: a line of about the clock's rate touches one or two of them */
#define RATE_BETWEEN_MAX 16 /* short looks between the ends */
#define RATE_ENDS_MAX    (4 + RATE_BETWEEN_MAX)

struct rate_corner { /* as far from the end's own sample */
	int64_t tsc, ticks;
};

/* Those of an end's readings that a line can touch, of at most RATE_SAMPLES_MAX. To leave some out only widens. */
struct rate_corners {
	uint64_t begin;     /* of the tightest sample, by which they are found again */
	uint64_t narrowest; /* of all brackets */
	size_t lower_count, upper_count;
	struct rate_corner lower[RATE_CORNERS_MAX], upper[RATE_CORNERS_MAX]; /* bracket's end; its begin */
};

#define RATE_SAMPLES_MAX 128 /* of one end */

/*
 * The corners of COUNT chained samples as they were read. TRUST_TICKS as for clock_comparable(); a line that is asked
 * for rises by about RISE ticks in 2^32 of the TSC.
 */
struct rate_corners rate_corners(const struct clock *clock, uint64_t trust_ticks, uint64_t rise,
				 const struct sample *samples, size_t count);

struct rate_end {
	struct sample sample;               /* the tightest, its wraps undone */
	const struct rate_corners *corners; /* NULL: none but its own */
};

struct rate_ends { /* a window's, in their order */
	struct rate_end ends[RATE_ENDS_MAX];
	size_t count;                  /* 2 at least */
	uint64_t even_ticks;           /* the clock's resolution where it moves evenly: what divides all its differences */
	uint64_t uneven_ticks;         /* and where it does not: 2 more than the least of them */
	uint64_t tsc_resolution_ticks; /* see struct rate_window */
};

/* The slope, and which of the readings it is by. */
struct rate_slope rate_fit(const struct rate_ends *ends, enum rate_fit *fit);

#endif
