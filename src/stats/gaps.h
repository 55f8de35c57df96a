/*
 * Finds gaps: time intervals in which a core did not execute this program, for example because of an SMI or a
 * hypervisor. The core reads the TSC in a loop. If two successive readings differ by more than a threshold, there is
 * a gap between them. Linux's hwlat tracer works in the same way.
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
	/* time from the start of the observation to the start of the gap, and length of the gap */
	uint64_t after_ticks, ticks;
};

struct gaps { /* The results of one observation. The observed core writes them. */
	uint64_t observed_ticks; /* time from the first to the last reading, including the gaps */
	uint64_t count, worst_ticks, total_ticks;
	/*
	 * Sum of the lengths of the long gaps (see struct gaps_plan), each minus the threshold. The threshold is
	 * subtracted because even an undisturbed reading may take that long.
	 */
	uint64_t long_ticks;
	uint64_t turns, least_ticks; /* number of readings after the first one; shortest time between two readings */
	uint64_t octave[OCTAVES]; /* number of gaps in each octave of ns: see base/histogram.h */
	struct tsc_steps steps;
	size_t event_count;
	struct gap_event events[GAPS_EVENTS_MAX];
};

struct gaps_plan { /* The parameters of one observation. */
	const struct scale *scale;
	/* Threshold in ticks: there is a gap between two successive readings if they differ by more than this. */
	uint64_t threshold_ticks;
	uint64_t duration_ticks;
	uint64_t turns_max;       /* maximum number of readings; it ends the loop if the TSC stops */
	sample_bracket *tsc;
	uint64_t long_ticks;      /* a gap of at least this length is a long gap */
};

/* Observes the calling core as PLAN describes, and writes the results to GAPS. */
void gaps_observe_tsc(struct gaps *gaps, const struct gaps_plan *plan);

#endif
