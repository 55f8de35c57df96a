/*
 * From what the pairs measured to one picture: an offset per core with its bound, the pairs that contradict
 * the rest, the outliers among the cores, and how all of it moved between two such pictures. Functions over
 * arrays; no core and no clock is asked. Intervals in TSC ticks.
 */
#ifndef BARETICK_OFFSETS_H
#define BARETICK_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "sync/tournament.h"

/* When a pair had the ping-pong of which its interval is, by the boot core's TSC. */
struct moment {
	uint64_t begin_tsc, end_tsc;
};

/* What one tournament found. The cores that took part are numbered without gaps, by rank; rank 0 is the boot core. */
struct offsets {
	enum tournament kind;
	size_t cores;
	struct offset *pairs; /* the caller's, tournament_pairs() of them, by tournament_index(): B against A, A < B */
	uint64_t begin_tsc, end_tsc; /* the boot core's, around all ping-pongs: an offset held at some moment between */
	/* Likewise as many: by so much a pair's own ping-pongs exclude each other, or, solved, what others say of it. */
	uint64_t *moved_ticks;
	struct moment *moments; /* likewise; where end_tsc is 0, as where it is NULL, that of the tournament */
};

void offsets_clear(struct offsets *offsets); /* all pairs OFFSET_UNKNOWN, and none moved */

/* B against A, whichever is the greater number; {0, 0} for A == B; unknown where the pair had no ping-pong. */
struct offset offsets_pair(const struct offsets *offsets, size_t a, size_t b);

/* What is proven of B against A: by their own ping-pongs alone, or in a star by those of both with the boot core. */
struct offset offsets_proven(const struct offsets *offsets, size_t a, size_t b);

void offsets_set(struct offsets *offsets, size_t a, size_t b, struct offset offset); /* B against A */

/* By how much the offset of the two is known to have moved while all of them were measured, at most; 0: it is not. */
uint64_t offsets_moved(const struct offsets *offsets, size_t a, size_t b);
void offsets_record_moved(struct offsets *offsets, size_t a, size_t b, uint64_t ticks);

struct offsets_summary {
	size_t pairs;            /* that had a ping-pong */
	size_t contradictions;   /* pairs disjoint from what the others say of them, or that moved */
	size_t contradiction_a, contradiction_b; /* the pair that contradicts by the most */
	size_t contradiction_c;                  /* where it may as well be a pair with this one that is wrong; else B */
	uint64_t contradiction_ticks;            /* by so many */
	/*
	 * The pair that is proven furthest apart; where none is, the one that may be. B against A; OFFSET_UNKNOWN
	 * where nothing is known of any pair.
	 */
	size_t worst_a, worst_b;
	struct offset worst;
	uint64_t bound_ticks;    /* no two cores are further apart than this; UINT64_MAX where not all are known */
	size_t outliers;         /* cores that are off the majority */
	bool no_majority;        /* as many say one thing as say another: nothing says which are right */
};

/*
 * Fills PLACES (one for each core) with the offset of each against the boot core: its own pair's, or where there was no
 * ping-pong, where it is if half of the ways through others at least are right; where not all of them but one agree,
 * anywhere that a way has it. Each holds at the moment at which it was measured.
 *
 * OUTLIER is whether the core is off the majority, as minority.h has it, by what is proven of pairs.
 * DISPUTED is scratch, as long. Where some are proven to differ, but none from so many, there is no_majority: then
 * those are marked that differ from the boot core, so of two cores the second, but only if they are half of all, each
 * is proven to differ from each of the other half, all in one direction, and none from any of its own half: so that
 * the group can be described. Else none is marked: worst_a and worst_b differ, and nothing says which of them is
 * right.
 *
 * A few passes over all pairs, and one more for each contradiction that a core has, up to a bound.
 */
struct offsets_summary offsets_solve(struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed);

/* The pair's interval is of a ping-pong in this time. */
void offsets_set_moment(struct offsets *offsets, size_t a, size_t b, struct moment moment);

/* Of the ping-pong of which the pair's interval is; where that is not known, the whole tournament. */
struct moment offsets_moment(const struct offsets *offsets, size_t a, size_t b);

/*
 * How fast B's TSC runs against A's, from their own ping-pongs in two pictures: [later - earlier] over the time between
 * them, whose own ends are intervals too; rounded outwards. Unknown where either offset is, or where the two overlap in
 * time. Ways through third cores are not asked: one that drifts itself would lay its drift on the two.
 */
struct offset offsets_drift(const struct offsets *earlier, const struct offsets *later, size_t a, size_t b);

/* How B's offset against A went, by three pictures. */
enum motion {
	MOTION_UNTOLD,     /* it did not move, or that is all that is known */
	MOTION_STEADY,     /* it moved from the first to the middle one and on to the last, on a straight line */
	MOTION_STEP_EARLY, /* off that line: from the first to the middle one, and later not that it is known */
	MOTION_STEP_LATE,  /* likewise, from the middle one to the last */
	MOTION_UNEVEN,     /* off that line: both times */
};

/* From the two's own ping-pongs, each at its own moment; untold where one is not known, or where these overlap. */
enum motion offsets_motion(const struct offsets *first, const struct offsets *middle, const struct offsets *last,
			   size_t a, size_t b);

#endif
