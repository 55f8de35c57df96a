/* The fold of samples into resolution: by how much the clock moves when it moves. */
#ifndef BARETICK_RESOLUTION_H
#define BARETICK_RESOLUTION_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "sample.h"

#define RESOLUTION_DIRECT 4096 /* steps below this are counted one by one */
#define RESOLUTION_LARGE  16   /* larger ones: the first so many distinct */

struct resolution {
	uint64_t steps;          /* non-zero forward steps seen; 0: nothing below counts */
	uint64_t smallest_ticks;
	uint64_t gcd_ticks;      /* greatest common divisor of all of them: the clock's resolution */
	uint64_t mode_ticks;     /* the most frequent; the smaller of two equally frequent */
	uint64_t mode_count;
	uint32_t direct[RESOLUTION_DIRECT];
	struct {
		uint64_t ticks, count;
	} large[RESOLUTION_LARGE];
};

void resolution_clear(struct resolution *resolution);

/* Adds one run of COUNT chained samples. A step of more than half the counter's range is a step back
 * and is left to monotonic.h; samples that are not comparable (clock.h) with TRUST_TICKS give no step. */
void resolution_fold(struct resolution *resolution, const struct clock *clock, uint64_t trust_ticks,
		     const struct sample *samples, size_t count);

#endif
