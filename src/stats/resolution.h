/* The fold of samples into resolution: by how much the clock moves when it moves. */
#ifndef BARETICK_RESOLUTION_H
#define BARETICK_RESOLUTION_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct resolution {
	uint64_t steps;          /* non-zero differences forward; 0: nothing below counts */
	uint64_t smallest_ticks; /* of them */
	uint64_t gcd_ticks;      /* greatest common divisor of all of them: the clock's resolution */
};

/*
 * Adds one run of COUNT chained samples. A difference of more than half the counter's range is a step back and is
 * left to monotonic.h; samples that are not comparable (clock.h) with TRUST_TICKS give none.
 */
void resolution_fold(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
		     const struct sample *samples, size_t count);

/* Adds what was found by another way of reading the same counter. */
void resolution_join(struct resolution *resolution, const struct resolution *other);

#endif
