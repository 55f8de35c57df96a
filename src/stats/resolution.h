/* Finds a clock's resolution from the differences between its readings. */
#ifndef BARETICK_RESOLUTION_H
#define BARETICK_RESOLUTION_H

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

struct resolution {
	uint64_t steps;          /* number of differences above 0; if 0, the fields below are not valid */
	uint64_t smallest_ticks; /* the smallest difference */
	uint64_t gcd_ticks;      /* greatest common divisor of all differences: the clock's resolution */
};

/*
 * Adds the differences between successive readings in COUNT samples of one chain (sample.h). Ignores a difference if
 * the two samples together last more than TRUST_TICKS of the TSC, because the counter may have wrapped. Also ignores
 * steps back, which monotonic.h counts: differences of more than half the counter's range.
 */
void resolution_add(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
		    const struct sample *samples, size_t count);

/* Adds the results of another read method of the same counter. */
void resolution_merge(struct resolution *resolution, const struct resolution *other);

#endif
