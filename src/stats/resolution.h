/* Resolution, from samples: how far the clock moves at once. */
#ifndef BARETICK_RESOLUTION_H
#define BARETICK_RESOLUTION_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct resolution {
	uint64_t steps;          /* non-zero forward differences; if 0, the fields below are not valid */
	uint64_t smallest_ticks; /* the smallest difference */
	uint64_t gcd_ticks;      /* greatest common divisor of all differences: the clock's resolution */
};

/*
 * Adds one run of COUNT chained samples. A difference of more than half the counter's range is a step back and
 * is left to monotonic.h. Samples that are not comparable (clock.h) with TRUST_TICKS are ignored.
 */
void resolution_fold(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
		     const struct sample *samples, size_t count);

/* Adds the results of another read method of the same counter. */
void resolution_join(struct resolution *resolution, const struct resolution *other);

#endif
