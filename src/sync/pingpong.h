/*
 * The ping-pong of two cores: a bounded number of round trips of a message through a cache line. Each message carries
 * the sender's TSC; since it can't arrive before it left, each bounds the offset from one side, and the two sides
 * together leave an interval. A stamp that is ahead of the receiver's TSC is a warp.
 *
 * The offset is that of the second's TSC against the first's: second - first at one moment. A message to the
 * second, sent at S and received at R, says offset <= R - S; one to the first says offset >= S - R.
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

struct pingpong_slot { /* written by its own side alone; the other one only reads */
	uint64_t stamp;  /* written before number */
	uint64_t number; /* of messages sent so far */
} __attribute__((aligned(PINGPONG_LINE)));

#define PINGPONG_BUCKETS 256 /* of round trips, log-linear: 4 to each power of two */

struct pingpong_record { /* written by its own side alone, read by the boot core when both are back */
	uint64_t received;    /* messages that arrived */
	int64_t least_ticks;  /* the least of (own TSC on arrival - stamp); INT64_MAX before the first */
	uint64_t warps;       /* messages that arrived before they left */
	uint64_t best_trip_ticks; /* the shortest round trip by the first's own TSC, its side only; UINT64_MAX before it */
	uint32_t trips[PINGPONG_BUCKETS]; /* likewise: how many of each length */
} __attribute__((aligned(PINGPONG_LINE)));

struct pingpong { /* one pair's; aligned to a cache line by its owner */
	/* Written by the boot core before the two start. */
	uint64_t trips_max;   /* round trips to make */
	uint64_t bound_ticks; /* each side gives up after so much of its own TSC ... */
	uint64_t pauses_max;  /* ... or after so many pauses in a row without a message */
	/* Set by the boot core when it no longer waits. */
	uint32_t stop __attribute__((aligned(PINGPONG_LINE)));
	struct pingpong_slot slots[2];     /* by enum pingpong_side */
	struct pingpong_record records[2];
};

struct pingpong_result {
	bool played;            /* at least one message each way arrived */
	uint64_t moved_ticks;   /* by so much the two bounds contradict each other: the offset changed meanwhile; or 0 */
	struct offset offset;   /* of the second against the first; OFFSET_UNKNOWN where not played, or where it moved */
	uint64_t trips;         /* completed */
	uint64_t warps;
	uint64_t worst_ticks;   /* of a warp, at most */
	enum pingpong_side ahead; /* whose stamp was ahead in the worst warp */
	uint64_t best_trip_ticks, median_trip_ticks; /* 0 where there was none; the median within a quarter */
};

void pingpong_begin(struct pingpong *pingpong, uint64_t trips_max, uint64_t bound_ticks);

/*
 * One side's part, on its own core, at the same time as the other's. Always comes back, also when the other
 * never comes or dies on the way.
 */
void pingpong_play(struct pingpong *pingpong, enum pingpong_side side, sample_bracket *tsc,
		   void (*pause)(void));

void pingpong_stop(struct pingpong *pingpong); /* both sides end at their next look */

/* RESOLUTION_TICKS: the TSC moves by at most so much at once; at least 1. */
struct pingpong_result pingpong_result(const struct pingpong *pingpong, uint64_t resolution_ticks);

#endif
