/* The fold of samples into monotonicity: did the clock ever go back, and did it ever stand still. */
#ifndef BARETICK_MONOTONIC_H
#define BARETICK_MONOTONIC_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "sample.h"

struct monotonic {
	uint64_t reads;
	uint64_t backward;     /* steps back: of more than half the counter's range, taken forward */
	uint64_t worst_ticks;  /* the largest of them */
	uint64_t stalls;       /* times that it stood still for longer than STALL_TICKS */
	uint64_t longest_stall_tsc; /* TSC ticks that the longest standstill is proven to have lasted */
	uint64_t bracket_backward;  /* samples whose own bracket went back: the TSC's fault, not the clock's */
};

void monotonic_clear(struct monotonic *monotonic);

/*
 * Adds one run of COUNT chained samples. A standstill counts where the brackets prove that the clock showed
 * one value for more than STALL_TICKS of the TSC (0: stalls are not looked for); each counts once. Samples that
 * are no longer comparable by clock_comparable() with TRUST_TICKS give no step back.
 */
void monotonic_fold(struct monotonic *monotonic, const struct clock *clock, uint64_t stall_ticks,
		    uint64_t trust_ticks, const struct sample *samples, size_t count);

#endif
