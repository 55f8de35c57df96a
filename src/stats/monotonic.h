/* The fold of samples into monotonicity: did the clock ever go back, leap ahead, or stall. */
#ifndef BARETICK_MONOTONIC_H
#define BARETICK_MONOTONIC_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct monotonic {
	uint64_t reads;
	uint64_t backward;     /* steps back: of more than half the counter's range, taken forward */
	uint64_t worst_ticks;  /* the largest of them */
	uint64_t leaps;        /* steps forward that are larger than the time around the two readings allows */
	uint64_t worst_leap_ticks; /* the largest of them */
	uint64_t last_leap_ticks;  /* the last of them: what the time around it does not allow */
	uint64_t stalls;       /* times that it did not move for longer than STALL_TICKS */
};

#define MONOTONIC_RATE_SHIFT 48

struct monotonic_bounds {
	uint64_t stall_ticks; /* of the TSC; a stall is longer than that. 0: none is looked for */
	uint64_t trust_ticks; /* of the TSC, for clock_comparable() */
	/*
	 * Ticks of the clock that may pass in one of the TSC, times 2^MONOTONIC_RATE_SHIFT, and so many more
	 * whatever the time. LEAP_RATE 0: leaps are not looked for.
	 */
	uint64_t leap_rate, leap_ticks;
};

/*
 * Adds one run of COUNT chained samples. A stall counts where the brackets prove that the clock showed
 * one value for more than STALL_TICKS of the TSC; each counts once. Samples that are not comparable give no
 * step back and no leap. Two brackets that are wide allow much, so time stolen between two readings
 * makes no leap; nor does a reading that only makes good for the step back before it.
 */
void monotonic_fold(struct monotonic *monotonic, const struct clock *clock,
		    const struct monotonic_bounds *bounds, const struct sample *samples, size_t count);

#endif
