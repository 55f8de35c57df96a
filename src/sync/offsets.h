/*
 * Offset analysis: calculates the TSC offset of each core against the boot core, as an interval in TSC ticks. Its input
 * is the offsets of pairs of cores, which ping-pongs measure. It also finds pairs whose offset contradicts the offsets
 * of other pairs, cores whose TSC differs from the majority, and offsets that change over time. The functions keep no
 * state.
 */
#ifndef BARETICK_OFFSETS_H
#define BARETICK_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "sync/pair_schedule.h"

/* The time at which a pair's offset was measured: the boot core's TSC before and after the pair's ping-pong. */
struct moment {
	uint64_t begin_tsc, end_tsc;
};

/*
 * The results of one measurement pass, in which each pair of the schedule has a ping-pong. A core's rank is its index
 * among the cores that took part. Rank 0 is the boot core.
 */
struct offsets {
	enum pair_schedule kind;
	size_t cores;
	/*
	 * The offset of core B against core A (A < B) is at index pair_schedule_index_of_pair(). The caller provides the
	 * array, which has pair_schedule_count_pairs() entries.
	 */
	struct offset *pairs;
	/* TSC of the boot core before and after the whole pass; all its ping-pongs ran between these two times */
	uint64_t begin_tsc, end_tsc;
	/*
	 * For each pair, the smallest change of its offset in ticks that explains a contradiction between its
	 * ping-pongs. It is 0 if there is no contradiction. offsets_calculate_core_offsets() raises this value if the
	 * pair contradicts the other pairs by more.
	 */
	uint64_t *moved_ticks;
	/*
	 * For each pair, the time of its ping-pong. NULL if only the time of the whole pass is known. If only one
	 * pair's time is unknown, end_tsc of its entry is 0.
	 */
	struct moment *moments;
};

void offsets_clear(struct offsets *offsets); /* sets all pairs to OFFSET_UNKNOWN and all moved_ticks to 0 */

/*
 * Returns the offset of core B against core A, in either order of ranks. Returns {0, 0} if A == B, and OFFSET_UNKNOWN
 * if the pair had no ping-pong.
 */
struct offset offsets_get_offset(const struct offsets *offsets, size_t a, size_t b);

/*
 * Returns the offset of core B against core A without using a third core. In a star schedule most pairs have no
 * ping-pong of their own. Their offset is then calculated from the ping-pongs of A and of B with the boot core.
 */
struct offset offsets_get_proven_offset(const struct offsets *offsets, size_t a, size_t b);

/* Returns the smallest possible change of the pair's offset during this pass in ticks; 0 if no change is proven. */
uint64_t offsets_get_movement_ticks(const struct offsets *offsets, size_t a, size_t b);
void offsets_record_movement(struct offsets *offsets, size_t a, size_t b, uint64_t ticks);

/*
 * Adds the result of one ping-pong between cores A and B (A < B; A is 0 in a star schedule). OFFSET is the offset of B
 * against A. If the offset changed during the ping-pong, OFFSET is unknown, and MOVED_TICKS is the size of the change.
 *
 * A pair may have several ping-pongs in a pass, and the narrowest interval is stored. The intervals are not
 * intersected, because the TSC may have stepped between two ping-pongs. If an interval contradicts the stored one, the
 * stored one stays, because either may be right. Returns true if this is the pair's first result in this pass.
 */
bool offsets_add_pingpong(struct offsets *offsets, size_t a, size_t b, struct offset offset, uint64_t moved_ticks,
		  struct moment moment);

struct offsets_summary {
	size_t pairs;            /* number of pairs that had a ping-pong */
	/* number of pairs whose offset contradicts the offsets of other pairs, or changed during the pass */
	size_t contradictions;
	size_t contradiction_a, contradiction_b; /* ranks of the pair with the largest such contradiction */
	/*
	 * Rank of a third core, if its offset against contradiction_a or contradiction_b may be the wrong one. Equal
	 * to contradiction_b if there is no such core.
	 */
	size_t contradiction_c;
	uint64_t contradiction_ticks;            /* contradiction or change of that pair's offset */
	/*
	 * Ranks of the pair whose TSCs are farthest apart: the pair with the largest proven distance, or with the
	 * largest possible distance if none is proven. WORST is the offset of worst_b against worst_a; OFFSET_UNKNOWN
	 * if all offsets are unknown.
	 */
	size_t worst_a, worst_b;
	struct offset worst;
	/*
	 * Upper bound in ticks of the distance between any two cores' TSCs. UINT64_MAX if the offset of a pair is
	 * unknown.
	 */
	uint64_t bound_ticks;
	size_t outliers;         /* number of cores whose TSC differs from the majority's */
	/* True if TSCs differ, but no group of cores is a majority. It is then unknown which cores are right. */
	bool no_majority;
};

/*
 * Calculates the summary of a pass, and each core's offset. The two arrays have an entry for each core, by rank.
 *
 * CORE_OFFSETS gets the core's offset against the boot core. If the two had a ping-pong, it is the result of this
 * ping-pong. Otherwise it follows from indirect paths: from the boot core to a third core, and from there to the core.
 * It is unknown if the paths are too few, or if more than one path contradicts the others.
 *
 * OUTLIER is set to 1 for each core whose TSC is proven to differ from the majority, and to 0 for the others: see
 * outliers.h.
 *
 * If TSCs are proven to differ but no group of cores is a majority, no_majority is set. Usually no core is then marked
 * as an outlier. The exception is two equal halves: all TSCs of one half are proven to be ahead of all TSCs of the
 * other, and no two within a half are proven to differ. The half without the boot core is then marked. With two cores,
 * this is the second core.
 *
 * The run time is a few loops over all pairs. Each contradiction, up to a limit, adds one more loop over the pairs of
 * each core.
 */
struct offsets_summary offsets_calculate_core_offsets(struct offsets *offsets, struct offset *core_offsets,
						      uint8_t *outlier);

/* Returns true if all offsets of a pass are known and consistent, and show which cores are right. */
static inline bool
offsets_are_conclusive(const struct offsets_summary *summary)
{
	return !summary->no_majority && !summary->contradictions && summary->bound_ticks != UINT64_MAX;
}

/*
 * Returns the time of the pair's ping-pong. Returns the time of the whole pass if the time of the ping-pong is
 * unknown.
 */
struct moment offsets_get_time_of_pair(const struct offsets *offsets, size_t a, size_t b);

/*
 * Returns the drift (the rate of B's TSC relative to A's) in ppb, as an interval. It is the change of the pair's
 * offset between two passes, divided by the time between them. Returns OFFSET_UNKNOWN if an offset is unknown or the
 * times overlap. Only ping-pongs between A and B are used, because a third core's own drift would change the result.
 */
struct offset offsets_drift_ppb(const struct offsets *earlier, const struct offsets *later, size_t a, size_t b);

/* How a pair's offset changed from the first to the last of three passes. */
enum motion {
	MOTION_UNKNOWN,     /* no change is proven, or it fits none of the cases below */
	MOTION_STEADY,     /* the offset changed at a constant rate */
	/* The offset changed from the first to the second pass, too much for a constant rate. No later change is proven. */
	MOTION_STEP_EARLY,
	/* The offset changed from the second to the third pass, too much for a constant rate. No earlier change is proven. */
	MOTION_STEP_LATE,
	MOTION_UNEVEN,     /* the offset changed before and after the middle pass, but at different rates */
};

/*
 * Compares the pair's offsets in three passes. Returns MOTION_UNKNOWN if one of the offsets is unknown, or if the
 * times of two ping-pongs overlap.
 */
enum motion offsets_classify_motion(const struct offsets *first, const struct offsets *middle,
				    const struct offsets *last, size_t a, size_t b);

#endif
