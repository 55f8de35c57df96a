/*
 * Measures the offset of two cores' TSCs by a ping-pong: a bounded number of round trips of a message through a
 * cache line. Each message carries the sender's TSC. It cannot arrive before it left, so each direction bounds
 * the offset from one side, and both together give an interval. A stamp ahead of the receiver's TSC is a warp.
 *
 * The offset is the second core's TSC minus the first core's at the same time. A message to the second core,
 * sent at S and received at R, proves offset <= R - S. A message to the first core proves offset >= S - R.
 */
#ifndef BARETICK_PINGPONG_H
#define BARETICK_PINGPONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "clock/sample.h"

#define PINGPONG_LINE 64 /* bytes in a cache line */

enum pingpong_side { PINGPONG_FIRST, PINGPONG_SECOND };

struct pingpong_slot { /* written by its own side only */
	uint64_t stamp;  /* written before number */
	uint64_t number; /* messages sent so far */
} __attribute__((aligned(PINGPONG_LINE)));

#define PINGPONG_BUCKETS 256 /* buckets for round trips, log-linear: 4 for each power of two */

struct pingpong_record { /* Written by its own side only. The boot core reads it when both are back. */
	uint64_t received;    /* messages that arrived */
	int64_t least_ticks;  /* the least of (own TSC on arrival - stamp); INT64_MAX before the first */
	uint64_t warps;       /* messages that arrived before they left */
	/*
	 * Shortest round trip by the first side's own TSC; UINT64_MAX before the first. Only on the first side.
	 */
	uint64_t best_trip_ticks;
	uint32_t trips[PINGPONG_BUCKETS]; /* round trips of each length, only on the first side */
} __attribute__((aligned(PINGPONG_LINE)));

struct pingpong { /* for one pair; its owner aligns it to a cache line */
	/* Set by the boot core before the two start. */
	uint64_t trips_max;   /* round trips to make */
	uint64_t bound_ticks; /* time after which each side gives up, by its own TSC */
	uint64_t pauses_max;  /* pauses in a row without a message, after which it gives up too */
	/* Set by the boot core when it no longer waits. */
	uint32_t stop __attribute__((aligned(PINGPONG_LINE)));
	struct pingpong_slot slots[2];     /* indexed by enum pingpong_side */
	struct pingpong_record records[2];
};

struct pingpong_result {
	bool played;            /* at least one message each way arrived */
	/* How far the two bounds contradict each other because the offset changed during the ping-pong; or 0. */
	uint64_t moved_ticks;
	/* The second against the first. OFFSET_UNKNOWN if not played, or if the offset moved. */
	struct offset offset;
	uint64_t trips;         /* completed */
	uint64_t warps;
	uint64_t worst_ticks;   /* largest warp */
	enum pingpong_side ahead; /* the side whose stamp was ahead in the worst warp */
	uint64_t best_trip_ticks, median_trip_ticks; /* 0 if there was none; the median is exact to a quarter */
};

void pingpong_begin(struct pingpong *pingpong, uint64_t trips_max, uint64_t bound_ticks);

/*
 * Runs one side's part, on its own core, at the same time as the other side. Always returns, even if the other
 * side never comes or dies.
 */
void pingpong_play(struct pingpong *pingpong, enum pingpong_side side, sample_bracket *tsc,
		   void (*pause)(void));

void pingpong_stop(struct pingpong *pingpong); /* both sides end at their next check */

/* RESOLUTION_TICKS: upper bound of the TSC's step, at least 1. */
struct pingpong_result pingpong_result(const struct pingpong *pingpong, uint64_t resolution_ticks);

#endif
