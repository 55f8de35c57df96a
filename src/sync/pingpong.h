/*
 * Measures the offset of two cores' TSCs by a ping-pong: a bounded number of round trips of a message through a cache
 * line. Each message carries the sender's TSC as a stamp. A message cannot arrive before it was sent. Therefore each
 * direction bounds the offset from one side, and both directions together give an interval. A stamp ahead of the
 * receiver's TSC is a warp.
 *
 * The offset is the second core's TSC minus the first core's at the same time. A message to the second core, sent at S
 * and received at R, proves offset <= R - S. A message to the first core proves offset >= S - R.
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

struct pingpong_slot { /* written only by one side */
	uint64_t stamp;  /* TSC of the sender; written before NUMBER */
	uint64_t number; /* number of messages sent until now */
} __attribute__((aligned(PINGPONG_LINE)));

#define PINGPONG_BUCKETS 256 /* buckets for the duration of round trips: 4 for each power of two */

struct pingpong_record { /* written only by its own side; the boot core reads it when both sides are done */
	uint64_t received;    /* number of messages that arrived */
	int64_t least_ticks;  /* smallest (own TSC on arrival - stamp); INT64_MAX before the first message */
	uint64_t warps;       /* number of messages that arrived before they were sent */
	/* Shortest round trip by its own TSC, only on the first side. UINT64_MAX before the first round trip. */
	uint64_t best_trip_ticks;
	uint32_t trips[PINGPONG_BUCKETS]; /* only on the first side: number of round trips in each bucket */
} __attribute__((aligned(PINGPONG_LINE)));

struct pingpong { /* for one pair; the caller aligns it to a cache line */
	/* Set by the boot core before the two sides start. */
	uint64_t trips_max;   /* number of round trips */
	uint64_t bound_ticks; /* time after which each side gives up, in ticks of its own TSC */
	uint64_t pauses_max;  /* a side also gives up after this many pauses in a row without a message */
	/* Set to 1 by the boot core to end the ping-pong. */
	uint32_t stop __attribute__((aligned(PINGPONG_LINE)));
	struct pingpong_slot slots[2];     /* indexed by enum pingpong_side */
	struct pingpong_record records[2];
};

struct pingpong_result {
	bool played;            /* true if at least one message arrived in each direction */
	/* Smallest (TSC on arrival - stamp) of the messages to each side. Valid only if PLAYED is true. */
	int64_t least_to_second, least_to_first;
	uint64_t trips;         /* completed round trips */
	uint64_t warps;
	/* 0 without round trips; the median is exact to a quarter of its value */
	uint64_t best_trip_ticks, median_trip_ticks;
	/* pingpong_conclude() calculates the following fields from the fields above. */
	/*
	 * Size of the contradiction between the two bounds in ticks, which shows that the offset changed during the
	 * ping-pong. 0 if there is none.
	 */
	uint64_t moved_ticks;
	/*
	 * Offset of the second core against the first. OFFSET_UNKNOWN if PLAYED is false or the bounds contradict each
	 * other.
	 */
	struct offset offset;
	uint64_t worst_ticks;   /* largest warp in ticks */
	enum pingpong_side ahead; /* the side whose stamp was ahead in the worst warp */
};

void pingpong_begin(struct pingpong *pingpong, uint64_t trips_max, uint64_t bound_ticks);

/*
 * Runs one side on its own core, at the same time as the other side. It always returns, even if the other side never
 * comes or dies.
 */
void pingpong_play(struct pingpong *pingpong, enum pingpong_side side, sample_bracket *tsc,
		   void (*pause)(void));

/*
 * Records a message that arrived on SIDE. ARRIVAL is the receiver's TSC, and STAMP is the sender's. SENT_TSC is the TSC
 * of the first side when it sent the message that this one answers. pingpong_play() calls this for each message.
 */
void pingpong_record_message(struct pingpong *pingpong, enum pingpong_side side, uint64_t arrival, uint64_t stamp,
			     uint64_t sent_tsc);

void pingpong_stop(struct pingpong *pingpong); /* makes both sides end at their next check */

/* Returns the result. RESOLUTION_TICKS is an upper bound of the TSC's steps, at least 1. */
struct pingpong_result pingpong_result(const struct pingpong *pingpong, uint64_t resolution_ticks);

/* Sets the offset and the worst warp of RESULT, whose smallest differences are known. */
void pingpong_conclude(struct pingpong_result *result, uint64_t resolution_ticks);

#endif
