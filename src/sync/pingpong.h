/*
 * Measures the offset of two cores' TSCs by a ping-pong: the cores send messages to and fro through a shared cache
 * line. Each message contains the sender's TSC as a stamp. A message cannot arrive before it was sent. Therefore each
 * direction bounds the offset from one side, and both directions together give an interval. A warp is a stamp that is
 * ahead of the receiver's TSC. The number of round trips and the time are limited.
 *
 * The offset is the second core's TSC minus the first core's at the same time. A message to the second core, sent at
 * S and received at R, proves offset <= R - S. A message to the first core proves offset >= S - R.
 */
#ifndef BARETICK_PINGPONG_H
#define BARETICK_PINGPONG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/offset.h"
#include "clock/sample.h"

#define PINGPONG_LINE 64 /* size of a cache line in bytes */

enum pingpong_side { PINGPONG_FIRST, PINGPONG_SECOND };

struct pingpong_slot { /* The last message of one side. Only that side writes it. */
	uint64_t stamp;  /* TSC of the sender; it is written before NUMBER */
	uint64_t number; /* number of messages sent so far; a new number announces a new message */
} __attribute__((aligned(PINGPONG_LINE)));

#define PINGPONG_BUCKETS 256 /* size of the histogram of round trips: 4 buckets for each power of two */

/* Results of one side. Only that side writes them, and the boot core reads them when both sides are done. */
struct pingpong_record {
	uint64_t received;    /* number of received messages */
	/* smallest (own TSC on arrival - stamp) of all messages; INT64_MAX before the first message */
	int64_t least_ticks;
	uint64_t warps;       /* number of messages whose stamp was ahead of the receiver's TSC */
	/*
	 * Shortest round trip in ticks of the first side's TSC; UINT64_MAX before the first. Used only on the first
	 * side.
	 */
	uint64_t best_trip_ticks;
	uint32_t trips[PINGPONG_BUCKETS]; /* histogram of round trips; used only on the first side */
} __attribute__((aligned(PINGPONG_LINE)));

struct pingpong { /* The memory that the two cores of a pair share. The caller aligns it to a cache line. */
	/* The boot core sets the next three fields before the two sides start. */
	uint64_t trips_max;   /* number of round trips */
	uint64_t bound_ticks; /* each side gives up after this time, in ticks of its own TSC */
	uint64_t pauses_max;  /* each side also gives up after this many pauses in a row without a message */
	/* The boot core sets this to 1 to end the ping-pong early. */
	uint32_t stop __attribute__((aligned(PINGPONG_LINE)));
	struct pingpong_slot slots[2];     /* indexed by enum pingpong_side */
	struct pingpong_record records[2];
};

struct pingpong_result {
	bool played;            /* true if at least one message arrived on each side */
	/*
	 * Smallest (TSC on arrival - stamp) of the messages to the second and to the first core. Valid only if PLAYED
	 * is true.
	 */
	int64_t least_to_second, least_to_first;
	uint64_t trips;         /* number of completed round trips */
	uint64_t warps;
	/*
	 * Shortest and median round trip, both 0 if there were none. The median may be too large by up to a quarter.
	 */
	uint64_t best_trip_ticks, median_trip_ticks;
	/* The fields from here on are set by pingpong_complete_result(), which calculates them from the fields above. */
	/*
	 * If the lower bound of the offset is above the upper bound, their difference in ticks, otherwise 0. Such a
	 * contradiction proves that the offset changed during the ping-pong.
	 */
	uint64_t moved_ticks;
	/*
	 * Offset of the second core against the first. OFFSET_UNKNOWN if PLAYED is false, or if the offset changed.
	 */
	struct offset offset;
	uint64_t worst_ticks;   /* size of the largest warp in ticks */
	enum pingpong_side ahead; /* the side whose stamp was ahead in the largest warp */
};

void pingpong_begin(struct pingpong *pingpong, uint64_t trips_max, uint64_t bound_ticks);

/*
 * Runs SIDE of the ping-pong on the calling core, while another core runs the other side. Also returns if the other
 * core does not start or stops answering.
 */
void pingpong_run_side(struct pingpong *pingpong, enum pingpong_side side, sample_bracket *tsc,
		   void (*pause)(void));

/*
 * Records a message that arrived on SIDE. ARRIVAL is the receiver's TSC, and STAMP is the sender's TSC. SENT_TSC is the
 * TSC of the first side when it sent the message that this message answers. pingpong_run_side() calls this function for
 * each message.
 */
void pingpong_record_message(struct pingpong *pingpong, enum pingpong_side side, uint64_t arrival, uint64_t stamp,
			     uint64_t sent_tsc);

void pingpong_stop(struct pingpong *pingpong); /* makes both sides return soon */

/* Returns the result of a ping-pong. RESOLUTION_TICKS is the largest increment of the TSC, at least 1. */
struct pingpong_result pingpong_get_result(const struct pingpong *pingpong, uint64_t resolution_ticks);

/* Sets the last fields of RESULT, from moved_ticks on. */
void pingpong_complete_result(struct pingpong_result *result, uint64_t resolution_ticks);

#endif
