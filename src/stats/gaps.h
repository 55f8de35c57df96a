/*
 * Finds gaps: times in which the core did not run this program. The cause can be an SMI, a hypervisor or something
 * else. A loop that only reads the TSC finds all of them. Linux's hwlat tracer works in the same way.
 */
#ifndef BARETICK_GAPS_H
#define BARETICK_GAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/scale.h"
#include "clock/sample.h"

/* maximum number of gaps that are listed for one observation; further gaps are only counted */
#define GAPS_EVENTS_MAX 64

struct gap_event {
	uint64_t after_ticks, ticks; /* start of the gap after the start of the observation, and its length */
};

struct gaps { /* results of one observation, written by the observed core */
	uint64_t observed_ticks; /* time from the first to the last reading, with the gaps */
	uint64_t count, worst_ticks, total_ticks;
	/*
	 * Sum of the long gaps, each reduced by the threshold. The threshold is subtracted because a reading alone may take
	 * that long.
	 */
	uint64_t long_ticks;
	uint64_t turns, least_ticks; /* number of readings after the first one, and shortest time between two readings */
	uint64_t octave[OCTAVES]; /* number of gaps in each octave of ns: see histogram.h */
	struct tsc_steps steps;
	size_t event_count;
	struct gap_event events[GAPS_EVENTS_MAX];
};

struct gaps_plan { /* parameters of one observation */
	const struct scale *scale;
	uint64_t threshold_ticks; /* two successive readings form a gap if they differ by more than this number of ticks */
	uint64_t duration_ticks;
	uint64_t turns_max;       /* maximum number of readings, which ends the loop if the TSC stops */
	sample_bracket *tsc;
	uint64_t long_ticks;      /* a gap of this length or more is a long gap */
};

/* Observes according to PLAN, and writes the results to GAPS. */
void gaps_observe(struct gaps *gaps, const struct gaps_plan *plan);

#endif
