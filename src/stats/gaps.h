/*
 * Gaps: a loop that does nothing but read the TSC sees when time was stolen from it, by an SMI, a hypervisor, or
 * whatever else no program sees. As Linux's hwlat tracer does, on every core.
 */
#ifndef BARETICK_GAPS_H
#define BARETICK_GAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/scale.h"
#include "clock/sample.h"

#define GAPS_EVENTS_MAX 64 /* of one observation: the first so many are kept one by one */

struct gap_event {
	uint64_t after_ticks, ticks; /* from the observation's begin to its own, and how long it was */
};

struct gaps { /* of one observation; written by the core that observes */
	uint64_t observed_ticks; /* from the first reading to the last, gaps included */
	uint64_t count, worst_ticks, total_ticks;
	uint64_t octave[OCTAVES]; /* gaps by their octave in ns: see histogram.h */
	struct tsc_steps steps;
	size_t event_count;
	struct gap_event events[GAPS_EVENTS_MAX];
};

struct gaps_plan { /* of one observation */
	const struct scale *scale;
	uint64_t threshold_ticks; /* a gap is more than that between two readings that follow each other */
	uint64_t duration_ticks;
	uint64_t turns_max;       /* of the loop: should the TSC stop */
	sample_bracket *tsc;
};

/* Observes as PLAN says, and leaves in GAPS what it saw. */
void gaps_observe(struct gaps *gaps, const struct gaps_plan *plan);

#endif
