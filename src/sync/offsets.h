/*
 * Offset analysis: calculates each core's TSC offset, with its bounds, from the offsets of the pairs. It finds pairs
 * that contradict the others, outliers among the cores, and movements between two analyses. The functions only use
 * their arguments. Intervals are in TSC ticks.
 */
#ifndef BARETICK_OFFSETS_H
#define BARETICK_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "sync/pair_schedule.h"

/* The time of the ping-pong that gave a pair's offset: the boot core's TSC before and after it. */
struct moment {
	uint64_t begin_tsc, end_tsc;
};

/*
 * The results of one measurement pass. The cores that took part are numbered without gaps by their rank. Rank 0 is the
 * boot core.
 */
struct offsets {
	enum pair_schedule kind;
	size_t cores;
	/*
	 * Offset of B against A for A < B, at index pair_schedule_index(). The caller provides the array of
	 * pair_schedule_pairs() entries.
	 */
	struct offset *pairs;
	/* TSC of the boot core before and after all ping-pongs. Each offset was measured at some time between these two. */
	uint64_t begin_tsc, end_tsc;
	/*
	 * For each pair, the size in ticks of the contradiction between its own ping-pongs. After offsets_solve() it is the
	 * size of the contradiction with all other pairs, if this is larger.
	 */
	uint64_t *moved_ticks;
	/*
	 * For each pair, the time of its ping-pong. It is NULL if only the time of the whole pass is known. If this is so
	 * for a single pair, end_tsc of its entry is 0.
	 */
	struct moment *moments;
};

void offsets_clear(struct offsets *offsets); /* sets all pairs to OFFSET_UNKNOWN and "not moved" */

/*
 * Returns the offset of B against A in any order, and {0, 0} for A == B. OFFSET_UNKNOWN if the pair had no ping-pong.
 */
struct offset offsets_pair(const struct offsets *offsets, size_t a, size_t b);

/*
 * Returns the proven offset of B against A, from their own ping-pongs only. In a star schedule it is calculated from
 * both cores' ping-pongs with the boot core.
 */
struct offset offsets_proven(const struct offsets *offsets, size_t a, size_t b);

/* Returns by how many ticks the pair's offset certainly moved within this pass; 0 if no movement is proven. */
uint64_t offsets_moved(const struct offsets *offsets, size_t a, size_t b);
void offsets_record_moved(struct offsets *offsets, size_t a, size_t b, uint64_t ticks);

/*
 * Adds the result of a pair's ping-pong: OFFSET, B against A, or MOVED_TICKS if it moved during the ping-pong. The pair
 * keeps the narrowest of its intervals. Each interval is valid at the time of its own ping-pong. Intervals are not
 * intersected, because the TSC may have stepped in between. If two of them contradict each other, either may be right,
 * so the first stays. Returns true if it is the first result of the pair in this pass. A < B, and A is 0 in a star.
 */
bool offsets_take(struct offsets *offsets, size_t a, size_t b, struct offset offset, uint64_t moved_ticks,
		  struct moment moment);

struct offsets_summary {
	size_t pairs;            /* number of pairs that had a ping-pong */
	size_t contradictions;   /* number of pairs that contradict the other pairs, or that moved during the pass */
	size_t contradiction_a, contradiction_b; /* the pair with the largest contradiction */
	/* A third core, if its pair with A or with B may be the wrong one. If there is no such core, it is equal to B. */
	size_t contradiction_c;
	uint64_t contradiction_ticks;            /* size of the largest contradiction */
	/*
	 * The pair with the largest proven distance. If no distance is proven, the pair with the largest possible distance.
	 * WORST is the offset of B against A, or OFFSET_UNKNOWN if no pair is known.
	 */
	size_t worst_a, worst_b;
	struct offset worst;
	/* Upper bound of the distance between any two cores in ticks. UINT64_MAX if the offset of a pair is unknown. */
	uint64_t bound_ticks;
	size_t outliers;         /* number of cores that differ from the majority */
	/* True if cores differ, but no group has a majority, so that it is unknown which cores are right. */
	bool no_majority;
};

/*
 * Calculates the results of a pass.
 *
 * PLACES, with an entry for each core, gets the core's offset against the boot core at the time when it was measured.
 * It is the offset of the core's own pair with the boot core. Without a ping-pong of this pair it is the range that at
 * least half of the indirect paths allow. If more than one indirect path disagrees with the others, it is the range
 * that any path allows.
 *
 * OUTLIER is set for cores that are proven to differ from the majority: see outliers.h. DISPUTED is working memory of
 * the same length.
 *
 * If cores are proven to differ but there is no majority, no_majority is set. The cores that differ from the boot core
 * are then marked as outliers only if they are exactly half of all cores. Each must differ from each core of the other
 * half in the same direction, and none may differ within its own half. If there are two cores, this is the second one.
 * Otherwise no core is marked: worst_a and worst_b differ, and it is unknown which of them is right.
 *
 * Takes a few passes over all pairs, and one more for each contradiction of a core, up to a limit.
 */
struct offsets_summary offsets_solve(struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed);

/* Returns the time of the ping-pong that gave the pair's offset. If unknown, returns the time of the whole pass. */
struct moment offsets_moment(const struct offsets *offsets, size_t a, size_t b);

/*
 * Returns the rate of B's TSC relative to A's in ppb, from the pair's own ping-pongs in two passes: the change of the
 * offset divided by the time in between. It is rounded outwards. OFFSET_UNKNOWN if an offset is unknown or the times
 * overlap. Indirect paths are not used, because a third core that drifts would add its own drift.
 */
struct offset offsets_drift(const struct offsets *earlier, const struct offsets *later, size_t a, size_t b);

/* The kind of a pair's movement, from its offsets in three passes. */
enum motion {
	MOTION_UNKNOWN,     /* no movement is proven, or its kind is unknown */
	MOTION_STEADY,     /* the offset changed at a constant rate in both intervals between the passes */
	/* The offset changed before the middle pass, and not at a constant rate. No later change is proven. */
	MOTION_STEP_EARLY,
	MOTION_STEP_LATE,  /* the offset changed only after the middle pass, so not at a constant rate */
	MOTION_UNEVEN,     /* the offset changed before and after the middle pass, at different rates */
};

/*
 * Compares the pair's own ping-pongs of three passes, each with its own time. Returns MOTION_UNKNOWN if one of the
 * offsets is unknown, or if two of the times overlap.
 */
enum motion offsets_motion(const struct offsets *first, const struct offsets *middle, const struct offsets *last,
			   size_t a, size_t b);

#endif
