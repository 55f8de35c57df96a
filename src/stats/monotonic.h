/* Checks a clock's samples for steps back, jumps forward and stalls (times in which the clock does not advance). */
#ifndef BARETICK_MONOTONIC_H
#define BARETICK_MONOTONIC_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct monotonic {
	uint64_t reads;
	/* number of steps back; a difference of more than half of the counter's range counts as a step back */
	uint64_t backward;
	uint64_t worst_ticks;  /* size of the largest step back */
	/* number of jumps: steps forward that are larger than the time between the two readings allows */
	uint64_t leaps;
	/* size of the latest jump, minus the ticks that the time between the readings allows */
	uint64_t last_leap_ticks;
	/* number of stalls: the clock showed the same value for longer than the limit STALL_TICKS */
	uint64_t stalls;
};

#define MONOTONIC_RATE_SHIFT 48

struct monotonic_bounds {
	/*
	 * maximum time in TSC ticks in which the clock may show the same value without a stall; if 0, stalls are not
	 * counted
	 */
	uint64_t stall_ticks;
	/* longest time, in TSC ticks, in which two samples are comparable (see clock_comparable()); 0 means no limit */
	uint64_t trust_ticks;
	/*
	 * A step forward is a jump if it is larger than LEAP_TICKS plus LEAP_RATE / 2^MONOTONIC_RATE_SHIFT for each
	 * TSC tick between the readings. If LEAP_RATE is 0, jumps are not counted.
	 */
	uint64_t leap_rate, leap_ticks;
};

/*
 * Adds COUNT samples of one chain (see clock/sample.h).
 *
 * A stall is counted once, and only if TSC readings prove that it was longer than the limit. If two samples are not
 * clock_comparable(), their difference counts neither as a step back nor as a jump. A larger step is allowed if more
 * time passed between two readings, for example because a hypervisor preempted the core. A step forward that only
 * compensates the previous step back is no jump.
 */
void monotonic_add_samples(struct monotonic *monotonic, const struct clock *clock,
			   const struct monotonic_bounds *bounds, const struct sample *samples, size_t count);

#endif
