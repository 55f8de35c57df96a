/*
 * Offset analysis: turns the pairs' intervals into one offset for each core with its bound. It finds pairs that
 * contradict the rest, outliers among the cores, and movements between two analyses. Pure functions over
 * arrays. Intervals are in TSC ticks.
 */
#ifndef BARETICK_OFFSETS_H
#define BARETICK_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "sync/pair_schedule.h"

/* Time interval of the ping-pong that gave a pair's offset, by the boot core's TSC. */
struct moment {
	uint64_t begin_tsc, end_tsc;
};

/*
 * The results of one measurement pass. The cores that took part are numbered by rank without gaps; rank 0 is
 * the boot core.
 */
struct offsets {
	enum tournament kind;
	size_t cores;
	/* B against A for A < B. The caller's array of tournament_pairs() offsets, at tournament_index(). */
	struct offset *pairs;
	/* TSC of the boot core before and after all ping-pongs. Each offset held at some time in between. */
	uint64_t begin_tsc, end_tsc;
	/*
	 * As long as PAIRS. How far a pair's own ping-pongs exclude each other. After offsets_solve() also how
	 * far the pair contradicts all others.
	 */
	uint64_t *moved_ticks;
	/*
	 * As long as PAIRS, or NULL. If end_tsc is 0 or MOMENTS is NULL, the interval of the whole pass
	 * applies.
	 */
	struct moment *moments;
};

void offsets_clear(struct offsets *offsets); /* sets all pairs to OFFSET_UNKNOWN and not moved */

/* B against A in either order, and {0, 0} for A == B. OFFSET_UNKNOWN if the pair had no ping-pong. */
struct offset offsets_pair(const struct offsets *offsets, size_t a, size_t b);

/*
 * Proven offset of B against A: from their own ping-pongs only. If every core was only paired with the boot
 * core, from both cores' ping-pongs with it.
 */
struct offset offsets_proven(const struct offsets *offsets, size_t a, size_t b);

void offsets_set(struct offsets *offsets, size_t a, size_t b, struct offset offset); /* B against A */

/*
 * Largest movement of the pair's offset proven within this round of measurements, in ticks. 0 if none is
 * proven.
 */
uint64_t offsets_moved(const struct offsets *offsets, size_t a, size_t b);
void offsets_record_moved(struct offsets *offsets, size_t a, size_t b, uint64_t ticks);

struct offsets_summary {
	size_t pairs;            /* pairs that had a ping-pong */
	size_t contradictions;   /* pairs that contradict the others, or that moved */
	size_t contradiction_a, contradiction_b; /* the pair with the largest contradiction */
	/* A third core, if its pair with A or B may be the wrong one instead; otherwise equal to B. */
	size_t contradiction_c;
	uint64_t contradiction_ticks;            /* size of the largest contradiction */
	/*
	 * The pair with the largest proven distance, or if no distance is proven, the largest possible one. B
	 * against A; OFFSET_UNKNOWN if no pair is known.
	 */
	size_t worst_a, worst_b;
	struct offset worst;
	/* Upper bound of the distance of any two cores; UINT64_MAX if a pair is unknown. */
	uint64_t bound_ticks;
	size_t outliers;         /* cores that differ from the majority */
	/* Cores differ, but no group has a majority, so it is unknown which are right. */
	bool no_majority;
};

/*
 * Sets PLACES (one for each core) to the core's offset against the boot core, at the time when it was measured.
 * This is the offset of its own pair. Without a ping-pong it is what at least half of the indirect paths allow.
 * If more than one indirect path disagrees with the others, it is anything that any path allows.
 *
 * OUTLIER is set for cores that differ from the majority by proven offsets: see outliers.h. DISPUTED is scratch
 * of the same length.
 *
 * If some cores are proven to differ but there is no majority, no_majority is set. Then the cores that differ
 * from the boot core are marked as outliers, but only if they form a half that can be described. They must be
 * half of all cores. Each must differ from each core of the other half in the same direction, and none may
 * differ within its own half. With two cores this is the second one. Otherwise no core is marked: worst_a and
 * worst_b differ, and it is unknown which is right.
 *
 * Takes a few passes over all pairs, and one more for each contradiction of a core, up to a bound.
 */
struct offsets_summary offsets_solve(struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed);

/* Sets the time interval of the ping-pong that gave the pair's offset. */
void offsets_set_moment(struct offsets *offsets, size_t a, size_t b, struct moment moment);

/* Time interval of the ping-pong that gave the pair's offset; the whole pass if that is unknown. */
struct moment offsets_moment(const struct offsets *offsets, size_t a, size_t b);

/*
 * Rate of B's TSC against A's in ppb, from their own ping-pongs in two analyses: [later - earlier] divided by
 * the time in between, whose ends are intervals too. Rounded outwards. OFFSET_UNKNOWN if either offset is
 * unknown or their times overlap. Indirect paths are not used, because a third core that drifts would add its
 * own drift.
 */
struct offset offsets_drift(const struct offsets *earlier, const struct offsets *later, size_t a, size_t b);

/* How B's offset against A moved, from three analyses. */
enum motion {
	MOTION_UNTOLD,     /* it did not move, or more is not known */
	MOTION_STEADY,     /* it moved from the first to the middle to the last analysis, on a straight line */
	/* Not on a straight line: it moved before the middle analysis, and no later movement is proven. */
	MOTION_STEP_EARLY,
	MOTION_STEP_LATE,  /* not on a straight line: it moved only after the middle analysis */
	MOTION_UNEVEN,     /* not on a straight line: it moved before and after */
};

/*
 * Uses the pair's own ping-pongs, each at its own time. MOTION_UNTOLD if one is unknown, or if their times
 * overlap.
 */
enum motion offsets_motion(const struct offsets *first, const struct offsets *middle, const struct offsets *last,
			   size_t a, size_t b);

#endif
