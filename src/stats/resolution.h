/* Finds a clock's resolution: the greatest common divisor of the differences between its readings. */
#ifndef BARETICK_RESOLUTION_H
#define BARETICK_RESOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sample.h"

/*
 * A counter that is calculated from a slower one has uneven steps. The largest step is one tick above the smallest, and
 * rounding down takes up to one more.
 */
#define RESOLUTION_UNEVEN_TICKS 2

struct resolution {
	uint64_t steps;          /* number of differences above 0; if it is 0, the fields below are not valid */
	uint64_t smallest_ticks; /* the smallest difference */
	uint64_t gcd_ticks;      /* greatest common divisor of all differences, which is the clock's resolution */
	bool repeats;            /* true if two successive readings were equal, so the reads are faster than the steps */
};

/*
 * Adds the differences between successive samples of one chain (see clock/sample.h). A difference is ignored if the two
 * samples together took more than TRUST_TICKS TSC ticks, because the counter may have wrapped. Steps back (differences
 * of more than half of the counter's range) are also ignored, because monotonic.h counts them.
 */
void resolution_add_samples(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
			    const struct sample *samples, size_t count);

/* Adds the results of another method of reading the same counter. */
void resolution_merge_other(struct resolution *resolution, const struct resolution *other);

/*
 * Returns how far a reading may be behind the counter's exact value, in ticks: one step, or 1 if no step was seen. A
 * counter that is calculated from a slower counter has uneven steps, which differ by one tick, and its values are
 * rounded down. Steps count as uneven if the smallest difference is above the greatest common divisor, although reads
 * are faster than steps.
 */
uint64_t resolution_largest_lag_ticks(const struct resolution *resolution);

#endif
