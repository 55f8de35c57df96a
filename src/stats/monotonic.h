/* Checks from samples that a clock does not go back, jump ahead or stop. */
#ifndef BARETICK_MONOTONIC_H
#define BARETICK_MONOTONIC_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct monotonic {
	uint64_t reads;
	/* Number of steps back. A difference of more than half of the counter's range counts as a step back. */
	uint64_t backward;
	uint64_t worst_ticks;  /* the largest step back */
	/* number of jumps: steps forward that are larger than the time between the two readings allows */
	uint64_t leaps;
	uint64_t worst_leap_ticks; /* the largest jump */
	uint64_t last_leap_ticks;  /* size of the latest jump, minus the ticks that the time allows */
	uint64_t stalls;       /* number of stalls: times longer than STALL_TICKS in which the clock showed one value */
};

#define MONOTONIC_RATE_SHIFT 48

struct monotonic_bounds {
	/* longest time in which the clock may show one value without a stall, in TSC ticks; if 0, stalls are not counted */
	uint64_t stall_ticks;
	uint64_t trust_ticks; /* the argument TRUST_TICKS of clock_comparable(), in TSC ticks */
	/*
	 * Largest step forward that is not a jump: LEAP_TICKS, plus LEAP_RATE / 2^MONOTONIC_RATE_SHIFT for each TSC tick.
	 * If LEAP_RATE is 0, jumps are not counted.
	 */
	uint64_t leap_rate, leap_ticks;
};

/*
 * Adds COUNT samples of one chain (sample.h).
 *
 * A stall is counted once, if the TSC readings prove that the clock showed one value for more than STALL_TICKS. If two
 * samples are not clock_comparable(), their difference counts neither as a step back nor as a jump. If time was stolen
 * between two readings, a large step is allowed and is no jump. A step that only makes up for the previous step back is
 * no jump either.
 */
void monotonic_add(struct monotonic *monotonic, const struct clock *clock,
		   const struct monotonic_bounds *bounds, const struct sample *samples, size_t count);

#endif
