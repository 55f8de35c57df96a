/*
 * Gaps: a loop that does nothing but read the TSC sees when the core was taken away from it, by an SMI, a
 * hypervisor, or whatever else no program is told of. As Linux's hwlat tracer does, on every core.
 */
#ifndef BARETICK_GAPS_H
#define BARETICK_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define GAPS_EVENTS_MAX 64 /* of one watch: the first so many are kept one by one */

struct gap_event {
	uint64_t at_tsc, ticks; /* when it began, how long it was */
};

struct gaps { /* of one core; written by the core that watches */
	uint64_t watched_ticks; /* from the first reading to the last, gaps included */
	uint64_t turns;         /* of the loop */
	uint64_t count, worst_ticks, worst_at_tsc, total_ticks;
	uint64_t octave[64];    /* octave[i]: gaps of at least 2^i and less than 2^(i+1) ticks */
	uint64_t backward;      /* times that the TSC stepped back meanwhile */
	size_t event_count;
	struct gap_event events[GAPS_EVENTS_MAX];
};

void gaps_clear(struct gaps *gaps);

/*
 * Watches for DURATION_TICKS of the TSC and adds what it sees: a gap is more than THRESHOLD_TICKS between two
 * readings that follow each other. Ends after TURNS_MAX turns should the TSC stand still.
 */
void gaps_watch(struct gaps *gaps, uint64_t threshold_ticks, uint64_t duration_ticks, uint64_t turns_max,
		sample_bracket *tsc);

#endif
