/* Monotonicity, from samples: whether the clock went back, jumped ahead, or stalled. */
#ifndef BARETICK_MONOTONIC_H
#define BARETICK_MONOTONIC_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct monotonic {
	uint64_t reads;
	/* Steps back: differences of more than half the counter's range, taken as forward. */
	uint64_t backward;
	uint64_t worst_ticks;  /* the largest of them */
	uint64_t leaps;        /* steps forward that are larger than the time between the two readings allows */
	uint64_t worst_leap_ticks; /* the largest of them */
	uint64_t last_leap_ticks;  /* the last of them: the part that the time does not allow */
	uint64_t stalls;       /* times that it did not move for longer than STALL_TICKS */
};

#define MONOTONIC_RATE_SHIFT 48

struct monotonic_bounds {
	uint64_t stall_ticks; /* TSC ticks; a stall is longer. If 0, stalls are not counted. */
	uint64_t trust_ticks; /* TSC ticks, for clock_comparable() */
	/*
	 * Ticks that the clock may move for each TSC tick, times 2^MONOTONIC_RATE_SHIFT, and ticks that it may
	 * move in addition. LEAP_RATE 0: jumps are not counted.
	 */
	uint64_t leap_rate, leap_ticks;
};

/*
 * Adds one run of COUNT chained samples. A stall is counted once, if the brackets prove that the clock showed
 * one value for more than STALL_TICKS. Samples that are not comparable give no step back and no jump. Wide
 * brackets allow a large step, so time stolen between two readings is no jump. A step that only compensates for
 * the step back before it is no jump either.
 */
void monotonic_fold(struct monotonic *monotonic, const struct clock *clock,
		    const struct monotonic_bounds *bounds, const struct sample *samples, size_t count);

#endif
