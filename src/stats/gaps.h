/*
 * Gaps: a loop that only reads the TSC sees when time was stolen from it by an SMI, a hypervisor or other
 * causes that no program sees. It works like Linux's hwlat tracer, on every core.
 */
#ifndef BARETICK_GAPS_H
#define BARETICK_GAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/scale.h"
#include "clock/sample.h"

#define GAPS_EVENTS_MAX 64 /* most events in one observation; more are only counted */

struct gap_event {
	uint64_t after_ticks, ticks; /* start since the start of the observation, and length */
};

struct gaps { /* results of one observation, written by the observing core */
	uint64_t observed_ticks; /* from the first reading to the last, gaps included */
	uint64_t count, worst_ticks, total_ticks;
	uint64_t octave[OCTAVES]; /* gaps by their octave in ns: see histogram.h */
	struct tsc_steps steps;
	size_t event_count;
	struct gap_event events[GAPS_EVENTS_MAX];
};

struct gaps_plan { /* parameters of one observation */
	const struct scale *scale;
	uint64_t threshold_ticks; /* two consecutive readings further apart than this are a gap */
	uint64_t duration_ticks;
	uint64_t turns_max;       /* limit of the loop in case the TSC stops */
	sample_bracket *tsc;
};

/* Observes according to PLAN, and writes the results to GAPS. */
void gaps_observe(struct gaps *gaps, const struct gaps_plan *plan);

#endif
